"""Channels that people link to a room, or unlink, by command: kept in the store, above the file."""

from __future__ import annotations

from bridge.app.build import Bridge
from bridge.app.room_changes.patterns import look_again
from bridge.app.rooms.channel_lookup import Places
from bridge.app.settings.rooms import MemberSettings
from bridge.errors import ConfigError
from bridge.model import AccountId, ActorId, RoomId
from bridge.model.room_records import RoomLink
from bridge.router.rooms.rooms import Member


class AppLinker:
    """The router's `Linker`: finds the channel, writes it down, and changes the rooms."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge

    async def link(self, room: RoomId, account: str, channel: str, by: ActorId) -> str:
        """Raises ConfigError where there is no such account or channel, or it is another's."""
        bridge = self._bridge
        if AccountId(account) not in bridge.connectors:
            names = ", ".join(sorted(bridge.connectors))
            raise ConfigError(f"There is no account {account!r}; there are: {names}")
        places = Places(bridge.connectors, bridge.store)
        channel_ref = await places.find(MemberSettings(account=account, channel=channel))
        await places.close()
        owner = bridge.rooms.account_of(channel_ref)
        if owner not in (None, AccountId(account)):
            raise ConfigError(f"{channel} is spoken in through account {owner!r} already")
        now = bridge.clock.time()
        link = RoomLink(room, AccountId(account), channel_ref, linked=True, by=by, at=now)
        await bridge.store.link_channel(link)
        await look_again(bridge)
        return f"{channel} of {account} is in this room now."

    async def unlink(self, room: RoomId, member: Member, by: ActorId) -> str:
        bridge = self._bridge
        now = bridge.clock.time()
        link = RoomLink(room, member.account, member.channel, linked=False, by=by, at=now)
        await bridge.store.link_channel(link)
        await look_again(bridge)
        return "This channel is not in its room any more."
