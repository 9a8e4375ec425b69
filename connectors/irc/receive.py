"""The bot's connection: opens it, logs in, joins, reads, and connects again when it ends."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import replace

import structlog

from bridge.content.cards.reader import Cards
from bridge.errors import AuthFailed, PlatformError, Unavailable
from bridge.ports.abilities.health import Health
from bridge.ports.clock import Clock
from bridge.ports.inbox import Inbox
from bridge.ports.key_values import KeyValues
from connectors.irc.batches import Batches
from connectors.irc.channel_events import ChannelEvents
from connectors.irc.history import History
from connectors.irc.inbox_writer import InboxWriter
from connectors.irc.line_handler import LineHandler
from connectors.irc.link import Link
from connectors.irc.login import Login
from connectors.irc.messages import Messages
from connectors.irc.posts import Posts
from connectors.irc.presses import Presses
from connectors.irc.puppets import Puppets
from connectors.irc.raws import RawBuilder
from connectors.irc.session import Session
from connectors.irc.settings import IrcSettings
from connectors.irc.speaker import Speaker
from connectors.irc.wire import formatted

log = structlog.get_logger()

_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 1.0, 300.0
_SENT_AWAY_S = 60.0  # after an operator or a limit ended the connection
_STABLE_S = 120.0  # a connection that lasted so long was a good one
_NICK_S = 60.0  # between two attempts to get the configured nick


class Receiver:
    """Keeps the bot connected, and passes each line on.

    `make_link` returns a new connection with the bot's identity; `changed` is called when it is
    known what the server can do. `state` is the health of the connection.
    """

    def __init__(
        self,
        settings: IrcSettings,
        session: Session,
        login: Login,
        raws: RawBuilder,
        history: History,
        puppets: Puppets,
        make_link: Callable[[], Awaitable[Link]],
        cards: Cards,
        key_values: KeyValues,
        clock: Clock,
        changed: Callable[[Speaker], None],
    ) -> None:
        self._settings = settings
        self._session = session
        self._login = login
        self._raws = raws
        self._history = history
        self._puppets = puppets
        self._make_link = make_link
        self._cards = cards
        self._key_values = key_values
        self._clock = clock
        self._changed = changed
        self.state = Health("connecting")

    async def run(self, inbox: Inbox) -> None:
        """Run until cancelled. Raises AuthFailed, which only a person can solve."""
        writer = InboxWriter(inbox, self._raws, self._clock)
        handler = self._line_handler(writer)
        failures = 0
        reaping = asyncio.create_task(self._puppets.reap(), name="irc puppets")
        try:
            while True:
                since = self._clock.monotonic()
                error = await self._connect_once(writer, handler)
                stable = self._clock.monotonic() - since >= _STABLE_S
                failures = 1 if stable else failures + 1
                pause = _pause_after(error, failures)
                log.warning("irc_lost", account=self._raws.account, error=str(error), pause=pause)
                self.state = Health(
                    "connecting", last_event_at=self.state.last_event_at, note=str(error)
                )
                await self._clock.sleep(pause)
        finally:
            reaping.cancel()
            await asyncio.gather(reaping, return_exceptions=True)
            await self._puppets.close()
            self.state = Health("stopped", last_event_at=self.state.last_event_at)

    def _line_handler(self, writer: InboxWriter) -> LineHandler:
        session, login, puppets, clock = self._session, self._login, self._puppets, self._clock
        presses = Presses(writer, self._cards, self._key_values)
        messages = Messages(session, writer, presses, puppets, login, clock)
        events = ChannelEvents(session, writer, puppets, login, clock)
        return LineHandler(
            self._raws.account, session, login, messages, events, self._history, clock,
            self._changed,
        )  # fmt: skip

    async def _connect_once(self, writer: InboxWriter, handler: LineHandler) -> PlatformError:
        """Connect, and return the error that ended the connection. Raises AuthFailed."""
        try:
            await self._connection(writer, handler)
        except AuthFailed:
            raise
        except PlatformError as error:
            return error
        return Unavailable("The server closed the connection")

    async def _connection(self, writer: InboxWriter, handler: LineHandler) -> None:
        link = await self._make_link()
        await link.open()
        speaker = Speaker(
            link, Posts(), max_lines=self._settings.max_lines, quiet=self._settings.quiet_names
        )
        self._session.support = link.state.support
        beginning = asyncio.create_task(self._begin(speaker, writer), name="irc beginning")
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._read(speaker, handler, beginning))
                tasks.create_task(_failing(beginning))
        except* PlatformError as errors:
            raise _first(errors) from None
        finally:
            beginning.cancel()
            await asyncio.gather(beginning, return_exceptions=True)
            await handler.connection_lost()
            self._end(speaker)
            await link.close("stopped")

    def _end(self, speaker: Speaker) -> None:
        closing = speaker.link.closing
        if closing is not None and closing.code == "flood":
            speaker.link.slow_down()
        reason = "The connection ended"
        speaker.posts.lost(reason)
        self._session.lost(Unavailable(reason, code="lost"))
        self._history.lost(Unavailable(reason, code="lost"))

    async def _begin(self, speaker: Speaker, writer: InboxWriter) -> None:
        """Log in, join, and tell the router that it may have missed events; then ask for the
        configured nick now and then."""
        link = speaker.link
        if mode := link.state.support.bot_mode:
            link.put([formatted("MODE", link.state.nick, f"+{mode}")])
        await self._login.identify(speaker)
        self._session.speaker = speaker
        self._changed(speaker)
        if self._session.channels:
            self._session.join(self._session.channels)
            await self._all_joined(link)
        now = self._clock.time()
        self.state = Health("connected", now, now, self._session.note)
        log.info("irc_session_began", account=self._raws.account, nick=link.state.nick)
        self._session.began = True
        writer.session_began()
        while True:
            await self._clock.sleep(_NICK_S)
            self._login.reclaim_nick(speaker)

    async def _all_joined(self, link: Link) -> None:
        """Wait until the server has answered each JOIN, 5 seconds at most: the bot receives the
        events of a channel only from its JOIN on."""
        fold = link.state.support.fold
        for _ in range(100):
            if all(
                link.state.is_joined(name) or fold(name) in self._session.problems
                for name in self._session.channels
            ):
                return
            await self._clock.sleep(0.05)

    async def _read(
        self, speaker: Speaker, handler: LineHandler, beginning: asyncio.Task[None]
    ) -> None:
        batches = Batches()
        async for line in speaker.link.lines():
            if self.state.state == "connected":
                self.state = replace(
                    self.state, last_event_at=self._clock.time(), note=self._session.note
                )
            if (item := batches.feed(line)) is not None:
                await handler.receive(speaker, item)
        beginning.cancel()
        raise speaker.link.closing or Unavailable("The server closed the connection")


def _pause_after(error: PlatformError, failures: int) -> float:
    """Return the seconds until the next connection, a quarter of them at random."""
    pause = min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2 ** min(failures - 1, 10))
    pause = max(pause, _SENT_AWAY_S) if _was_sent_away(error) else pause
    return pause * (1 + random.random() / 4)  # noqa: S311 - spreads reconnections, no secret


def _was_sent_away(error: PlatformError) -> bool:
    """Whether an operator, or a rule of the server, does not want the bot back at once."""
    text = str(error).lower()
    return any(sign in text for sign in ("killed", "k-line", "banned", "too fast", "throttled"))


async def _failing(beginning: asyncio.Task[None]) -> None:
    """Raise what the beginning raises; its end is no failure."""
    try:
        await beginning
    except asyncio.CancelledError:
        if not beginning.cancelled():
            raise


def _first(errors: BaseExceptionGroup[PlatformError]) -> PlatformError:
    """Return the error that a person must solve, else the first."""
    leaves: list[PlatformError] = []
    stack: list[BaseException] = [errors]
    while stack:
        error = stack.pop()
        if isinstance(error, BaseExceptionGroup):
            stack += error.exceptions
        elif isinstance(error, PlatformError):
            leaves.append(error)
    fatal = [leaf for leaf in leaves if isinstance(leaf, AuthFailed)]
    return (fatal or leaves)[0]
