"""Where approvals of tool calls are kept."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from bridge.model import ActorId, TurnId
from bridge.model.turn_records import Approval, ApprovalState, Counted, Decision


class ApprovalStore(Protocol):
    """Approvals and their audit."""

    async def ask_approval(self, approval: Approval) -> Approval:
        """Keep it; where the same call of the same turn was asked for before, that one is given."""
        ...

    async def approval(self, approval: str) -> Approval | None: ...

    async def decide(
        self, approval: str, decision: Decision, accounts: Collection[ActorId]
    ) -> tuple[Counted, Approval | None]:
        """Count a decision, in one transaction: of two at one moment one is first. `accounts` are
        all those of the person who decides; each person counts once (`repeat`). What is over
        stays as it is (`over`), and what nobody decided until `expires` is expired from then on."""
        ...

    async def end_approval(self, approval: str, state: ApprovalState, at: float) -> bool:
        """Whether it was open until now."""
        ...

    async def approvals(
        self, *, turn: TurnId | None = None, newest: int = 100, open_only: bool = False
    ) -> Sequence[Approval]:
        """The newest first."""
        ...
