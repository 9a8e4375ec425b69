"""A press -> the `block_actions` payload that Slack would send to the blocks' author. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import JsonValue

from bridge.content.cards.interactions import Interaction
from bridge.content.cards.json_tree import pointer
from bridge.content.cards.rendering import Payload
from connectors.slack.json_values import Json, text_at


def native_press(payload: Payload, interaction: Interaction) -> JsonValue:
    """The `actions` and `state` members that the author of these blocks would receive."""
    elements = dict(_elements(payload.data, payload.at))
    pressed = elements.get(interaction.path, {})
    action: dict[str, JsonValue] = {
        "type": text_at(pressed, "type") or "button",
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


def _elements(value: JsonValue, at: str) -> Iterator[tuple[str, Json]]:
    """Every element with an action_id, by its JSON pointer."""
    stack: list[tuple[str, JsonValue]] = [(at, value)]
    while stack:
        place, item = stack.pop()
        if isinstance(item, dict):
            if isinstance(item.get("action_id"), str):
                yield place, item
            stack.extend((pointer(place, key), inner) for key, inner in item.items())
        elif isinstance(item, list):
            stack.extend((pointer(place, index), inner) for index, inner in enumerate(item))


def _block_of(payload: Payload, path: str) -> str:
    """The block_id of the block that has the element."""
    steps = path.removeprefix(payload.at).split("/")
    blocks = payload.data
    index = steps[1] if len(steps) > 1 else ""
    if isinstance(blocks, list) and index.isdigit() and int(index) < len(blocks):
        return text_at(blocks[int(index)], "block_id")
    return text_at(blocks, "block_id")
