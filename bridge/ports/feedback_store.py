"""What the store keeps of feedback on answers, and which of it an agent must still hear."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from bridge.model import ActorId, ChannelRef, MessageId, RoomId, Sense


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


class FeedbackStore(Protocol):
    """What of `Admission.feedback` was not handed over yet."""

    async def untold_feedback(self) -> Sequence[GivenFeedback]:
        """What agents must still hear, in its order; former words of a person are not among it."""
        ...

    async def feedback_told(self, given: GivenFeedback) -> None:
        """Its agent heard it. What the same person said since stays untold."""
        ...
