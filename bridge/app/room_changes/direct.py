"""Rooms for direct messages to the bridge's bots: a person's first message creates one."""

from __future__ import annotations

import asyncio

import structlog

from bridge.app.build import Bridge
from bridge.app.rooms.find import DIRECT, direct_of, direct_rooms
from bridge.model import RoomId
from bridge.model.room_records import RoomLink
from bridge.router.signals import DirectMessageCame

log = structlog.get_logger()

_MAX_ROOMS = 10_000  # rooms for direct messages


class DirectRooms:
    """Creates a room at the first direct message of a person."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge
        self._one_at_a_time = asyncio.Lock()

    def listen(self) -> None:
        """Subscribe to direct messages."""
        self._bridge.router.signals.direct_message_came.subscribe(self._open)

    async def _open(self, message: DirectMessageCame) -> None:
        """Create the room, unless no agent answers direct messages of this account."""
        bridge, account, channel = self._bridge, message.account, message.channel
        if direct_of(bridge.settings, account) is None:
            return
        async with self._one_at_a_time:
            if bridge.rooms.concern(account, channel):
                return
            if len(bridge.rooms.all) - len(bridge.settings.rooms) >= _MAX_ROOMS:
                log.warning("too_many_direct_rooms", account=account)
                return
            now, own_id = bridge.clock.time(), RoomId(f"{DIRECT}{channel.key}")
            link = RoomLink(own_id, account, channel, linked=True, by="direct message", at=now)
            await bridge.store.link_channel(link)
            new_rooms = await direct_rooms(bridge.settings, bridge.connectors, bridge.store, [link])
            bridge.router.reconfigure.add_rooms(new_rooms)
        log.info("direct_room_opened", room=own_id)
