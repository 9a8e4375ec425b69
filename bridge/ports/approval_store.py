"""What keeps approvals: what was asked, who decided, and how it ended."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from bridge.model import ActorId, MessageId, RoomId, TurnId

ApprovalState = Literal["open", "allowed", "refused", "expired", "withdrawn"]
Counted = Literal["counted", "repeat", "over", "unknown"]


@dataclass(frozen=True)
class Decision:
    """One person's word, said in the channel with the key `place`; `at` in seconds since 1970."""

    actor: ActorId
    allowed: bool
    at: float
    place: str = ""


@dataclass(frozen=True)
class Approval:
    """Whether an agent may make one call.

    - `call` is the same when a turn that runs again asks for the same once more.
    - `arguments` are JSON, as they are shown; `trigger` is the question that it is for,
      `asker` who asked it.
    - `approvers`, `quorum`: as in `bridge.ports.tools.ApprovalRule`.
    - `created`, `expires` and `ended` are seconds since 1970.
    """

    id: str
    turn: TurnId
    room: RoomId
    agent: str
    tool: str
    call: str
    arguments: str
    reason: str
    trigger: MessageId
    asker: ActorId
    approvers: tuple[str, ...]
    quorum: int
    created: float
    expires: float
    state: ApprovalState = "open"
    ended: float | None = None
    decisions: tuple[Decision, ...] = ()

    @property
    def missing(self) -> int:
        """How many people must still allow it."""
        return max(0, self.quorum - sum(one.allowed for one in self.decisions))


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
