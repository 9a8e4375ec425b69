"""Typing signs, shown in the other channels at once or never; none is kept or tried again."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import structlog

from bridge.errors import PlatformError
from bridge.model import AccountId, Call, ChannelRef, MessageId, Raw, TypingStarted
from bridge.model.refs import native_id_in
from bridge.ports.clock import Clock
from bridge.ports.connector import Connector
from bridge.ports.store.messages import MessageStore
from bridge.router.outbound.rate_limits import Priority, RateLimits
from bridge.router.rooms.bylines import Bylines
from bridge.router.rooms.filters import admitting
from bridge.router.rooms.options import filtered_event
from bridge.router.rooms.people import nameless
from bridge.router.rooms.rooms import Member, Rooms

log = structlog.get_logger()

_AGAIN = 6.0  # seconds: platforms show it for about ten
_FADES = 60.0  # seconds: platforms take such words away after about two minutes
_DEADLINE = 3.0
_REMEMBERED = 4096  # channels


@dataclass
class Work:
    """An agent works on a question in the thread of `root`; `statuses` holds the last status that
    each channel was shown, and when."""

    agent: str
    root: MessageId | None
    statuses: dict[Member, tuple[str, float]] = field(
        default_factory=dict[Member, tuple[str, float]]
    )


class Typing:
    """Shows typing signs in other channels, as far as the rate limits of the moment allow."""

    def __init__(
        self,
        rooms: Rooms,
        connectors: Mapping[AccountId, Connector],
        rate_limits: RateLimits,
        clock: Clock,
        store: MessageStore,
        bylines: Bylines,
    ) -> None:
        self._store = store
        self._bylines = bylines
        self._rooms = rooms
        self._connectors = connectors
        self._rate_limits = rate_limits
        self._clock = clock
        self._until: dict[ChannelRef, float] = {}

    async def handle(self, raw: Raw) -> None:
        """Show the typing events of a payload. Raises UndecodableEvent."""
        for event in self._connectors[raw.account].decode(raw):
            if isinstance(event, TypingStarted) and not event.own:
                await asyncio.gather(*(self._show(member) for member in self._listeners(event)))

    async def show(
        self, members: Sequence[Member], work: Work | None = None, words: str = ""
    ) -> None:
        """Show that our bot is about to post there; `work` names the agent and the thread."""
        await asyncio.gather(*(self._show(member) for member in members))
        if work is not None and work.root is not None:
            await asyncio.gather(*(self._show_work(member, work, words) for member in members))

    async def over(self, work: Work) -> None:
        """Take the signs of work away where no answer came."""
        for member in list(work.statuses):
            await self._show_work(member, work, "")

    def _listeners(self, event: TypingStarted) -> list[Member]:
        """The channels that would be shown the message that somebody types."""
        if event.audience is not None:
            return []
        channel, filtered = event.place.channel, filtered_event(event, nameless(event.actor))
        rooms, _ = admitting(
            self._rooms.receiving_from(event.account, channel), event, nameless(event.actor)
        )
        found = {
            member.channel: member
            for room in rooms
            for member in room.listeners(besides=channel)
            if not member.options.message_filter.refuses(filtered)
        }
        return list(found.values())

    async def _show(self, member: Member) -> None:
        connector = self._connectors.get(member.account)
        now = self._clock.monotonic()
        typing = connector.abilities.typing if connector else None
        if connector is None or typing is None or now < self._until.get(member.channel, now):
            return
        call = typing.typing_call(member.channel)
        if call is None or not self._rate_limits.has_room(member.account, call.rate_limits):
            return
        if len(self._until) >= _REMEMBERED:
            self._until.pop(next(iter(self._until)))
        self._until[member.channel] = now + _AGAIN
        await self._send(connector, call, member.account)

    async def _show_work(self, member: Member, work: Work, words: str) -> None:
        """Show the words in the thread, when they changed or are about to fade."""
        connector = self._connectors.get(member.account)
        progress = connector.abilities.progress if connector else None
        if connector is None or progress is None or work.root is None:
            return
        now = self._clock.monotonic()
        before, at = work.statuses.get(member, ("", 0.0))
        if before == words and now - at < _FADES:
            return
        if (thread := await self._thread_in(member.channel, work.root)) is None:
            return
        byline = self._bylines.of_agent(work.agent)
        call = progress.working_call(member.account, member.channel, thread, byline, words)
        if call is None or not self._rate_limits.has_room(member.account, call.rate_limits):
            return
        work.statuses[member] = (words, now)
        await self._send(connector, call, member.account)

    async def _thread_in(self, channel: ChannelRef, root: MessageId) -> str | None:
        """The native id of the thread of this message in the channel."""
        stored = await self._store.message(root)
        if stored is not None and stored.place is not None and stored.place.channel == channel:
            return stored.native_id
        copies = await self._store.copies(root, channel)
        return copies[0].native_id if copies else native_id_in(channel.key, root)

    async def _send(self, connector: Connector, call: Call, account: AccountId) -> None:
        try:
            async with asyncio.timeout(_DEADLINE):
                async with self._rate_limits.permission(
                    account, call.rate_limits, Priority.CATCH_UP
                ):
                    await connector.send(call)
        except (PlatformError, TimeoutError) as error:
            log.debug("typing_failed", account=account, error=str(error))
