"""The card tree <-> JSON (`application/vnd.uacs.card+json`), and its JSON Schema. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

from pydantic import JsonValue, TypeAdapter, ValidationError

from bridge.content.cards import tree as card
from bridge.content.cards.fields import write_line
from bridge.content.cards.json_tree import check_nesting, pointer
from bridge.content.cards.tree import Card
from bridge.content.markdown import text_to_markdown
from bridge.errors import CodecError

SCHEMA_ID = "application/vnd.uacs.card+json"
MAX_DEPTH = 200

_CARD: TypeAdapter[Card] = TypeAdapter(Card)
_ALWAYS = frozenset(("type", "version"))
_WRITERS = {"Line": write_line, "Prosaic": text_to_markdown}


def card_from_json(value: object, at: str = "") -> Card:
    """Reads a card from parsed JSON; each node knows its place.

    Args:
        value: Parsed JSON from any source.
        at: The JSON pointer of the card in its message.

    Raises:
        CodecError: The JSON is no card; its pointer begins at the card. Nothing else is raised.
    """
    check_nesting(value, MAX_DEPTH)
    try:
        card_read = _CARD.validate_python(value)
    except ValidationError as error:
        raise _codec_error(error) from None
    for place, node in _located(card_read, ""):
        object.__setattr__(node, "at", at + place)  # the node is new and not shared yet
    return card_read


def card_to_json(written: Card) -> dict[str, JsonValue]:
    """Writes the card as JSON without default values; `card_from_json` reads the same card
    from it."""
    return _write(written)


def card_schema() -> dict[str, Any]:
    """Returns the JSON Schema (2020-12) of a card."""
    schema: dict[str, Any] = _clean(_CARD.json_schema())
    for kind in schema["$defs"].values():
        if "type" in kind.get("properties", ()):
            kind["required"] = ["type", *kind.get("required", [])]
    node = schema["properties"]["nodes"]["items"]
    shared = _with_reference(schema, node, {"$ref": "#/$defs/Node"})
    shared["$defs"]["Node"] = node
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": SCHEMA_ID, **shared}


def _clean(value: Any) -> Any:
    """pydantic's schema in JSON's terms, with strings where a string is short for a prose node."""
    if isinstance(value, list):
        return [_clean(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    cleaned = {name: _clean(inner) for name, inner in value.items() if not _is_noise(name, inner)}
    if {"$ref": "#/$defs/Prose"} in cleaned.get("oneOf", ()):
        cleaned["oneOf"].append({"type": "string", "description": "UACS Markdown: a prose node."})
    if "contentMediaType" in cleaned and cleaned.get("default") == []:
        cleaned["default"] = ""
    return cleaned


def _with_reference(value: Any, shared: Any, reference: Any) -> Any:
    if value == shared:
        return reference
    if isinstance(value, list):
        return [_with_reference(inner, shared, reference) for inner in value]
    if isinstance(value, dict):
        return {name: _with_reference(inner, shared, reference) for name, inner in value.items()}
    return value


def _is_noise(name: str, value: object) -> bool:
    return name == "discriminator" or (name == "title" and isinstance(value, str))


def _codec_error(error: ValidationError) -> CodecError:
    fault = error.errors(include_url=False, include_input=False)[0]
    kinds = _kinds()
    steps = [step for step in fault["loc"] if step not in kinds]
    return CodecError(pointer("", *steps), fault["msg"])


@cache
def _kinds() -> frozenset[str]:
    """The names of node types, which pydantic includes in the steps of a path."""
    classes = (member for member in vars(card).values() if is_dataclass(member))
    return frozenset(
        str(field.default)
        for node_class in classes
        for field in fields(node_class)
        if field.name == "type"
    )


def _located(value: object, at: str) -> Iterator[tuple[str, object]]:
    if isinstance(value, tuple):
        for index, item in enumerate(value):
            yield from _located(item, f"{at}/{index}")
    elif is_dataclass(value) and type(value).__module__ == card.__name__:
        for name, _, writer in _fields(type(value)):
            if name == "at":
                yield at, value
            elif writer is None:
                yield from _located(getattr(value, name), f"{at}/{name}")


def _write(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_write(item) for item in value]
    if not is_dataclass(value):
        return value
    members: dict[str, Any] = {}
    for name, default, writer in _fields(type(value)):
        inner = getattr(value, name)
        if name == "at" or (name not in _ALWAYS and inner == default):
            continue
        members[name] = writer(inner) if writer else _write(inner)
    return members


@cache
def _fields(kind: type) -> list[tuple[str, object, Any]]:
    """Name, default and, for text, writer of each field; `type` is first."""
    described: list[tuple[str, object, Any]] = []
    for field in sorted(fields(kind), key=lambda field: field.name != "type"):
        writer = _WRITERS.get(str(field.type))
        described.append((field.name, field.default, writer))
    return described
