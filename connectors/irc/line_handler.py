"""Each line and batch of the bot's connection -> the class that takes it."""

from __future__ import annotations

from collections.abc import Callable

import structlog

from bridge.model import AccountId
from bridge.ports.clock import Clock
from connectors.irc import caps, ids
from connectors.irc.batches import Batch
from connectors.irc.channel_events import EVENTS, ChannelEvents
from connectors.irc.history import History
from connectors.irc.login import Login
from connectors.irc.messages import Messages
from connectors.irc.raws import MESSAGES, time_of
from connectors.irc.session import Session
from connectors.irc.speaker import Speaker
from connectors.irc.wire import Line, formatted

log = structlog.get_logger()


class LineHandler:
    """`changed` is called when the server offers or withdraws capabilities."""

    def __init__(
        self,
        account: AccountId,
        session: Session,
        login: Login,
        messages: Messages,
        events: ChannelEvents,
        history: History,
        clock: Clock,
        changed: Callable[[Speaker], None],
    ) -> None:
        self._account = account
        self._session = session
        self._login = login
        self._messages = messages
        self._events = events
        self._history = history
        self._clock = clock
        self._changed = changed

    async def receive(self, speaker: Speaker, item: Line | Batch) -> None:
        """Take a line, or a whole batch."""
        if isinstance(item, Batch):
            await self._batch(speaker, item, item.start.tags.get("label", ""))
        else:
            await self._line(speaker, item, item.tags.get("label", ""))

    async def connection_lost(self) -> None:
        """The connection has ended."""
        await self._events.connection_lost()

    async def _batch(self, speaker: Speaker, batch: Batch, label: str) -> None:
        match batch.kind:
            case "chathistory" | "draft/chathistory":
                self._history.answered(batch, label)
            case "draft/multiline":
                if (merged := batch.merged()) is not None:
                    await self._line(speaker, merged, label)
            case "labeled-response":
                for item in batch.items:
                    if isinstance(item, Batch):
                        await self._batch(speaker, item, label)
                    else:
                        await self._line(speaker, item, label)
                self._acknowledge(speaker, label)
            case _:
                for line in batch.lines():
                    await self._line(speaker, line, label)

    async def _line(self, speaker: Speaker, line: Line, label: str) -> None:
        state = speaker.link.state
        channels = state.channels_of(line.nick) if line.command in ("QUIT", "NICK") else []
        own = state.is_us(line.nick)
        if channels:
            line = line.with_account(state.account_of(line.nick))
        state.observe(line)
        self._session.support = state.support
        self._login.receive(line)
        if line.command in MESSAGES:
            await self._messages.receive(speaker, line, label)
        elif line.command in EVENTS:
            if own and label and line.command in ("TAGMSG", "REDACT"):
                speaker.posts.acknowledged(label, lambda _: "")
            await self._events.receive(speaker, line, channels, own=own)
        else:
            self._reply(speaker, line, label)

    def _reply(self, speaker: Speaker, line: Line, label: str) -> None:
        """Take the answer to a command of ours."""
        state = speaker.link.state
        if line.command == "FAIL" and line.param(0).upper() == "CHATHISTORY":
            self._history.refused(line)
        elif line.command == "PONG":
            at = time_of(line, self._clock.time())
            speaker.posts.fenced(
                line.last, lambda waiting: ids.made_id(at, state.nick, waiting.text)
            )
        elif line.command == "ACK":
            self._acknowledge(speaker, label)
        elif self._session.join_refused(line):
            log.warning("irc_join_refused", account=self._account, why=line.last)
        elif not speaker.posts.refused(line, label, state.support.fold) and line.command == "CAP":
            if line.param(1).upper() == "NEW":
                _request_new_capabilities(speaker)
            self._changed(speaker)

    def _acknowledge(self, speaker: Speaker, label: str) -> None:
        """Settle the call with this label: the server accepted it, and sends no echo."""
        nick, at = speaker.link.state.nick, int(self._clock.time() * 1000)
        speaker.posts.acknowledged(label, lambda waiting: ids.made_id(at, nick, waiting.text))


def _request_new_capabilities(speaker: Speaker) -> None:
    state = speaker.link.state
    requests = caps.requests(state.offered.keys() - state.enabled.keys(), without=("sasl",))
    speaker.link.put([formatted("CAP", "REQ", request) for request in requests])
