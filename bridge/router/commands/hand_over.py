"""The commands `take-over`, `hand-over` and `give-back`, and the button of a notice that does the
last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from bridge.errors import InvalidData
from bridge.model import ActionPressed, ActorId, Place, message_id_of
from bridge.ports.store.messages import MessageStore
from bridge.ports.store.people import PeopleStore
from bridge.router.commands.command import Command, CommandCall, may_operate
from bridge.router.commands.targets import person_meant
from bridge.router.rooms.reference_names import ReferenceNames
from bridge.router.rooms.rooms import Room
from bridge.router.turns.handovers import HandOvers
from bridge.router.turns.sessions import ROOM, channel_spot, person_spot, thread_spot


class _HandOverStore(MessageStore, PeopleStore, Protocol):
    """What `HandOverCommands` needs of the store."""


@dataclass(frozen=True)
class HandOverCommands:
    """People take over from agents, hand over from one agent to another, and give back. Admins and
    the operators of the room's agents may."""

    store: _HandOverStore
    handovers: HandOvers
    names: ReferenceNames
    admins: Sequence[str]

    def commands(self) -> tuple[Command, ...]:
        return (
            Command(
                "take-over [@PERSON]",
                "agents are silent here, or to this person, until give-back",
                self._take_over,
                range(2),
                everybody=True,
            ),
            Command(
                "give-back [@PERSON]", "agents answer again", self._give_back, range(2),
                everybody=True,
            ),
            Command(
                "hand-over AGENT [@PERSON]",
                "another agent answers here, or to this person, until give-back",
                self._hand_over,
                range(1, 3),
                everybody=True,
            ),
        )  # fmt: skip

    async def press_to_give_back(
        self, event: ActionPressed, spot: str, rooms: Sequence[Room]
    ) -> str:
        """Returns the outcome of a press on the button of the notice."""
        if not rooms or not may_operate(rooms[0], event.actor, self.admins):
            return "press: not theirs to give back"
        for room in rooms:
            await self.handovers.give_back(room, spot)
        return "press: given back"

    async def _take_over(self, call: CommandCall) -> str:
        """A person answers in place of agents; the answer is for that person."""
        self._check(call.room, call.actor)
        spot = await self._spot(call.room, call.place, call.words)
        name = await self.names.name_of(call.actor)
        return await self.handovers.take(call.room, spot, call.actor, name)

    async def _hand_over(self, call: CommandCall) -> str:
        """Another agent answers in place of the agents that would."""
        self._check(call.room, call.actor)
        agent, *rest = call.words
        agent = agent.removeprefix("@")
        if call.room.membership(agent) is None:
            agents = ", ".join(membership.agent for membership in call.room.agents) or "none"
            raise InvalidData(f"There is no agent {agent!r} in this room; there are: {agents}")
        spot = await self._spot(call.room, call.place, rest)
        return await self.handovers.assign(call.room, spot, agent, call.actor)

    async def _give_back(self, call: CommandCall) -> str:
        """Agents answer again as they are configured."""
        self._check(call.room, call.actor)
        spot = await self._spot(call.room, call.place, call.words)
        return await self.handovers.give_back(call.room, spot)

    def _check(self, room: Room, actor: ActorId) -> None:
        if not may_operate(room, actor, self.admins):
            raise InvalidData(
                "Only admins, and the operators of this room's agents, may do that. "
                f"You are {actor}"
            )

    async def _spot(self, room: Room, place: Place, words: Sequence[str]) -> str:
        """The spot that is meant: a person's; that of the thread of the command; the room's, where
        agents know it as a whole; else the channel's."""
        if words:
            return person_spot(await person_meant(words, room, self.store))
        if place.thread:
            agents = await self.store.resolve(place.channel, place.thread)
            stored = await self.store.message(agents) if agents else None
            root = (stored.root if stored else None) or agents
            return thread_spot(root or message_id_of(place.channel, place.thread))
        if any(membership.session == "room" for membership in room.agents):
            return ROOM
        return channel_spot(place.channel)
