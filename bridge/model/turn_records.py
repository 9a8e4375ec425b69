"""Turns of agents and their records, as the store has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bridge.model.events import Sense
from bridge.model.refs import ActorId, ChannelRef, MessageId, RoomId, TurnId
from bridge.model.turns import TurnState

CalledBy = Literal["person", "agent", "bot", "floor"]
"""Who called an agent; `floor`: nobody, a convener hears all that is said."""


@dataclass(frozen=True)
class NewTurn:
    """A turn to queue for an agent; turns of one `session` are answered in order.

    `origin` is the message of a person or a bot at the start, if an agent's answer to it called
    this agent; otherwise it is the trigger. `reason` says in words why this agent was chosen.
    """

    id: TurnId
    agent: str
    room: RoomId
    trigger: MessageId
    session: str = ""
    origin: MessageId | None = None
    called_by: CalledBy = "person"
    reason: str = ""


@dataclass(frozen=True)
class StoredTurn:
    """A turn and its progress; `error` says why it failed, or why nobody answered."""

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
    error: str = ""
    reason: str = ""

    @property
    def answer_id(self) -> MessageId:
        """The id of its answer: a turn that runs twice answers once."""
        return MessageId(f"agent:{self.agent}:{self.id}")


PairingUse = Literal["paired", "wrong", "too_many"]


PAIRING_TRIES = 5  # wrong codes that one account may enter ...


PAIRING_WINDOW = 3600.0  # ... within this many seconds


BUCKET = 300  # seconds whose spending is stored as one sum


@dataclass(frozen=True)
class HandOver:
    """The one who answers at a spot of a room in place of all others: an agent, or (None) a person,
    so that no agent answers.

    - `by`: the actor who decided it; `at` is in seconds since 1970.
    - `earlier`: the agents that held the spot before and get it back one by one, each with the
      actor who decided that, oldest first.
    """

    room: RoomId
    spot: str
    agent: str | None
    by: str
    at: float
    earlier: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Spending:
    """The spending in the BUCKET seconds from `at` (seconds since 1970); `micros` are millionths of
    the currency of the prices."""

    at: float
    messages: int = 0
    tokens: int = 0
    micros: int = 0


@dataclass(frozen=True)
class Pairing:
    """An actor who entered a pairing code, and the agent that they may use with it (`*`: all
    agents)."""

    actor: ActorId
    agent: str
    by: str
    at: float


@dataclass(frozen=True)
class PairingCode:
    """An unused pairing code, as its digest."""

    digest: str
    agent: str
    by: str
    expires: float


ApprovalState = Literal["open", "allowed", "refused", "expired", "withdrawn"]


Counted = Literal["counted", "repeat", "over", "unknown"]


@dataclass(frozen=True)
class Decision:
    """One person's decision, made in the channel with the key `place`; `at` is in seconds since
    1970."""

    actor: ActorId
    allowed: bool
    at: float
    place: str = ""


@dataclass(frozen=True)
class Approval:
    """A request for permission to make one tool call.

    - `call`: the same if a turn that runs again makes the same call once more.
    - `arguments`: JSON, as people see them; `trigger`: the question; `asker`: its author.
    - `approvers`, `quorum`: as in `bridge.ports.tools.ApprovalRule`.
    - `created`, `expires`, `ended`: in seconds since 1970.
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
        """The number of people who must still allow the call."""
        return max(0, self.quorum - sum(decision.allowed for decision in self.decisions))


@dataclass(frozen=True)
class MessageRating:
    """One person's rating of one answer; the latest of several counts. `time` is in seconds since
    1970; `pending_agent` names the agent to notify, None for none."""

    message: MessageId
    actor: ActorId
    sense: Sense
    comment: str
    time: float
    channel: ChannelRef
    room: RoomId
    pending_agent: str | None = None
