"""Writes what the server sends to the inbox, numbered in the order of arrival."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import structlog

from bridge.model import ChannelRef, Raw
from bridge.ports.clock import Clock
from bridge.ports.inbox import Inbox
from bridge.uacs import Message
from connectors.irc.raws import Order, RawBuilder, Sent
from connectors.irc.wire import Line

log = structlog.get_logger()

_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.1, 10.0  # between two attempts to write a row


class InboxWriter:
    """Writes the rows of one account. The server does not repeat a line, so a row is written again
    until the inbox takes it."""

    def __init__(self, inbox: Inbox, raws: RawBuilder, clock: Clock) -> None:
        self._inbox = inbox
        self._raws = raws
        self._clock = clock
        self._orders: dict[ChannelRef, Order] = {}

    async def message(
        self,
        line: Line,
        channel: ChannelRef,
        *,
        us: str,
        sent: Sent | None = None,
        people: Mapping[str, str] | None = None,
    ) -> Raw:
        """Write a PRIVMSG or NOTICE and return its row; the arguments are those of `RawBuilder`."""
        raw = self._raws.message(
            line, channel, self._order(channel), now=self._clock.time(), us=us, sent=sent,
            people=people,
        )  # fmt: skip
        await self._write(raw)
        return raw

    async def event(self, line: Line, channel: ChannelRef, **details: Any) -> None:
        """Write any other line; the details are those of `RawBuilder.event`."""
        raw = self._raws.event(
            line, channel, self._order(channel), now=self._clock.time(), **details
        )
        await self._write(raw)

    def session_began(self, channel: ChannelRef | None = None) -> None:
        """Tell the router that lines may be missing: in one channel, or in all."""
        self._inbox.session_began(self._raws.account, channel)

    async def message_shown_as(self, channel: ChannelRef, native_id: str) -> Message | None:
        """Return the canonical message that a native one shows. Raises BridgeError."""
        return await self._inbox.message_of(channel, native_id)

    def _order(self, channel: ChannelRef) -> Order:
        return self._orders.setdefault(channel, Order())

    async def _write(self, raw: Raw) -> None:
        pause = _FIRST_PAUSE_S
        while True:
            try:
                await self._inbox.accept(raw)
            except Exception as error:  # noqa: BLE001 - supervising: any failure is temporary
                log.error("inbox_write_failed", account=raw.account, error=str(error))  # noqa: TRY400
                await self._clock.sleep(pause)
                pause = min(pause * 2, _LONGEST_PAUSE_S)
            else:
                return
