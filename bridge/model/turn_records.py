"""Turns of agents and what belongs to them, as the store keeps them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bridge.model.events import Sense
from bridge.model.refs import ActorId, ChannelRef, MessageId, RoomId, TurnId
from bridge.model.turns import TurnState

CalledBy = Literal["person", "agent", "bot"]


@dataclass(frozen=True)
class NewTurn:
    """A turn to be queued for an agent; those of one `session` are answered in their order.

    `origin` is what a person or a bot said, where it was an agent's answer to it that called this
    one; it is the trigger itself elsewhere.
    """

    id: TurnId
    agent: str
    room: RoomId
    trigger: MessageId
    session: str = ""
    origin: MessageId | None = None
    called_by: CalledBy = "person"


@dataclass(frozen=True)
class StoredTurn:
    """A turn and how far it came."""

    id: TurnId
    agent: str
    room: RoomId
    trigger: MessageId
    state: TurnState
    attempts: int
    asked: float
    tool_called: bool = False
    answer: MessageId | None = None
    session: str = ""
    origin: MessageId | None = None
    called_by: CalledBy = "person"


PairingUse = Literal["paired", "wrong", "too_many"]


PAIRING_TRIES = 5  # wrong codes that one account may give ...


PAIRING_WINDOW = 3600.0  # ... within so many seconds


BUCKET = 300  # seconds whose spending is kept as one sum


@dataclass(frozen=True)
class HandOver:
    """Who answers at a spot of a room in place of all others: an agent, or (None) a person, and
    then no agent does. `by` is the actor who decided it, `at` seconds since 1970."""

    room: RoomId
    spot: str
    agent: str | None
    by: str
    at: float


@dataclass(frozen=True)
class Spent:
    """What was spent in the BUCKET seconds from `at` (seconds since 1970); `micros` are millionths
    of the currency in which prices are given."""

    at: float
    messages: int = 0
    tokens: int = 0
    micros: int = 0


@dataclass(frozen=True)
class Pairing:
    """Somebody who gave a code, and the agents that they may reach by it (`*`: all of them)."""

    actor: ActorId
    agent: str
    by: str
    at: float


@dataclass(frozen=True)
class PairingCode:
    """A code that was not given yet, as its digest."""

    digest: str
    agent: str
    by: str
    expires: float


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
        return max(0, self.quorum - sum(decision.allowed for decision in self.decisions))


@dataclass(frozen=True)
class GivenFeedback:
    """What one person thinks of one answer: of several, the latest holds. `time` is seconds since
    1970; `tells` names the agent that must hear of it, None where none does."""

    message: MessageId
    actor: ActorId
    sense: Sense
    comment: str
    time: float
    channel: ChannelRef
    room: RoomId
    tells: str | None = None
