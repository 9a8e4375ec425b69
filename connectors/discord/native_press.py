"""A press -> the interaction that Discord would send to the payload's author. Pure."""

from __future__ import annotations

from pydantic import JsonValue

from bridge.content.cards.interactions import Interaction
from bridge.content.cards.rendering import Payload

_PRESS, _SUBMISSION = 3, 5  # types of interactions
_BUTTON, _STRING_SELECT, _TEXT_INPUT, _LABEL = 2, 3, 4, 18


def native_press(payload: Payload, interaction: Interaction) -> JsonValue:
    """Return the interaction of a button or menu; with inputs, of a submitted modal."""
    del payload
    data: dict[str, JsonValue] = {"custom_id": interaction.id, "component_type": _BUTTON}
    if interaction.kind == "chosen":
        value = interaction.value
        chosen: list[JsonValue] = list(value) if isinstance(value, list) else [value]
        data |= {"component_type": _STRING_SELECT, "values": chosen}
    if not interaction.inputs:
        return {"type": _PRESS, "data": data}
    fields: list[JsonValue] = [
        {"type": _LABEL, "component": {"type": _TEXT_INPUT, "custom_id": name, "value": value}}
        for name, value in interaction.inputs.items()
    ]
    return {"type": _SUBMISSION, "data": {"custom_id": interaction.id, "components": fields}}
