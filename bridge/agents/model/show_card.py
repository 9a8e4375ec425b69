"""`show_card`: a tool with which any model shows buttons and forms. Pure.

In: the arguments of a call. Out: a card for all platforms, or the error for the model. A model's
card shows where its links lead, and nothing is fetched for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, cast

import orjson
from pydantic import JsonValue, ValidationError

from bridge.agents.codec.json_values import Json
from bridge.agents.codec.schemas import schema_violation
from bridge.content.cards.interactions import SCHEMA_ID as INTERACTION
from bridge.content.cards.interactions import Interaction, describe_interaction
from bridge.content.cards.json import SCHEMA_ID, card_from_json, card_schema, card_to_json
from bridge.content.cards.tree import Button
from bridge.content.messages.metadata import BridgeMetadata, with_bridge_metadata
from bridge.content.messages.tool_names import SHOW_CARD
from bridge.content.safety.link_targets import with_visible_targets
from bridge.errors import CodecError
from bridge.uacs import (
    Conversation,
    JsonTree,
    Message,
    StructuredDataPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)

# Elements that a model may use. No pictures: they would be fetched from an address of its choice.
_ELEMENTS = (
    "Prose", "Table", "Divider", "Fields", "Alert", "Progress", "Container", "Actions", "Button",
    "TextInput", "NumberInput", "DateInput", "Toggle", "Choice",
)  # fmt: skip
_ACTIONS = ("press", "submit")
_FORBIDDEN = frozenset(("link", "url", "icon", "targets", "source", "external"))
_NOISE = frozenset(("default", "contentMediaType", "$schema", "$id"))
_DESCRIPTION = (
    "Shows people a card with buttons, menus and input fields, beside what you say. Give every "
    "button and input an `id` of yours. A string among the nodes is text in Markdown. A button "
    "that `does` `submit` sends all inputs with it. When somebody presses a button you are told "
    "who, which, and what was filled in, as the next message; so end your answer after showing it."
)
_CARD_IS_SHOWN = (
    "The card is shown. You are told when somebody presses a button; do not wait for it."
)


def show_card_tool() -> Json:
    """Return the tool's description for `metadata.tools`: the schema of the neutral card without
    elements that a model may not use."""
    parameters = cast("JsonValue", _parameters())
    return {"name": SHOW_CARD, "description": _DESCRIPTION, "parameters": parameters}


def card_of_call(call: ToolCallPart) -> tuple[StructuredDataPart | None, ToolResultPart]:
    """Return the card, or None if it is invalid, and the tool result for the model."""
    arguments = {"type": "card", **dict(call.arguments)}
    try:
        card = card_from_json(arguments)
    except CodecError as error:
        return None, _rejection(call, f"at {error.pointer or '/'}: {error.reason}")
    violation = _violation(card) or schema_violation(dict(call.arguments), _parameters())
    if violation:
        return None, _rejection(call, violation)
    data = cast("JsonTree", card_to_json(with_visible_targets(card)))
    part = StructuredDataPart(schema_id=SCHEMA_ID, data=data)
    return part, ToolResultPart(tool_call_id=call.id, content=_CARD_IS_SHOWN)


def with_presses(room: Conversation) -> Conversation:
    """Return the room with presses described by the ids and values that the card's author knows."""
    messages = tuple(_press(message) for message in room.messages)
    return room.model_copy(update={"messages": messages})


def _press(message: Message) -> Message:
    first = message.content[0]
    if not isinstance(first, StructuredDataPart) or first.schema_id != INTERACTION:
        return message
    try:
        press = Interaction.model_validate(first.data)
    except ValidationError:
        return message
    values = {"id": press.id, "value": press.value, "inputs": press.inputs, "card": press.message}
    text = f"{press.kind} {describe_interaction(press)}\n{orjson.dumps(values).decode()}"
    part = TextPart(text=text, format="plain")
    return with_bridge_metadata(message.model_copy(update={"content": (part,)}), BridgeMetadata())


def _rejection(call: ToolCallPart, violation: str) -> ToolResultPart:
    reason = f"The card was not shown; {violation}. Mend it and call {SHOW_CARD} again."
    return ToolResultPart(tool_call_id=call.id, content=reason, is_error=True)


def _violation(card: object) -> str | None:
    """Return what is not allowed in a model's card; None if nothing is."""
    ids: set[str] = set()
    if not getattr(card, "nodes", ()):
        return "at /nodes: it is empty"
    for node in _nodes(card):
        kind = type(node).__name__
        pointer = getattr(node, "at", "") or "/"
        if getattr(node, "type", None) is not None and kind not in (*_ELEMENTS, "Card"):
            return f"at {pointer}: {node.type!r} cannot be shown; there are {', '.join(_types())}"
        if isinstance(node, Button) and node.does not in _ACTIONS:
            return f"at {pointer}/does: a button can {' or '.join(_ACTIONS)}; write links as text"
        if (own_id := getattr(node, "id", "")) and kind != "Container":
            if own_id in ids:
                return f"at {pointer}/id: {own_id!r} stands twice"
            ids.add(own_id)
    return None


def _nodes(value: Any) -> Iterator[Any]:
    if isinstance(value, tuple):
        for item in value:
            yield from _nodes(item)
    elif is_dataclass(value) and not isinstance(value, type):
        yield value
        for field in fields(value):
            yield from _nodes(getattr(value, field.name))


def _types() -> list[str]:
    schema = card_schema()["$defs"]
    return [schema[kind]["properties"]["type"]["const"] for kind in _ELEMENTS]


@cache
def _parameters() -> dict[str, Any]:
    schema = card_schema()
    names = schema["$defs"]
    available = {name: names[name] for name in (*_ELEMENTS, *_HELPERS) if name in names}
    dropped = names.keys() - available.keys() - {"Node"}
    choices = [choice for choice in names["Node"]["oneOf"] if not _refers(choice, dropped)]
    available["Node"] = {"anyOf": choices}
    listed = {"type": "array", "items": {"$ref": "#/$defs/Node"}, "minItems": 1}
    definitions: dict[str, Any] = {
        name: _plain(value, dropped) for name, value in available.items()
    }
    definitions["Button"]["properties"]["does"] = {"enum": list(_ACTIONS)}
    return {
        "type": "object",
        "properties": {"nodes": listed, "summary": {"type": "string"}},
        "required": ["nodes"],
        "$defs": definitions,
    }


_HELPERS = ("LabelledValue", "Option", "Confirm", "JsonValue")


def _refers(value: object, names: Any) -> bool:
    if isinstance(value, dict):
        ref = value.get("$ref")
        if isinstance(ref, str) and ref.rpartition("/")[2] in names:
            return True
        return any(_refers(inner, names) for inner in value.values())
    return isinstance(value, list) and any(_refers(item, names) for item in value)


def _plain(value: Any, dropped: Any) -> Any:
    """Remove defaults and references to kinds that are not available."""
    if isinstance(value, list):
        return [_plain(item, dropped) for item in value if not _refers(item, dropped)]
    if not isinstance(value, dict):
        return value
    plain: dict[str, Any] = {}
    for key, member in value.items():
        if key in _NOISE and not isinstance(member, dict):
            continue
        if key == "properties":
            properties = {
                name: p
                for name, p in member.items()
                if name not in _FORBIDDEN and not _refers(p, dropped)
            }
            plain[key] = {name: _plain(p, dropped) for name, p in properties.items()}
        else:
            plain["anyOf" if key == "oneOf" else key] = _plain(member, dropped)
    return plain
