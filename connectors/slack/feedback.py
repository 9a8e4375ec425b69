"""Slack's feedback buttons below an answer, and the event of a press on them. Pure.

Source: docs.slack.dev "Feedback buttons element", "Context actions block" (2026-08). Slack shows
blocks instead of a message's text, so the text is written as blocks, too.
"""

from __future__ import annotations

from collections.abc import Callable

from pydantic import JsonValue

from bridge.content.cards.bodies import Body
from bridge.model import Event, FeedbackGiven, Loss
from connectors.slack import ids
from connectors.slack.capabilities import BLOCKS_PER_MESSAGE
from connectors.slack.json_values import Json, text_at
from connectors.slack.payload import Payload

ELEMENT = "feedback_buttons"
_ACTION = "bridge.feedback"
_GOOD, _BAD = "good", "bad"


def with_question(
    bodies: list[Body], sections_of: Callable[[str], list[str]]
) -> tuple[list[Body], tuple[Loss, ...]]:
    """Add the buttons below the last of the bodies that has content.

    `sections_of` splits a text into parts that fit section blocks. Returns the bodies, and a Loss
    when the buttons do not fit.
    """
    at = max((n for n, body in enumerate(bodies) if body.content), default=None)
    if at is None:
        return bodies, (_question_loss("the message is empty"),)
    content = bodies[at].content
    blocks = content.get("blocks")
    shown_blocks = list(blocks) if isinstance(blocks, list) else []
    if not shown_blocks:
        shown_blocks = [_section(section) for section in sections_of(str(content.get("text", "")))]
    if len(shown_blocks) >= BLOCKS_PER_MESSAGE:
        return bodies, (_question_loss("the message has the maximum number of blocks"),)
    with_buttons = Body({**content, "blocks": [*shown_blocks, _question()]}, bodies[at].files)
    return [*bodies[:at], with_buttons, *bodies[at + 1 :]], ()


def feedback_in(
    action: Json, target: str, user: str, message_payload: Payload, post: Json
) -> Event | None:
    """The feedback that an action is; None when the action belongs to another element."""
    value = text_at(action, "value")
    ours = action.get("type") == ELEMENT and text_at(action, "action_id") == _ACTION
    if not ours or value not in (_GOOD, _BAD):
        return None
    return FeedbackGiven(
        target=target,
        actor=ids.actor_id(message_payload.team, user),
        sense="good" if value == _GOOD else "bad",
        **message_payload.common(post),
    )


def _question() -> JsonValue:
    return {
        "type": "context_actions",
        "elements": [
            {
                "type": ELEMENT,
                "action_id": _ACTION,
                "positive_button": _button("👍", _GOOD, "Good answer"),
                "negative_button": _button("👎", _BAD, "Bad answer"),
            }
        ],
    }


def _button(sign: str, value: str, label: str) -> JsonValue:
    text: JsonValue = {"type": "plain_text", "text": sign, "emoji": True}
    return {"text": text, "value": value, "accessibility_label": label}


def _section(text: str) -> JsonValue:
    text_object: JsonValue = {"type": "mrkdwn", "text": text, "verbatim": True}
    return {"type": "section", "text": text_object, "expand": True}


def _question_loss(reason: str) -> Loss:
    return Loss(path="/", kind="feedback_not_asked", what="feedback", shown_as=f"nothing: {reason}")
