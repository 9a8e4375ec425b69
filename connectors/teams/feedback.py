"""Teams' feedback buttons (thumbs) below an answer, and the feedback of people. Pure.

Source: msteams-docs, "Add feedback buttons" (2026-08): `feedbackLoop` replaces
`feedbackLoopEnabled`; Teams refuses an activity with both.
"""

from __future__ import annotations

import json
from typing import cast

from bridge.model import Event, FeedbackGiven, Loss, Sense
from connectors.teams.activity import Activity, Json, object_of, string
from connectors.teams.rich import Body

_INVOKE = "message/submitAction"
_SENSES: dict[str, Sense] = {"like": "good", "dislike": "bad"}


def with_question(bodies: list[Body]) -> tuple[list[Body], tuple[Loss, ...]]:
    """Return the bodies, the last with thumbs below it; without bodies, a loss."""
    if not bodies:
        shown_as = "nothing: the message is empty"
        return bodies, (
            Loss(path="/", kind="feedback_not_asked", what="feedback", shown_as=shown_as),
        )
    last = bodies[-1]
    data = last.get("channelData")
    channel_data = data if isinstance(data, dict) else {}
    with_thumbs: Body = {
        **last,
        "channelData": {**channel_data, "feedbackLoop": {"type": "default"}},
    }
    return [*bodies[:-1], with_thumbs], ()


def is_feedback(json: Json) -> bool:
    """Return whether the activity is a submitted feedback form."""
    named = string(json, "type") == "invoke" and string(json, "name") == _INVOKE
    return named and string(object_of(json, "value"), "actionName") == "feedback"


def feedback_in(activity: Activity) -> Event | None:
    """Return the feedback; None if the activity names no message or no thumb."""
    target = string(activity.json, "replyToId")
    answer = object_of(object_of(activity.json, "value"), "actionValue")
    sense = _SENSES.get(string(answer, "reaction"))
    if not target or sense is None:
        return None
    return FeedbackGiven(
        **activity.event_fields(target),
        actor=activity.actor(),
        target=target,
        sense=sense,
        comment=_comment(string(answer, "feedback")),
    )


def _comment(written: str) -> str:
    """Return the comment: the form is JSON in a string."""
    try:
        form = json.loads(written)
    except ValueError:
        return written.strip()
    if not isinstance(form, dict):
        return written.strip()
    return string(cast("Json", form), "feedbackText").strip()
