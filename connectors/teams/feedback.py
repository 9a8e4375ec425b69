"""Teams' own thumbs below an answer, and what people say by them. Pure.

Source: msteams-docs, "Add feedback buttons" (2026-08): `feedbackLoop` has taken the place of
`feedbackLoopEnabled`; an activity with both is refused.
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
    """The bodies with the thumbs below the last one, if there is one."""
    if not bodies:
        why = "nothing: it says nothing"
        return bodies, (Loss(path="/", kind="feedback_not_asked", what="feedback", shown_as=why),)
    last = bodies[-1]
    data = last.get("channelData")
    channel_data = data if isinstance(data, dict) else {}
    with_thumbs: Body = {
        **last,
        "channelData": {**channel_data, "feedbackLoop": {"type": "default"}},
    }
    return [*bodies[:-1], with_thumbs], ()


def is_feedback(json: Json) -> bool:
    """Somebody pressed a thumb, and sent the form that Teams shows then."""
    named = string(json, "type") == "invoke" and string(json, "name") == _INVOKE
    return named and string(object_of(json, "value"), "actionName") == "feedback"


def feedback_in(activity: Activity) -> Event | None:
    """None where no message is named, or neither thumb."""
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
    """The form comes as JSON in a text."""
    try:
        form = json.loads(written)
    except ValueError:
        return written.strip()
    if not isinstance(form, dict):
        return written.strip()
    return string(cast("Json", form), "feedbackText").strip()
