"""Channels that people link to a room or unlink by command. The store keeps these links; they
override the configuration file."""

from __future__ import annotations

from bridge.app.build import Bridge
from bridge.app.room_changes.patterns import update_rooms
from bridge.app.rooms.channel_lookup import Places
from bridge.app.settings.rooms import MemberSettings
from bridge.errors import ConfigError
from bridge.model import AccountId, ActorId, RoomId
from bridge.model.room_records import RoomLink
from bridge.router.rooms.rooms import Member


class AppLinker:
    """The router's `Linker`: finds the channel, stores the link, and changes the rooms."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge

    async def link(self, room: RoomId, account: str, channel: str, by: ActorId) -> str:
        """Link a channel to the room; returns a text for the person.

        Raises:
            ConfigError: There is no such account or channel, or another account posts in it.
        """
        bridge = self._bridge
        if AccountId(account) not in bridge.connectors:
            names = ", ".join(sorted(bridge.connectors))
            raise ConfigError(f"There is no account {account!r}; there are: {names}")
        places = Places(bridge.connectors, bridge.store)
        channel_ref = await places.find(MemberSettings(account=account, channel=channel))
        await places.close()
        owner = bridge.rooms.account_of(channel_ref)
        if owner not in (None, AccountId(account)):
            raise ConfigError(f"{channel} belongs to account {owner!r} already")
        now = bridge.clock.time()
        link = RoomLink(room, AccountId(account), channel_ref, linked=True, by=by, at=now)
        await bridge.store.link_channel(link)
        await update_rooms(bridge)
        return f"{channel} of {account} is in this room now."

    async def unlink(self, room: RoomId, member: Member, by: ActorId) -> str:
        bridge = self._bridge
        now = bridge.clock.time()
        link = RoomLink(room, member.account, member.channel, linked=False, by=by, at=now)
        await bridge.store.link_channel(link)
        await update_rooms(bridge)
        return "This channel is not in its room any more."
