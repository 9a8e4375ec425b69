"""More actions of people: they join, leave, and rename channels and group chats."""

from __future__ import annotations

from abc import ABC, abstractmethod

from bridge.errors import InvalidData, Refused
from connectors.teams.sandbox.room import Room
from connectors.teams.sandbox.state import Conversation, Person

LONGEST_NAME = {"channel": 50, "groupChat": 250}


class PlatformActions(ABC):
    """The first arguments of each action are tenant, conversation and person."""

    _room: Room

    @abstractmethod
    def _place_of(self, workspace: str, channel: str, person: str) -> tuple[Conversation, Person]:
        """Return the conversation and the person. Raises NotFound."""

    async def join_as(self, workspace: str, channel: str, person: str) -> None:
        """Join a group chat, or the team of a channel."""
        where, member = self._place_of(workspace, channel, person)
        if where.kind == "personal":
            raise InvalidData("Nobody joins or leaves a personal chat")
        if member not in where.people:
            self._room.come_or_go(where, member, joined=True)

    async def leave_as(self, workspace: str, channel: str, person: str) -> None:
        """Leave a group chat, or the team of a channel."""
        where, member = self._member(workspace, channel, person)
        self._room.come_or_go(where, member, joined=False)

    async def rename_as(self, workspace: str, channel: str, person: str, name: str) -> None:
        """Rename a channel or a group chat; General keeps its name."""
        where, member = self._member(workspace, channel, person)
        if not 1 <= len(name.strip()) <= LONGEST_NAME[where.kind]:
            raise InvalidData(f"A name has 1 to {LONGEST_NAME[where.kind]} characters")
        if where.team is not None and where is where.team.channels[0]:
            raise Refused(f"{where.name!r} is the team's General and keeps its name")
        self._room.rename(where, member, name.strip())

    def _member(self, workspace: str, channel: str, person: str) -> tuple[Conversation, Person]:
        where, member = self._place_of(workspace, channel, person)
        if where.kind == "personal" or member not in where.people:
            raise Refused(f"{member.name!r} is not a member of {where.name!r}")
        return where, member
