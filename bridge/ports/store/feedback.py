"""Port: feedback on agents' answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bridge.model.turn_records import MessageRating


class FeedbackStore(Protocol):
    """Feedback (`Admission.feedback`) that agents have not received yet."""

    async def undelivered_feedback(self) -> Sequence[MessageRating]:
        """Return undelivered feedback, oldest first; of each person only the latest about a
        message."""
        ...

    async def set_feedback_delivered(self, entry: MessageRating) -> None:
        """Note that the agent received this feedback. Later feedback of the person stays
        undelivered."""
        ...
