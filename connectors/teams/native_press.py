"""A press -> the value that Teams would have sent to the author of the card. Pure."""

from __future__ import annotations

from typing import cast

from pydantic import JsonValue

from bridge.content.cards.interactions import Interaction
from bridge.content.cards.rendering import Payload
from connectors.teams.activity import Json, string


def native_press(payload: Payload, interaction: Interaction) -> JsonValue:
    """Return the invoke value of an Action.Execute, or the data of an Action.Submit with inputs."""
    action_json = _at(payload.data, interaction.path.removeprefix(payload.at))
    own = interaction.value if isinstance(interaction.value, dict) else {}
    data: dict[str, JsonValue] = {**own, **interaction.inputs}
    if string(action_json, "type") == "Action.Execute":
        action: JsonValue = {"type": "Action.Execute", "verb": interaction.id, "data": data}
        return {"action": action, "trigger": "manual"}
    return data


def _at(value: JsonValue, path: str) -> Json:
    for step in path.split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list):
            value = value[int(step)] if step.isdigit() and int(step) < len(value) else None
        else:
            value = value.get(step) if isinstance(value, dict) else None
    return cast("Json", value) if isinstance(value, dict) else {}
