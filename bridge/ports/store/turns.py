"""Port: agents' turns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bridge.model import MessageId, RoomId, TurnId
from bridge.model.turn_records import StoredTurn
from bridge.model.turns import TurnState


class TurnStore(Protocol):
    """Agents' turns and their states."""

    async def was_called(self, agent: str, root: MessageId) -> bool:
        """Tell whether a message, or one in its thread, triggered a turn of this agent."""
        ...

    async def last_answer(self, session: str, *, before: TurnId) -> MessageId | None:
        """Return the session's last answer before a turn that is not deleted; None when there is
        none."""
        ...

    async def open_turns(self) -> Sequence[StoredTurn]:
        """Return the queued, running and waiting turns, oldest first."""
        ...

    async def turn(self, turn: TurnId) -> StoredTurn | None:
        """Return a turn by its id; None when there is none."""
        ...

    async def turns_of_room(
        self, room: RoomId, *, since: float, limit: int
    ) -> Sequence[StoredTurn]:
        """Return the newest turns of a room, oldest first, whatever their state.

        Args:
            room: the room.
            since: seconds since 1970; only turns that were asked from then on.
            limit: maximum number.
        """
        ...

    async def turns_about(self, question: MessageId) -> Sequence[StoredTurn]:
        """Return the turns that a message triggered, and those of agents that answers to it called,
        oldest first, whatever their state."""
        ...

    async def set_turn(
        self,
        turn: TurnId,
        state: TurnState,
        *,
        tool_called: bool = False,
        answer: MessageId | None = None,
        error: str = "",
    ) -> None:
        """Change a turn's state.

        Args:
            turn: id of the turn.
            state: the new state; entering `running` counts an attempt.
            tool_called: the agent has called a tool; stays set.
            answer: the answer's message; stays set.
            error: the reason, for `failed`.
        """
        ...
