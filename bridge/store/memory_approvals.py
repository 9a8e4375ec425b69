"""Approvals, in memory."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from bridge.model import ActorId, TurnId
from bridge.ports.approval_store import Approval, ApprovalState, Counted, Decision
from bridge.store.approvals import judged


class MemoryApprovals:
    """The part of the memory store that keeps approvals."""

    def __init__(self) -> None:
        self._approvals: dict[str, Approval] = {}

    def _must_be_open(self) -> None:
        raise NotImplementedError

    async def ask_approval(self, approval: Approval) -> Approval:
        self._must_be_open()
        for one in self._approvals.values():
            if (one.turn, one.call) == (approval.turn, approval.call):
                return one
        return self._approvals.setdefault(approval.id, approval)

    async def approval(self, approval: str) -> Approval | None:
        return self._approvals.get(approval)

    async def decide(
        self, approval: str, decision: Decision, accounts: Collection[ActorId]
    ) -> tuple[Counted, Approval | None]:
        self._must_be_open()
        known = self._approvals.get(approval)
        counted, state = judged(known, decision, accounts)
        if known is not None and counted == "counted":
            decisions = (*known.decisions, decision)
            self._approvals[approval] = replace(known, decisions=decisions)
        if state is not None:
            await self.end_approval(approval, state, decision.at)
        return counted, self._approvals.get(approval)

    async def end_approval(self, approval: str, state: ApprovalState, at: float) -> bool:
        self._must_be_open()
        known = self._approvals.get(approval)
        if known is None or known.state != "open":
            return False
        self._approvals[approval] = replace(known, state=state, ended=at)
        return True

    async def approvals(
        self, *, turn: TurnId | None = None, newest: int = 100, open_only: bool = False
    ) -> Sequence[Approval]:
        found = [
            one
            for one in self._approvals.values()
            if turn in (None, one.turn) and (one.state == "open" or not open_only)
        ]
        return found[::-1][:newest]
