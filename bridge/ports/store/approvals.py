"""Port: approvals of tool calls."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from bridge.model import ActorId, RoomId, TurnId
from bridge.model.turn_records import Approval, ApprovalState, Counted, Decision


class ApprovalStore(Protocol):
    """Approvals of tool calls and their audit trail."""

    async def ask_approval(self, approval: Approval) -> Approval:
        """Save an approval. Returns the saved one when the same call of the same turn has one
        already."""
        ...

    async def approval(self, approval: str) -> Approval | None:
        """Return an approval by its id; None when it is unknown."""
        ...

    async def decide(
        self, approval: str, decision: Decision, accounts: Collection[ActorId]
    ) -> tuple[Counted, Approval | None]:
        """Count a decision; of two concurrent decisions one is first.

        An approval that nobody decided before `expires` is expired from then on.

        Args:
            approval: id of the approval.
            decision: who decided what, where and when.
            accounts: all accounts of the person who decides; each person counts once.

        Returns:
            How the decision counts, and the approval afterwards (None: unknown). `repeat`: the
            person decided so before. `over`: the approval is not open any more.
        """
        ...

    async def end_approval(self, approval: str, state: ApprovalState, at: float) -> bool:
        """End an open approval in this state. Returns False when it was not open."""
        ...

    async def approvals(
        self,
        *,
        turn: TurnId | None = None,
        room: RoomId | None = None,
        newest: int = 100,
        open_only: bool = False,
    ) -> Sequence[Approval]:
        """Return approvals, newest first.

        Args:
            turn: only those of this turn; None for all.
            room: only those of this room; None for all.
            newest: maximum number.
            open_only: only those that are still open.
        """
        ...
