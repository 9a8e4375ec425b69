"""block_actions <-> what was pressed and filled in. Pure.

Source: docs.slack.dev "block_actions payloads" (2026-08).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pydantic import JsonValue

from bridge.content.cards.interactions import TOKEN_LENGTH, Interaction
from bridge.content.cards.json_tree import pointer
from bridge.content.cards.rendering import Payload
from bridge.model import ActionPressed, Event
from connectors.slack import ids
from connectors.slack.feedback import feedback_in
from connectors.slack.json_values import Json, object_at, objects_at, text_at
from connectors.slack.payload import Payload as Kept

_ONE = (
    "selected_date", "selected_time", "selected_user", "selected_channel",
    "selected_conversation", "value",
)  # fmt: skip
_PART = re.compile(rf"([A-Za-z0-9_-]{{{TOKEN_LENGTH}}})~\d+")
_MANY = ("selected_users", "selected_channels", "selected_conversations")


def pressed(kept: Kept) -> Event | None:
    """A press on a message; None for what is no such thing (a shortcut, a view)."""
    body = kept.body
    actions = objects_at(body, "actions")
    target = text_at(body, "message", "ts") or text_at(body, "container", "message_ts")
    user = text_at(body, "user", "id")
    if body.get("type") != "block_actions" or not actions or not ids.is_ts(target) or not user:
        return None
    first = actions[0]
    if judged := feedback_in(first, target, user, kept, object_at(body, "message")):
        return judged
    token = _own_name(text_at(first, "action_id"))
    values = _filled_in(object_at(body, "state", "values"))
    chosen = None if first.get("type") == "button" else value_of(first)
    is_known = isinstance(chosen, list) and isinstance(values.get(token), list)
    if chosen is not None and not is_known:  # of a menu in parts, `first` tells one part
        values[token] = chosen
    return ActionPressed(
        target=target, actor=ids.actor_id(kept.team, user), token=token, native=first,
        values=values, **kept.common(object_at(body, "message")),
    )  # fmt: skip


def value_of(element: Json) -> JsonValue:
    """What was chosen or written; None where nothing was."""
    for name in _ONE:
        if isinstance(element.get(name), str):
            return element[name]
    if isinstance(moment := element.get("selected_date_time"), int | float):
        return str(int(moment))
    for name in _MANY:
        if isinstance(element.get(name), list):
            return [one for one in element[name] if isinstance(one, str)]
    if isinstance(element.get("selected_option"), dict):
        return text_at(element, "selected_option", "value")
    if isinstance(element.get("selected_options"), list):
        return [text_at(one, "value") for one in objects_at(element, "selected_options")]
    return None


def native_press(payload: Payload, interaction: Interaction) -> JsonValue:
    """The `actions` and `state` that the author of these blocks would have received."""
    elements = dict(_elements(payload.data, payload.at))
    found = elements.get(interaction.path, {})
    action: dict[str, JsonValue] = {
        "type": text_at(found, "type") or "button",
        "action_id": interaction.id,
        "block_id": _block_of(payload, interaction.path),
    }
    if isinstance(interaction.value, str | int | float):
        action["value"] = str(interaction.value)
    elif interaction.value is not None:
        action["selected_options"] = interaction.value
    values: dict[str, JsonValue] = {}
    for at, element in elements.items():
        name = text_at(element, "action_id")
        if name in interaction.inputs:
            state = {"type": text_at(element, "type"), "value": interaction.inputs[name]}
            values.setdefault(_block_of(payload, at), {name: state})
    return {"type": "block_actions", "actions": [action], "state": {"values": values}}


def _filled_in(values: Json) -> dict[str, JsonValue]:
    """By the names of the inputs; None where one was left empty. A menu in several parts has what
    was chosen in all of them."""
    found: dict[str, JsonValue] = {}
    for block in values.values():
        for name, element in block.items() if isinstance(block, dict) else ():
            if isinstance(element, dict):
                own, value = _own_name(name), value_of(element)
                before = found.get(own)
                if isinstance(before, list) and isinstance(value, list):
                    found[own] = [*before, *value]
                elif before in (None, []) or value not in (None, []):
                    found[own] = value
    return found


def _own_name(name: str) -> str:
    """Without the number that the writer gives to the parts of one menu (`Writing.action_id`)."""
    part = _PART.fullmatch(name)
    return part[1] if part else name


def _elements(value: JsonValue, at: str) -> Iterator[tuple[str, Json]]:
    """Everything with an action id, by its place."""
    stack: list[tuple[str, JsonValue]] = [(at, value)]
    while stack:
        place, one = stack.pop()
        if isinstance(one, dict):
            if isinstance(one.get("action_id"), str):
                yield place, one
            stack.extend((pointer(place, key), inner) for key, inner in one.items())
        elif isinstance(one, list):
            stack.extend((pointer(place, index), inner) for index, inner in enumerate(one))


def _block_of(payload: Payload, path: str) -> str:
    """The id of the block that an element stands in."""
    steps = path.removeprefix(payload.at).split("/")
    blocks = payload.data
    index = steps[1] if len(steps) > 1 else ""
    if isinstance(blocks, list) and index.isdigit() and int(index) < len(blocks):
        return text_at(blocks[int(index)], "block_id")
    return text_at(blocks, "block_id")
