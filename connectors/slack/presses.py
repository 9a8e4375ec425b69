"""block_actions -> the pressed action with the filled-in values. Pure.

Source: docs.slack.dev "block_actions payloads" (2026-08).
"""

from __future__ import annotations

import re

from pydantic import JsonValue

from bridge.content.cards.interactions import TOKEN_LENGTH
from bridge.model import ActionPressed, Event
from connectors.slack import ids
from connectors.slack.feedback import feedback_in
from connectors.slack.json_values import Json, object_at, objects_at, text_at
from connectors.slack.payload import Payload

_SINGLE_VALUES = (
    "selected_date", "selected_time", "selected_user", "selected_channel",
    "selected_conversation", "value",
)  # fmt: skip
_PART = re.compile(rf"([A-Za-z0-9_-]{{{TOKEN_LENGTH}}})~\d+")
_MANY = ("selected_users", "selected_channels", "selected_conversations")


def pressed(message_payload: Payload) -> Event | None:
    """The event of a press on a message; None for other interactions (a shortcut, a view)."""
    body = message_payload.body
    actions = objects_at(body, "actions")
    target = text_at(body, "message", "ts") or text_at(body, "container", "message_ts")
    user = text_at(body, "user", "id")
    if body.get("type") != "block_actions" or not actions or not ids.is_ts(target) or not user:
        return None
    first = actions[0]
    if judged := feedback_in(first, target, user, message_payload, object_at(body, "message")):
        return judged
    token = _own_name(text_at(first, "action_id"))
    values = _filled_in(object_at(body, "state", "values"))
    chosen = None if first.get("type") == "button" else value_of(first)
    is_known = isinstance(chosen, list) and isinstance(values.get(token), list)
    if chosen is not None and not is_known:  # `first` has only one part of a menu that was split
        values[token] = chosen
    return ActionPressed(
        target=target, actor=ids.actor_id(message_payload.team, user), token=token, native=first,
        values=values, **message_payload.common(object_at(body, "message")),
    )  # fmt: skip


def value_of(element: Json) -> JsonValue:
    """The chosen or entered value of an element; None when it is empty."""
    for name in _SINGLE_VALUES:
        if isinstance(element.get(name), str):
            return element[name]
    if isinstance(moment := element.get("selected_date_time"), int | float):
        return str(int(moment))
    for name in _MANY:
        if isinstance(element.get(name), list):
            return [item for item in element[name] if isinstance(item, str)]
    if isinstance(element.get("selected_option"), dict):
        return text_at(element, "selected_option", "value")
    if isinstance(element.get("selected_options"), list):
        return [text_at(item, "value") for item in objects_at(element, "selected_options")]
    return None


def _filled_in(values: Json) -> dict[str, JsonValue]:
    """The values by the names of the inputs; None for an empty input.

    A menu that was split into parts has the choices of all of them.
    """
    inputs: dict[str, JsonValue] = {}
    for block in values.values():
        for name, element in block.items() if isinstance(block, dict) else ():
            if isinstance(element, dict):
                own, value = _own_name(name), value_of(element)
                before = inputs.get(own)
                if isinstance(before, list) and isinstance(value, list):
                    inputs[own] = [*before, *value]
                elif before in (None, []) or value not in (None, []):
                    inputs[own] = value
    return inputs


def _own_name(name: str) -> str:
    """The name without the number that the writer adds to each part of a split menu
    (`Writing.action_id`)."""
    part = _PART.fullmatch(name)
    return part[1] if part else name
