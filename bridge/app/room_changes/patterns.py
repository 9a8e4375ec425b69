"""Updates rooms with channel patterns: when a channel appears, and every few minutes, because some
platforms send no event."""

from __future__ import annotations

import asyncio

import structlog

from bridge.app.build import Bridge
from bridge.app.reload import LAST_VALID_STAYS
from bridge.errors import BridgeError
from bridge.model import AccountId, RoomId
from bridge.router.rooms.rooms import AgentMembership, Rooms

log = structlog.get_logger()

_LOOK = 300.0  # seconds between two updates without events
_GATHER = 0.5  # seconds in which further events are gathered


async def follow_patterns(bridge: Bridge) -> None:
    """Update the rooms until cancelled."""
    news, appeared = asyncio.Event(), bridge.router.signals.channel_appeared

    async def channel_appeared(_account: AccountId) -> None:
        news.set()

    listens = False  # only with patterns, so that connectors need not decode the events otherwise
    while True:
        if _has_patterns(bridge) != listens:
            listens = not listens
            (appeared.subscribe if listens else appeared.unsubscribe)(channel_appeared)
        try:
            async with asyncio.timeout(_LOOK):
                await news.wait()
        except TimeoutError:
            pass
        else:
            await asyncio.sleep(_GATHER)
        news.clear()
        if _has_patterns(bridge):
            await update_rooms(bridge)


async def update_rooms(bridge: Bridge) -> None:
    """Channels that a pattern matches now join their rooms; others leave. The channels of a
    platform that does not answer are remembered and stay."""
    while True:
        settings, version, problems = bridge.settings, bridge.rooms.version, list[str]()
        try:
            rooms = await bridge.finder.find(settings, bridge.connectors, problems, bridge.rooms)
        except BridgeError as error:
            log.warning("pattern_update_failed", error=str(error))
            return
        if bridge.settings is settings and bridge.rooms.version == version:
            break  # else a reload or a direct message changed the rooms meanwhile
    wrong_file = [problem for problem in bridge.problems if problem.startswith(LAST_VALID_STAYS)]
    bridge.problems[:] = [*wrong_file, *problems]
    if rooms is bridge.rooms:
        return
    before = {(r.id, m.channel) for r in bridge.rooms.all for m in r.members}
    after = {(r.id, m.channel) for r in rooms.all for m in r.members}
    if before != after:
        joined = [f"{room}: {channel.key}" for room, channel in sorted(after - before, key=str)]
        log.info("rooms_changed", joined=joined, left=len(before - after))
    if before != after or _seats(bridge.rooms) != _seats(rooms):
        bridge.router.reconfigure.change_rooms(rooms)


def _seats(rooms: Rooms) -> set[tuple[RoomId, AgentMembership]]:
    return {(room.id, membership) for room in rooms.all for membership in room.agents}


def _has_patterns(bridge: Bridge) -> bool:
    if bridge.settings.installs.rooms:  # a tenant with patterns may come at any time
        return True
    rooms = bridge.settings.rooms.values()
    return any(member.is_pattern for room in rooms for member in room.members)
