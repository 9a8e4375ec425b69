"""Somebody writes: shown elsewhere at once or never. Nothing here is kept or tried again."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import structlog

from bridge.errors import PlatformError
from bridge.model import AccountId, Call, ChannelRef, Raw, TypingStarted
from bridge.ports.clock import Clock
from bridge.ports.connector import Connector, ShowsTyping
from bridge.router.admission import admitting
from bridge.router.budgets import Budgets, Priority
from bridge.router.options import seen_event
from bridge.router.people import nameless
from bridge.router.rooms import Member, Rooms

log = structlog.get_logger()

_AGAIN = 6.0  # seconds: platforms show it for about ten
_DEADLINE = 3.0
_REMEMBERED = 4096  # channels


class Typing:
    """Passes it on, as far as the budgets of the moment allow."""

    def __init__(
        self,
        rooms: Rooms,
        connectors: Mapping[AccountId, Connector],
        budgets: Budgets,
        clock: Clock,
    ) -> None:
        self._rooms = rooms
        self._connectors = connectors
        self._budgets = budgets
        self._clock = clock
        self._shown: dict[ChannelRef, float] = {}

    async def hear(self, raw: Raw) -> None:
        """Raises nothing but UndecodableEvent."""
        for event in self._connectors[raw.account].decode(raw):
            if isinstance(event, TypingStarted) and not event.own:
                await asyncio.gather(*(self._show(member) for member in self._listeners(event)))

    async def show(self, members: Sequence[Member]) -> None:
        """Our bot is about to say something there."""
        await asyncio.gather(*(self._show(member) for member in members))

    def _listeners(self, event: TypingStarted) -> list[Member]:
        """Who would be shown what they write."""
        if event.audience is not None:
            return []
        channel, seen = event.place.channel, seen_event(event, nameless(event.actor))
        rooms, _ = admitting(self._rooms.hearing(event.account, channel), event)
        found = {
            member.channel: member
            for room in rooms
            for member in room.listeners(besides=channel)
            if not member.options.sieve.refuses(seen)
        }
        return list(found.values())

    async def _show(self, member: Member) -> None:
        connector = self._connectors.get(member.account)
        now = self._clock.monotonic()
        if not isinstance(connector, ShowsTyping) or now < self._shown.get(member.channel, now):
            return
        call = connector.typing_call(member.channel)
        if call is None or not self._budgets.has_room(member.account, call.budgets):
            return
        if len(self._shown) >= _REMEMBERED:
            self._shown.pop(next(iter(self._shown)))
        self._shown[member.channel] = now + _AGAIN
        await self._send(connector, call, member.account)

    async def _send(self, connector: Connector, call: Call, account: AccountId) -> None:
        try:
            async with asyncio.timeout(_DEADLINE):
                async with self._budgets.permission(account, call.budgets, Priority.CATCH_UP):
                    await connector.send(call)
        except (PlatformError, TimeoutError) as error:
            log.debug("typing_not_shown", account=account, error=str(error))
