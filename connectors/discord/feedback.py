"""The two feedback buttons below an answer, and the feedback that a press gives. Pure.

Source: Discord docs, "Component Reference" (2026-08).
"""

from __future__ import annotations

from typing import Any

from pydantic import JsonValue

from bridge.content.cards.bodies import Body
from bridge.model import Loss, Sense
from connectors.discord.cards.schemas import ACTION_ROW, BUTTON

_PREFIX = "bridge.feedback:"
_SENSES: dict[str, Sense] = {f"{_PREFIX}good": "good", f"{_PREFIX}bad": "bad"}
_MAX_ROWS, _MAX_COMPONENTS = 5, 40
_SECONDARY = 2


def with_question(bodies: list[Body]) -> tuple[list[Body], tuple[Loss, ...]]:
    """Return the bodies with feedback buttons below the last one, and the losses.

    Without a body, or without room for more components, the bodies stay and a Loss says why.
    """
    if not bodies:
        return bodies, (_not_asked_loss("it says nothing"),)
    last = bodies[-1]
    components = last.content.get("components")
    components_before = list(components) if isinstance(components, list) else []
    in_v2 = "flags" in last.content
    full = (
        _count(components_before) > _MAX_COMPONENTS - 3
        if in_v2
        else len(components_before) >= _MAX_ROWS
    )
    if full:
        return bodies, (_not_asked_loss("it has as many components as a message may have"),)
    content: dict[str, JsonValue] = {
        **last.content,
        "components": [*components_before, _question()],
    }
    return [*bodies[:-1], Body(content, last.files)], ()


def sense_of(data: dict[str, Any]) -> Sense | None:
    """Return the feedback that a press gives; None for a press on any other button."""
    press = data.get("data")
    custom_id = press.get("custom_id") if isinstance(press, dict) else None
    return _SENSES.get(str(custom_id))


def _question() -> JsonValue:
    buttons: list[JsonValue] = [
        {"type": BUTTON, "style": _SECONDARY, "custom_id": name, "emoji": {"name": sign}}
        for name, sign in zip(_SENSES, "👍👎", strict=True)
    ]
    return {"type": ACTION_ROW, "components": buttons}


def _count(components: list[JsonValue]) -> int:
    """Return the number of components, nested components included."""
    count, waiting = 0, list(components)
    while waiting:
        component = waiting.pop()
        if isinstance(component, dict):
            count += 1
            for name in ("components", "accessory"):
                inner = component.get(name)
                waiting += inner if isinstance(inner, list) else [inner]
    return count


def _not_asked_loss(reason: str) -> Loss:
    return Loss(path="/", kind="feedback_not_asked", what="feedback", shown_as=f"nothing: {reason}")
