"""Where turns of agents are kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bridge.model import MessageId, TurnId
from bridge.model.turn_records import StoredTurn
from bridge.model.turns import TurnState


class TurnStore(Protocol):
    """Agents' turns."""

    async def was_called(self, agent: str, root: MessageId) -> bool:
        """Whether a turn of the agent was triggered by this message or in its thread."""
        ...

    async def last_answer(self, session: str, *, before: TurnId) -> MessageId | None:
        """What was said last in the session, before this turn, and stands still."""
        ...

    async def open_turns(self) -> Sequence[StoredTurn]:
        """Queued, running and waiting turns, oldest first."""
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
        """Entering `running` counts an attempt; `tool_called` and `answer` are never unset."""
        ...
