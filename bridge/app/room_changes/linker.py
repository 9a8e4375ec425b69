"""Channels and agents that people bring into a room or take out of it by command. The store keeps
them; they override the configuration file."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from bridge.app.build import Bridge, build_agents
from bridge.app.room_changes.patterns import update_rooms
from bridge.app.rooms.channel_lookup import Places
from bridge.app.rooms.guests import (
    Guest,
    check_address,
    free_name,
    guests_of,
    keep_guests,
    with_guests,
)
from bridge.app.settings.rooms import MemberSettings
from bridge.errors import ConfigError
from bridge.model import AccountId, ActorId, RoomId
from bridge.model.floor import FloorChange
from bridge.model.room_records import RoomLink
from bridge.ports.agent import IsInvited
from bridge.router.commands.channels import Invited
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

    async def invite(self, room: RoomId, who: str) -> Invited:
        """Bring an agent into the room: one of the configuration by its name, or one that speaks
        Open Floor by its address.

        Raises:
            ConfigError: there is no such agent, or agents of its host may not be invited.
        """
        bridge = self._bridge
        guests = await guests_of(bridge.store)
        if "://" in who:
            check_address(who, bridge.settings)
            known = next((guest.agent for guest in guests if guest.url == who), None)
            name = known or free_name(
                await bridge.directory.name_at(who), who, bridge.settings.agents
            )
            guest = Guest(room, name, who)
        elif who in bridge.settings.agents:
            own = next((one for one in guests if one.agent == who), Guest(room, who))
            guest = Guest(room, who, own.url)
        else:
            names = ", ".join(sorted(bridge.settings.agents)) or "none"
            raise ConfigError(f"There is no agent {who!r}; there are: {names}")
        current = bridge.rooms.by_id[room]
        if current.membership(guest.agent) is not None:
            return Invited(guest.agent, new=False)
        await keep_guests(bridge.store, [*guests, guest])
        await self._seat([guest])
        return Invited(guest.agent)

    async def uninvite(self, room: RoomId, agent: str) -> str:
        """Send an agent away that was invited. Returns a text for the person.

        Raises:
            ConfigError: the agent was not invited to this room.
        """
        bridge = self._bridge
        guests = await guests_of(bridge.store)
        rest = [guest for guest in guests if (guest.room, guest.agent) != (room, agent)]
        if len(rest) == len(guests):
            raise ConfigError(f"Nobody invited {agent!r} to this room; the configuration has it")
        await keep_guests(bridge.store, rest)
        settings = bridge.settings
        entry = settings.rooms[room]
        seats = tuple(seat for seat in entry.agents if seat.agent != agent)
        rooms = {**settings.rooms, room: entry.model_copy(update={"agents": seats})}
        bridge.settings = settings.model_copy(update={"rooms": rooms})
        await update_rooms(bridge)
        left = bridge.agents.get(agent)
        if isinstance(left, IsInvited):
            conversation = str(bridge.rooms.by_id[room].conversation)
            await left.tell(conversation, FloorChange("uninvite", f"agent:{agent}"))
        return f"{agent} has left this room."

    async def _seat(self, guests: Sequence[Guest]) -> None:
        """Build agents that are new, and give the guests their seats."""
        bridge = self._bridge
        settings = with_guests(bridge.settings, guests)
        new = settings.agents.keys() - bridge.agents.keys()
        if new:
            bridge.agents.update(
                await asyncio.to_thread(
                    build_agents, settings, bridge.store, bridge.clock, bridge.files, new
                )
            )
        bridge.settings = settings
        await update_rooms(bridge)
