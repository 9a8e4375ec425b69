"""The bot's connection, again and again: lines -> inbox rows, and answers to calls under way."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import structlog

from bridge.content.cards.reader import Cards
from bridge.errors import AuthFailed, BridgeError, PlatformError, Unavailable
from bridge.model import ChannelRef, Raw
from bridge.ports.abilities.health import Health
from bridge.ports.clock import Clock
from bridge.ports.inbox import Inbox
from bridge.ports.key_values import KeyValues
from connectors.irc import caps, ids
from connectors.irc.actions import read_press, token_and_values
from connectors.irc.batches import Batch, Batches
from connectors.irc.decode import NETJOIN, NETSPLIT, PRESS
from connectors.irc.history import History
from connectors.irc.key_values import cards_in
from connectors.irc.link import Link
from connectors.irc.posts import Posts
from connectors.irc.presence import GATHER_S, Splits, is_split
from connectors.irc.puppets import Puppets
from connectors.irc.raws import MESSAGES, Order, Sent, Teller, nicks_in, time_of
from connectors.irc.session import Session
from connectors.irc.settings import IrcSettings
from connectors.irc.speaker import Speaker
from connectors.irc.wire import Line, formatted

log = structlog.get_logger()

_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 1.0, 300.0
_SENT_AWAY_S = 60.0  # after an operator or a limit ended the connection
_STEADY_S = 120.0  # a connection that stood so long was a good one
_REJOIN_S, _MOST_REJOINS = 30.0, 3
_NICK_S = 60.0  # between two attempts to have our nick back
_NICKSERV_S = 20.0
_CTCP_S = 10.0  # between two answers to CTCP
_EVENTS = ("JOIN", "PART", "QUIT", "KICK", "NICK", "TOPIC", "MODE", "TAGMSG", "REDACT")
_GRANTED = ("identified", "recognized", "recognised", "logged in", "accepted")
_DENIED = ("invalid", "incorrect", "denied", "isn't registered", "not registered")


class Receiver:
    """Connects, joins, and hands over what is heard. `make_link` gives a new connection with the
    bot's identity; `changed` is called when what the server can do is known."""

    def __init__(
        self,
        settings: IrcSettings,
        session: Session,
        teller: Teller,
        history: History,
        puppets: Puppets,
        make_link: Callable[[], Awaitable[Link]],
        nickserv_password: Callable[[], Awaitable[str]],
        cards: Cards,
        key_values: KeyValues,
        clock: Clock,
        changed: Callable[[Speaker], None],
    ) -> None:
        self._settings = settings
        self._session = session
        self._teller = teller
        self._history = history
        self._puppets = puppets
        self._make_link = make_link
        self._nickserv_password = nickserv_password
        self._cards = cards
        self._key_values = key_values
        self._clock = clock
        self._changed = changed
        self._orders: dict[ChannelRef, Order] = {}
        self._splits = Splits()
        self._kicks: dict[str, int] = {}
        self._ctcp_at = -_CTCP_S
        self._tasks: set[asyncio.Task[None]] = set()
        self._identified: asyncio.Future[None] | None = None
        self.state = Health("connecting")

    # --- connections ------------------------------------------------------------------------

    async def run(self, inbox: Inbox) -> None:
        """Until cancelled. Raises AuthFailed where only a person can help."""
        failures = 0
        reaping = asyncio.create_task(self._puppets.reap(), name="irc puppets")
        try:
            while True:
                since = self._clock.monotonic()
                try:
                    await self._connection(inbox)
                    error: PlatformError = Unavailable("The server closed the connection")
                except AuthFailed:
                    raise
                except PlatformError as found:
                    error = found
                stood = self._clock.monotonic() - since >= _STEADY_S
                failures = 1 if stood else failures + 1
                pause = min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2 ** min(failures - 1, 10))
                pause = max(pause, _SENT_AWAY_S) if _was_sent_away(error) else pause
                pause *= 1 + random.random() / 4  # noqa: S311 - spreads reconnections, no secret
                log.warning("irc_lost", account=self._teller.account, error=str(error), pause=pause)
                self.state = Health(
                    "connecting", last_event_at=self.state.last_event_at, note=str(error)
                )
                await self._clock.sleep(pause)
        finally:
            reaping.cancel()
            await asyncio.gather(reaping, return_exceptions=True)
            await self._puppets.close()
            self.state = Health("stopped", last_event_at=self.state.last_event_at)

    async def _connection(self, inbox: Inbox) -> None:
        link = await self._make_link()
        await link.open()
        speaker = Speaker(
            link, Posts(), max_lines=self._settings.max_lines, quiet=self._settings.quiet_names
        )
        self._session.support = link.state.support
        beginning = asyncio.create_task(self._begin(speaker, inbox), name="irc beginning")
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._read(speaker, inbox, beginning))
                tasks.create_task(_failing(beginning))
        except* PlatformError as errors:
            raise _first(errors) from None
        finally:
            beginning.cancel()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(beginning, *self._tasks, return_exceptions=True)
            self._tasks.clear()
            self._end(speaker)
            await link.close("stopped")

    def _end(self, speaker: Speaker) -> None:
        closing = speaker.link.closing
        if closing is not None and closing.code == "flood":
            speaker.link.slow_down()
        why = "The connection ended"
        speaker.posts.lost(why)
        self._session.lost(Unavailable(why, code="lost"))
        self._history.lost(Unavailable(why, code="lost"))

    async def _begin(self, speaker: Speaker, inbox: Inbox) -> None:
        """After the welcome: identify, join, and tell that events may have been missed."""
        link = speaker.link
        if mode := link.state.support.bot_mode:
            link.put([formatted("MODE", link.state.nick, f"+{mode}")])
        await self._identify(speaker)
        self._session.speaker = speaker
        self._changed(speaker)
        if self._session.wanted:
            self._session.join(self._session.wanted)
            await self._joined_all(link)
        now = self._clock.time()
        self.state = Health("connected", now, now, self._note())
        log.info("irc_session_began", account=self._teller.account, nick=link.state.nick)
        inbox.session_began(self._teller.account)
        while True:
            await self._clock.sleep(_NICK_S)
            self._regain(speaker)

    async def _joined_all(self, link: Link) -> None:
        """Until each channel has answered, or for some seconds: events of a channel count only
        from its JOIN on."""
        fold = link.state.support.fold
        for _ in range(100):
            open_ones = [
                name for name in self._session.wanted
                if not link.state.is_joined(name) and fold(name) not in self._session.problems
            ]  # fmt: skip
            if not open_ones:
                return
            await self._clock.sleep(0.05)

    # --- identity ---------------------------------------------------------------------------

    async def _identify(self, speaker: Speaker) -> None:
        """By NickServ where there is no SASL; without its word nothing is joined."""
        password = await self._nickserv_password()
        if not password or speaker.link.logged_in:
            return
        self._identified = asyncio.get_running_loop().create_future()
        words = f"IDENTIFY {self._settings.account_name} {password}"
        speaker.link.put([formatted("PRIVMSG", self._settings.nickserv, words)])
        try:
            async with asyncio.timeout(_NICKSERV_S):
                await self._identified
        except TimeoutError:
            raise Unavailable(
                f"{self._settings.nickserv} does not answer; nothing is joined"
            ) from None
        finally:
            self._identified = None
        speaker.link.logged_in = True
        self._regain(speaker)

    def _regain(self, speaker: Speaker) -> None:
        """Have our own nick back where somebody else had it."""
        state = speaker.link.state
        if state.is_us(self._settings.nick):
            return
        lines = [formatted("NICK", self._settings.nick)]
        if speaker.link.logged_in:
            words = f"REGAIN {self._settings.nick}"
            lines.insert(0, formatted("PRIVMSG", self._settings.nickserv, words))
        speaker.link.put(lines)

    def _hear_services(self, line: Line, nick: str) -> None:
        waiting = self._identified
        if waiting is None or waiting.done():
            return
        granted = line.command == "900" or (line.command == "MODE" and "r" in line.last)
        words = line.last.lower() if nick.lower() == self._settings.nickserv.lower() else ""
        if granted or any(sign in words for sign in _GRANTED):
            waiting.set_result(None)
        elif any(sign in words for sign in _DENIED):
            waiting.set_exception(
                AuthFailed(f"{self._settings.nickserv} refuses the bot's password: {line.last}")
            )

    # --- lines ------------------------------------------------------------------------------

    async def _read(self, speaker: Speaker, inbox: Inbox, beginning: asyncio.Task[None]) -> None:
        batches = Batches()
        async for line in speaker.link.lines():
            item = batches.feed(line)
            if isinstance(item, Line):
                await self._hear(speaker, inbox, item, item.tags.get("label", ""))
            elif isinstance(item, Batch):
                await self._hear_batch(speaker, inbox, item, item.start.tags.get("label", ""))
        beginning.cancel()
        raise speaker.link.closing or Unavailable("The server closed the connection")

    async def _hear_batch(self, speaker: Speaker, inbox: Inbox, batch: Batch, label: str) -> None:
        match batch.kind:
            case "chathistory" | "draft/chathistory":
                self._history.answered(batch, label)
            case "draft/multiline":
                if (merged := batch.merged()) is not None:
                    await self._hear(speaker, inbox, merged, label)
            case "labeled-response":
                for item in batch.items:
                    if isinstance(item, Batch):
                        await self._hear_batch(speaker, inbox, item, label)
                    else:
                        await self._hear(speaker, inbox, item, label)
                self._acknowledged(speaker, label)
            case _:
                for line in batch.lines():
                    await self._hear(speaker, inbox, line, label)

    async def _hear(self, speaker: Speaker, inbox: Inbox, line: Line, label: str) -> None:
        state = speaker.link.state
        was_in = state.channels_of(line.nick) if line.command in ("QUIT", "NICK") else []
        own_before = state.is_us(line.nick)
        line = _with_account(line, state.account_of(line.nick)) if was_in else line
        state.observe(line)
        self._session.support = state.support
        now = self._clock.time()
        if self.state.state == "connected":
            self.state = Health("connected", self.state.connected_since, now, self._note())
        self._hear_services(line, line.nick)
        if line.command in MESSAGES:
            await self._message(speaker, inbox, line, label)
        elif line.command in _EVENTS:
            if own_before:
                self._answered(speaker, line, label)
            await self._event(speaker, inbox, line, was_in, own=own_before)
        else:
            self._reply(speaker, line, label)

    def _reply(self, speaker: Speaker, line: Line, label: str) -> None:
        fold = speaker.link.state.support.fold
        if line.command == "FAIL" and line.param(0).upper() == "CHATHISTORY":
            self._history.refused(line)
        elif line.command == "PONG":
            nick = speaker.link.state.nick
            at = time_of(line, self._clock.time())
            speaker.posts.fenced(line.last, lambda waiting: ids.made_id(at, nick, waiting.text))
        elif line.command == "ACK":
            self._acknowledged(speaker, label)
        elif self._session.join_refused(line):
            log.warning("irc_join_refused", account=self._teller.account, why=line.last)
        elif not speaker.posts.refused(line, label, fold):
            if line.command == "CAP" and line.param(1).upper() == "NEW":
                self._ask_for_new(speaker)
            if line.command == "CAP":
                self._changed(speaker)

    @staticmethod
    def _ask_for_new(speaker: Speaker) -> None:
        state = speaker.link.state
        requests = caps.requests(state.offered.keys() - state.enabled.keys(), without=("sasl",))
        speaker.link.put([formatted("CAP", "REQ", request) for request in requests])

    @staticmethod
    def _answered(speaker: Speaker, line: Line, label: str) -> None:
        """Our own redaction or reaction came back."""
        if label and line.command in ("TAGMSG", "REDACT"):
            speaker.posts.acknowledged(label, lambda _: "")

    def _acknowledged(self, speaker: Speaker, label: str) -> None:
        """The server took a labelled command and says no more of it."""
        nick, at = speaker.link.state.nick, int(self._clock.time() * 1000)
        speaker.posts.acknowledged(label, lambda waiting: ids.made_id(at, nick, waiting.text))

    # --- messages ---------------------------------------------------------------------------

    async def _message(self, speaker: Speaker, inbox: Inbox, line: Line, label: str) -> None:
        state = speaker.link.state
        if line.is_from_server:
            return  # notices of the server are for its users, not for rooms
        target = state.support.without_status(line.param(0))
        own = state.is_us(line.nick)
        if own or self._puppets.is_ours(line.nick):
            await self._own(speaker, inbox, line, label, by_bot=own)
            return
        line = _with_account(line, state.account_of(line.nick))
        in_channel = state.support.is_channel(target)
        if not in_channel and line.nick.lower() == self._settings.nickserv.lower():
            return
        if line.last.startswith("\x01") and not line.last.upper().startswith("\x01ACTION "):
            self._answer_ctcp(speaker, line)
            return
        channel = self._session.ref(target) if in_channel else self._direct(line)
        raw = await self._press(inbox, line, channel)
        raw = raw or self._teller.message(
            line, channel, self._order(channel),
            now=self._clock.time(), us=state.nick, people=self._people(speaker, line, target),
        )  # fmt: skip
        await self._keep(inbox, raw)

    async def _own(
        self, speaker: Speaker, inbox: Inbox, line: Line, label: str, *, by_bot: bool
    ) -> None:
        """The echo of a line of ours settles the call that sent it."""
        waiting = (
            speaker.posts.echoed(line, label, speaker.link.state.support.fold) if by_bot else None
        )
        if waiting is None:
            return
        sent, channel, now = waiting.sent, waiting.call.channel, self._clock.time()
        raw = self._teller.message(
            line, channel, self._order(channel), now=now, us=speaker.link.state.nick,
            sent=sent or Sent(None, waiting.call.slot),
        )  # fmt: skip
        native_id = raw.echo.receipt.native_id if raw.echo and raw.echo.receipt else ""
        if sent is not None:
            await self._keep(inbox, raw)
        waiting.settle(native_id)

    def _direct(self, line: Line) -> ChannelRef:
        account = line.tags.get("account", "")
        return ids.direct_ref(self._session.network, line.nick, account)

    def _people(self, speaker: Speaker, line: Line, target: str) -> Mapping[str, str]:
        state = speaker.link.state
        members = {**state.members(target), state.support.fold(state.nick): state.nick}
        return {
            nick: ids.native_actor(nick, state.account_of(nick))
            for nick in nicks_in(line.last, members, state.support.fold)
        }

    def _answer_ctcp(self, speaker: Speaker, line: Line) -> None:
        """VERSION and PING alone, by NOTICE, and seldom: requests may come in floods."""
        now = self._clock.monotonic()
        if line.command != "PRIVMSG" or now - self._ctcp_at < _CTCP_S:
            return
        command, _, words = line.last.strip("\x01").partition(" ")
        answers = {"VERSION": "VERSION uacs-bridge", "PING": f"PING {words[:64]}"}
        if answer := answers.get(command.upper()):
            self._ctcp_at = now
            speaker.link.put([formatted("NOTICE", line.nick, f"\x01{answer}\x01")])

    # --- presses ----------------------------------------------------------------------------

    async def _press(self, inbox: Inbox, line: Line, channel: ChannelRef) -> Raw | None:
        """`!1` as an answer to the newest card here, or to the one that it names; None where no
        card is meant, so that it is a message like any other."""
        if line.command != "PRIVMSG" or not line.last.lstrip().startswith("!"):
            return None
        try:
            cards = await cards_in(self._key_values, channel)
            press = read_press(line.last, [code for code, _ in cards])
            if press is None or not cards:
                return None
            answered = line.tags.get("+reply") or line.tags.get("+draft/reply")
            named = [card for code, card in cards if press.code in ("", code)]
            target = answered if answered in [card for _, card in cards] else named[-1]
            message = await inbox.message_of(channel, str(target))
        except BridgeError as error:
            log.warning("press_unreadable", account=self._teller.account, error=str(error))
            return None
        if message is None or self._cards.live_tokens(message) is None:
            return None
        card, _ = self._cards.read(message)
        action = token_and_values(card, press, self._cards.tokens(message))
        if action is None:
            return None
        token, values = action
        data = {"token": token, "target": target, "values": values}
        account = self._account(line)
        return self._teller.event(
            line, channel, self._order(channel), now=self._clock.time(), kind=PRESS, press=data,
            account=account,
        )  # fmt: skip

    # --- everything else --------------------------------------------------------------------

    async def _event(
        self, speaker: Speaker, inbox: Inbox, line: Line, was_in: list[str], *, own: bool
    ) -> None:
        state, now = speaker.link.state, self._clock.time()
        if self._puppets.is_ours(line.nick):
            return
        match line.command:
            case "QUIT" | "NICK":
                if line.command == "QUIT" and not own and is_split(line.last):
                    self._splits.quit(was_in, state.support.fold(line.nick), line.last, now)
                    self._tell_splits_soon(inbox, speaker)
                    return
                for folded in was_in:
                    await self._tell(inbox, line, folded, own=own)
                if not own and state.support.fold(line.nick) == state.support.fold(
                    self._settings.nick
                ):
                    self._regain(speaker)
            case "JOIN":
                await self._join(speaker, inbox, line, own=own)
            case "KICK" if state.is_us(line.param(1)):
                await self._tell(inbox, line, line.param(0), own=True)
                self._rejoin_later(speaker, inbox, line.param(0))
            case "KICK":
                account = state.account_of(line.param(1))
                await self._tell(inbox, line, line.param(0), own=own, account=account)
            case "TAGMSG":
                await self._tags(speaker, inbox, line, own=own)
            case "MODE" if not state.support.is_channel(line.param(0)):
                return
            case _:
                await self._tell(inbox, line, line.param(0), own=own)

    async def _tell(
        self, inbox: Inbox, line: Line, target: str, *, own: bool, account: str | None = None,
        **more: Any,
    ) -> None:  # fmt: skip
        channel = self._session.ref(target)
        raw = self._teller.event(
            line, channel, self._order(channel), now=self._clock.time(), own=own,
            account=self._account(line) if account is None else account, **more,
        )  # fmt: skip
        await self._keep(inbox, raw)

    def _account(self, line: Line) -> str:
        speaker = self._session.speaker
        return speaker.link.state.account_of(line.nick) if speaker else ""

    async def _join(self, speaker: Speaker, inbox: Inbox, line: Line, *, own: bool) -> None:
        name, fold = line.param(0), speaker.link.state.support.fold
        if own:
            self._session.joined(name)
            if self.state.connected_since is not None and speaker is self._session.speaker:
                inbox.session_began(self._teller.account, self._session.ref(name))
            return
        if self._splits.joined(fold(name), fold(line.nick), self._clock.time()):
            self._tell_splits_soon(inbox, speaker)
            return
        await self._tell(inbox, line, name, own=False)

    async def _tags(self, speaker: Speaker, inbox: Inbox, line: Line, *, own: bool) -> None:
        if own:
            return
        state = speaker.link.state
        target = state.support.without_status(line.param(0))
        line = _with_account(line, state.account_of(line.nick))
        in_channel = state.support.is_channel(target)
        channel = self._session.ref(target) if in_channel else self._direct(line)
        typing = "+typing" in line.tags and "+draft/react" not in line.tags
        raw = self._teller.event(
            line, channel, self._order(channel), now=self._clock.time(), volatile=typing,
            account=state.account_of(line.nick),
        )  # fmt: skip
        await self._keep(inbox, raw)

    def _rejoin_later(self, speaker: Speaker, inbox: Inbox, name: str) -> None:
        folded = speaker.link.state.support.fold(name)
        self._kicks[folded] = self._kicks.get(folded, 0) + 1
        if self._kicks[folded] > _MOST_REJOINS:
            self._session.problems[folded] = f"{name}: the bot was kicked again and again"
            return

        async def rejoin() -> None:
            await self._clock.sleep(_REJOIN_S)
            speaker.link.put([formatted("JOIN", name)])

        self._spawn(rejoin())

    def _tell_splits_soon(self, inbox: Inbox, speaker: Speaker) -> None:
        if any(task.get_name() == "irc splits" for task in self._tasks):
            return

        async def tell() -> None:
            await self._clock.sleep(GATHER_S)
            for kind, taken in (
                (NETSPLIT, self._splits.take_left()), (NETJOIN, self._splits.take_back()),
            ):  # fmt: skip
                for folded, gathered in taken:
                    line = Line("QUIT", (gathered.servers,), ids.SERVER)
                    await self._tell(
                        inbox, line, folded, own=False, kind=kind, nicks=list(gathered.nicks),
                        account="*",
                    )  # fmt: skip

        self._spawn(tell(), "irc splits")

    def _spawn(self, work: Any, name: str = "irc later") -> None:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # --- keeping ----------------------------------------------------------------------------

    def _order(self, channel: ChannelRef) -> Order:
        return self._orders.setdefault(channel, Order())

    async def _keep(self, inbox: Inbox, raw: Raw) -> None:
        """There is nobody to send it again: hold it until the inbox takes it."""
        pause = 0.1
        while True:
            try:
                await inbox.accept(raw)
            except Exception as error:  # noqa: BLE001 - supervising: whatever is wrong there
                log.error("inbox_write_failed", account=raw.account, error=str(error))  # noqa: TRY400
                await self._clock.sleep(pause)
                pause = min(pause * 2, 10.0)
            else:
                return

    def _note(self) -> str:
        return "; ".join(sorted(self._session.problems.values()))[:500]


def _was_sent_away(error: PlatformError) -> bool:
    """Whether somebody, or a rule of the server, does not want us back at once."""
    words = str(error).lower()
    return any(sign in words for sign in ("killed", "k-line", "banned", "too fast", "throttled"))


def _with_account(line: Line, account: str) -> Line:
    if not account or "account" in line.tags:
        return line
    return Line(line.command, line.params, line.source, {**line.tags, "account": account})


async def _failing(beginning: asyncio.Task[None]) -> None:
    """Raises what the beginning raises; its end is no news."""
    try:
        await beginning
    except asyncio.CancelledError:
        if not beginning.cancelled():
            raise


def _first(errors: BaseExceptionGroup[PlatformError]) -> PlatformError:
    """The one that a person must mend, else the first."""
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
