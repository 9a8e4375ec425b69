"""Reads messages back by CHATHISTORY, with the ids that they have live (IRCv3 chathistory)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence

from bridge.errors import NoHistory, PlatformError, Refused, Unavailable
from bridge.model import Call, ChannelRef, Raw, Receipt
from bridge.ports.clock import Clock
from connectors.irc import caps, compose, ids
from connectors.irc.batches import Batch
from connectors.irc.raws import MESSAGES, Order, RawBuilder, time_of
from connectors.irc.session import Session
from connectors.irc.speaker import Speaker
from connectors.irc.wire import Line, formatted

_ANSWER_S = 15.0
_MARGIN_MS = 60_000  # by which the server's clock may differ from ours
_MAX_PAGES = 200
_SERVICES = ("histserv",)  # their messages describe joins and the like


class History:
    """Sends one request at a time; `own` returns whether a nick is ours."""

    def __init__(
        self, session: Session, raws: RawBuilder, clock: Clock, own: Callable[[str], bool]
    ) -> None:
        self._session = session
        self._raws = raws
        self._clock = clock
        self._own = own
        self._request = asyncio.Lock()
        self._awaited: tuple[str, str, asyncio.Future[Batch]] | None = None

    async def newest(self, channel: ChannelRef) -> str:
        lines = await self._ask("LATEST", channel, "*", 1)
        if not lines:
            return ids.order_key(0, 0)
        return self._key(lines[-1], Order())

    async def read_after(
        self,
        channel: ChannelRef,
        cursor: str,
        threads: Sequence[str],
        *,
        wait_limit: float | None = None,
    ) -> AsyncIterator[Raw]:
        """Messages of others later than the cursor, oldest first."""
        del threads  # IRC has none
        del wait_limit  # one request takes a moment: nobody waits long for another
        order = Order()
        async for line in self._after(channel, ids.time_in(cursor), ids.message_in(cursor)):
            if line.command in MESSAGES and not self._own(line.nick):
                yield self._raws.message(
                    line, channel, order, now=self._clock.time(), us=self._us()
                )

    async def find(
        self, call: Call, after: str | None, *, since: float | None = None, changed: bool = False
    ) -> Receipt | None:
        """Our own line with the words of this call, later than `after`."""
        speaker = self._session.require()
        texts = {
            compose.message(call, speaker.form, speaker.target(call.channel), bare=bare).first
            for bare in (False, True)
        }
        name = str(call.body.get("byline") or "")
        order = Order()
        begin = self._begin(after, since)
        async for line in self._after(call.channel, begin, after or ""):
            own_id, _ = self._raws.identify(line, time_of(line, self._clock.time()), order)
            if line.command not in MESSAGES or not self._own(line.nick):
                continue
            text = line.last
            same = any(text.split("\n")[0] == candidate.split("\n")[0] for candidate in texts)
            if same or (changed and bool(name) and text.startswith(name)):
                return Receipt(slot=call.slot, native_id=own_id)
        return None

    async def fetch(self, channel: ChannelRef, native_id: str, thread: str | None) -> Raw | None:
        """One message, by its msgid or by the time in an id of ours."""
        order = Order()
        if (made := ids.made_at(native_id)) is not None:
            lines = [line async for line in self._after(channel, made, "")]
        else:
            lines = await self._ask("AROUND", channel, f"msgid={native_id}", 1)
        now = self._clock.time()
        for line in lines:
            if line.command in MESSAGES:
                raw = self._raws.message(line, channel, order, now=now, us=self._us())
                if raw.dedupe_key == f"message:{native_id}":
                    return raw
        return None

    def _begin(self, after: str | None, since: float | None) -> int:
        if after is not None and (made := ids.made_at(after)) is not None:
            return made
        seconds = self._clock.time() - 3600 if since is None else since
        return max(0, int(seconds * 1000) - _MARGIN_MS)

    def _us(self) -> str:
        return self._session.speaker.link.state.nick if self._session.speaker else ""

    def _key(self, line: Line, order: Order) -> str:
        at = time_of(line, self._clock.time())
        native_id, number = self._raws.identify(line, at, order)
        return ids.order_key(at, number, native_id)

    # --- pages ------------------------------------------------------------------------------

    async def _after(self, channel: ChannelRef, begin: int, last_id: str) -> AsyncIterator[Line]:
        """Lines from this time (milliseconds) on, without those up to the message `last_id`."""
        identities: set[tuple[str, str, str]] = set()
        at, last_known = max(0, begin - 1), last_id
        for _ in range(_MAX_PAGES):
            page = await self._ask("AFTER", channel, f"timestamp={ids.server_time(at)}", None)
            fresh = [
                line
                for line in page
                if (key := _identity(line)) not in identities and not identities.add(key)
            ]
            if not fresh:
                return
            for line in _beyond(fresh, last_known):
                yield line
            last_known = ""
            newest = max(time_of(line, at / 1000) for line in fresh)
            at = newest if newest <= at + 1 else newest - 1

    async def _ask(
        self, subcommand: str, channel: ChannelRef, selector: str, limit: int | None
    ) -> list[Line]:
        """The lines of one answer, oldest first."""
        async with self._request:
            speaker = self._session.require()
            _require_history(speaker)
            await self._session.ensure_joined(channel)
            label = speaker.posts.label() if speaker.labels else ""
            count = min(limit or 500, speaker.link.state.support.history_page)
            target = speaker.target(channel)
            waiting: asyncio.Future[Batch] = asyncio.get_running_loop().create_future()
            self._awaited = (label, speaker.link.state.support.fold(target), waiting)
            tags = {"label": label} if label else {}
            line = formatted("CHATHISTORY", subcommand, target, selector, str(count), tags=tags)
            speaker.link.put([line])
            try:
                async with asyncio.timeout(_ANSWER_S):
                    batch = await waiting
            except TimeoutError:
                raise Unavailable(f"The server does not send the history of {target}") from None
            finally:
                self._awaited = None
        lines = [answer for answer in batch.lines() if answer.nick.lower() not in _SERVICES]
        return sorted(lines, key=lambda answer: time_of(answer, 0.0))

    # --- answers of the server --------------------------------------------------------------

    def answered(self, batch: Batch, label: str) -> None:
        if self._awaited is None:
            return
        expected_label, target, waiting = self._awaited
        named = self._session.support.fold(batch.params[0]) if batch.params else ""
        if not waiting.done() and (label == expected_label if expected_label else named == target):
            waiting.set_result(batch)

    def refused(self, line: Line) -> None:
        """FAIL CHATHISTORY."""
        text = f"The server refuses its history: {line.last} ({line.param(1)})"
        self._fail(Refused(text, code=line.param(1)))

    def lost(self, error: PlatformError) -> None:
        self._fail(error)

    def _fail(self, error: PlatformError) -> None:
        if self._awaited is not None and not (waiting := self._awaited[2]).done():
            waiting.set_exception(error)


def _require_history(speaker: Speaker) -> None:
    if not caps.has_history(speaker.link.state.enabled):
        raise NoHistory("This IRC server keeps no history that could be read (draft/chathistory)")


def _identity(line: Line) -> tuple[str, str, str]:
    msgid = line.tags.get("msgid", "")
    return (msgid, "", "") if msgid else (line.tags.get("time", ""), line.source, line.last)


def _beyond(lines: Sequence[Line], last_id: str) -> Sequence[Line]:
    """Those behind the message with this id, where it is among them."""
    order = Order()
    for number, line in enumerate(lines):
        if last_id and RawBuilder.identify(line, time_of(line, 0.0), order)[0] == last_id:
            return lines[number + 1 :]
    return lines
