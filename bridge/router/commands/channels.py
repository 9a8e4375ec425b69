"""The commands `link`, `unlink`, `invite` and `uninvite`: who and what is in a room."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import structlog

from bridge.errors import BridgeError, InvalidData
from bridge.model import AccountId, ActorId, RoomId, split_key
from bridge.ports.connector import Connector
from bridge.router.commands.command import Command, CommandCall
from bridge.router.rooms.programs import outside_actor
from bridge.router.rooms.rooms import Member
from bridge.router.signals import MemberSilenced
from bridge.router.turns.floor import Floor

log = structlog.get_logger()


@dataclass(frozen=True)
class Invited:
    """An agent that is in a room now; `new`: it was not before."""

    name: str
    new: bool = True


class Linker(Protocol):
    """Changes which channels and agents are in a room, durably. Its answers are words for
    people."""

    async def link(self, room: RoomId, account: str, channel: str, by: ActorId) -> str: ...

    async def unlink(self, room: RoomId, member: Member, by: ActorId) -> str: ...

    async def invite(self, room: RoomId, who: str) -> Invited: ...

    async def uninvite(self, room: RoomId, agent: str) -> str: ...


class NoLinker:
    """Refuses all, where the rooms cannot change."""

    async def link(self, room: RoomId, account: str, channel: str, by: ActorId) -> str:
        raise InvalidData(f"{account} {channel} cannot be linked here")

    async def unlink(self, room: RoomId, member: Member, by: ActorId) -> str:
        raise InvalidData("This channel cannot be unlinked here")

    async def invite(self, room: RoomId, who: str) -> Invited:
        raise InvalidData(f"{who} cannot be invited here")

    async def uninvite(self, room: RoomId, agent: str) -> str:
        raise InvalidData(f"{agent} cannot be sent away here")


class CurrentLinker:
    """The linker of the program that runs the router; None until it sets one."""

    def __init__(self) -> None:
        self._used: Linker = NoLinker()

    def use(self, linker: Linker) -> None:
        """From now on this one changes the rooms."""
        self._used = linker

    async def link(self, room: RoomId, account: str, channel: str, by: ActorId) -> str:
        return await self._used.link(room, account, channel, by)

    async def unlink(self, room: RoomId, member: Member, by: ActorId) -> str:
        return await self._used.unlink(room, member, by)

    async def invite(self, room: RoomId, who: str) -> Invited:
        return await self._used.invite(room, who)

    async def uninvite(self, room: RoomId, agent: str) -> str:
        return await self._used.uninvite(room, agent)


@dataclass(frozen=True)
class GuestsLeave:
    """A guest that a convener sends away leaves its room."""

    linker: Linker

    async def member_silenced(self, silenced: MemberSilenced) -> None:
        """Take the agent out of the room, if somebody had invited it; one of the configuration has
        its place, but may not speak."""
        kind, name = split_key(silenced.actor)[0], silenced.actor.removeprefix("agent:")
        if not silenced.away or kind != "agent":
            return
        try:
            await self.linker.uninvite(silenced.room, name)
        except BridgeError as error:
            log.info("no_guest_to_send_away", room=silenced.room, agent=name, why=str(error))


def channel_commands(
    connectors: Mapping[AccountId, Connector], linker: Linker, floor: Floor
) -> tuple[Command, ...]:

    async def link(call: CommandCall) -> str:
        account, channel = call.words
        channel_name = _channel_named(account, channel, connectors)
        return await linker.link(call.room.id, account, channel_name, call.actor)

    async def unlink(call: CommandCall) -> str:
        return await linker.unlink(call.room.id, call.member, call.actor)

    async def invite(call: CommandCall) -> str:
        who = call.words[0].removeprefix("@").strip("<>")
        if await floor.happens(call.room, outside_actor(who), "invite"):
            return f"{who} may come back."  # a program that the convener had sent away
        invited = await linker.invite(call.room.id, who)
        came = await floor.happens(call.room, ActorId(f"agent:{invited.name}"), "invite")
        if not invited.new and not came:
            return f"{invited.name} is in this room already."
        return f"{invited.name} is in this room now; write @{invited.name} to ask."

    async def uninvite(call: CommandCall) -> str:
        return await linker.uninvite(call.room.id, call.words[0].removeprefix("@"))

    return (
        Command("link ACCOUNT #CHANNEL", "take a channel into this room", link, range(2, 3)),
        Command("unlink", "take this channel out of its room", unlink),
        Command("invite AGENT|URL", "bring an agent into this room", invite, range(1, 2)),
        Command("uninvite AGENT", "send an invited agent away", uninvite, range(1, 2)),
    )


def _channel_named(account: str, channel: str, connectors: Mapping[AccountId, Connector]) -> str:
    """A platform makes a mention of its own channel, even where the account is another platform's:
    then the name counts, not the id."""
    key, _, name = channel.partition("#")
    if key.count(":") != 2:
        return channel
    platform, *_, own_id = split_key(key)
    connector = connectors.get(AccountId(account))
    here = connector is not None and connector.capabilities.platform == platform
    return own_id if here else f"#{name}"
