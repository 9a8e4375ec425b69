"""What programs that visit a room may do: speak, and say something to one agent alone."""

from __future__ import annotations

from bridge.model import ActorId, RoomId
from bridge.model.floor import FloorWish
from bridge.router.rooms.rooms import Room, Rooms
from bridge.router.turns.admission import TurnAdmission
from bridge.router.turns.floor import Floor
from bridge.router.turns.handovers import HandOvers
from bridge.router.turns.sessions import ROOM


class Visitors:
    """Answers for the rooms that there are now; a room that is gone refuses all."""

    def __init__(
        self, rooms: Rooms, floor: Floor, hand_overs: HandOvers, admission: TurnAdmission
    ) -> None:
        self._rooms = rooms
        self._floor = floor
        self._hand_overs = hand_overs
        self._admission = admission

    async def refuses(self, room_id: RoomId, wish: FloorWish) -> str:
        """Return why a program may not speak in a room now; "" where it may. The room's convener is
        asked about one that has not got the floor. Raises StoreError."""
        room = self._room(room_id)
        return _GONE if room is None else await self._floor.refuses(room, wish)

    def is_sent_away(self, room_id: RoomId, actor: ActorId) -> bool:
        """Whether the room's convener has sent a program away."""
        room = self._room(room_id)
        return room is not None and self._floor.state(room, actor) == "absent"

    async def yields(self, room_id: RoomId, actor: ActorId) -> None:
        """Note that a program gives its floor back. Raises StoreError."""
        room = self._room(room_id)
        if room is not None:
            await self._floor.happens(room, actor, "yield")

    def focal_agent(self, room_id: RoomId) -> str:
        """Return the agent that holds the conversation of a room, or its only one; "" for none."""
        room = self._room(room_id)
        holder = None if room is None else self._hand_overs.holder(room.id, ROOM)
        if room is None or holder is not None or len(room.agents) != 1:
            return holder or ""
        return room.agents[0].agent

    async def refuses_aside(
        self, room_id: RoomId, agent: str, actor: ActorId, *, bot: bool, count: bool = False
    ) -> str:
        """Return why an agent does not answer what a program says to it alone; "" where it does,
        which counts for the quotas if `count` is set. Raises StoreError."""
        room = self._room(room_id)
        if room is None:
            return _GONE
        return await self._admission.refuses_aside(room, agent, actor, bot=bot, count=count)

    def _room(self, room_id: RoomId) -> Room | None:
        return self._rooms.by_id.get(room_id)


_GONE = "the room is not there any more"
