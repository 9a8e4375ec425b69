"""Feedback buttons below a bot's message: detection and validation.

msteams-docs, "Add feedback buttons" (2026-08); learn.microsoft.com, "FeedbackLoop Class": an
Teams refuses an
activity with both the old and the new form.
"""

from __future__ import annotations

from typing import Any

from connectors.teams.sandbox import refusals
from connectors.teams.sandbox.state import Json

THUMBS = ("like", "dislike")
_TYPES = ("default", "custom")


def check_feedback(activity: Json) -> None:
    """Raise the Refusal of an invalid feedback loop."""
    data = _data(activity)
    loop = data.get("feedbackLoop")
    if loop is None:
        return
    if "feedbackLoopEnabled" in data:
        raise refusals.coded(
            400, "BadSyntax", "feedbackLoop and feedbackLoopEnabled cannot be set together"
        )
    if not isinstance(loop, dict) or loop.get("type", "default") not in _TYPES:
        raise refusals.coded(400, "BadSyntax", "feedbackLoop.type must be 'default' or 'custom'")


def asks_for_feedback(activity: Json) -> bool:
    data = _data(activity)
    return "feedbackLoop" in data or data.get("feedbackLoopEnabled") is True


def _data(activity: Json) -> dict[str, Any]:
    data = activity.get("channelData")
    return data if isinstance(data, dict) else {}
