"""Where feedback on answers is kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bridge.model.turn_records import GivenFeedback


class FeedbackStore(Protocol):
    """What of `Admission.feedback` was not handed over yet."""

    async def undelivered_feedback(self) -> Sequence[GivenFeedback]:
        """What agents must still hear, in its order; former words of a person are not among it."""
        ...

    async def set_feedback_delivered(self, given: GivenFeedback) -> None:
        """Its agent heard it. What the same person said since stays untold."""
        ...
