"""The models -> one draft-07 JSON Schema, whose definitions are equivalent to the seed's.

`python -m bridge.uacs.json_schema` prints it; a test compares it with `docs/uacs.schema.json`.
"""

from __future__ import annotations

import sys
from typing import Any

import orjson
from pydantic.json_schema import models_json_schema

from bridge.uacs.conversation import Conversation
from bridge.uacs.parts import PART_TYPES

JsonSchema = dict[str, Any]

_NAMES = (
    "Conversation",
    "Message",
    "Actor",
    "ContentPart",
    "TextPart",
    "MediaSource",
    "ImagePart",
    "VideoPart",
    "AudioPart",
    "FilePart",
    "ToolCallPart",
    "ToolResultPart",
    "StructuredDataPart",
    "RequestedResponseFormatPart",
    "UnknownPart",
)


def uacs_json_schema() -> JsonSchema:
    """Returns the draft-07 schema: the seed's definitions in their order, and `UnknownPart` for
    other types (seed, section VI)."""
    _, generated = models_json_schema(
        [(Conversation, "validation")], ref_template="#/definitions/{model}"
    )
    definitions = {name: _plain(schema) for name, schema in generated["$defs"].items()}
    content = definitions["Message"]["properties"]["content"]
    definitions["ContentPart"] = content["items"]
    content["items"] = {"$ref": "#/definitions/ContentPart"}
    for part in PART_TYPES.values():
        definitions[part.__name__]["required"].insert(0, "type")
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Universal AI Conversation Schema (UACS)",
        "description": "A standard abstraction for multimodal, multi-agent AI conversations.",
        "type": "object",
        "properties": {"Conversation": {"$ref": "#/definitions/Conversation"}},
        "definitions": {name: definitions[name] for name in _NAMES},
    }


def json_schema_text() -> bytes:
    """Returns the schema as indented UTF-8 JSON, as `docs/uacs.schema.json` contains it."""
    options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    return orjson.dumps(uacs_json_schema(), option=options)


def _plain(definition: JsonSchema) -> JsonSchema:
    """The definition without what pydantic adds and a reader does not need: titles, defaults of
    absence."""
    summary, _, _ = str(definition["description"]).partition("\n\n")
    properties = {name: _property(schema) for name, schema in definition["properties"].items()}
    rest = {key: definition[key] for key in ("required", "oneOf") if key in definition}
    return {
        "type": "object",
        "description": " ".join(summary.split()),
        "properties": properties,
        **rest,
    }


def _property(schema: JsonSchema) -> JsonSchema:
    no_default = "const" in schema or schema.get("default", "") is None
    dropped = {"title", "default"} if no_default else {"title"}
    return {key: value for key, value in schema.items() if key not in dropped}


if __name__ == "__main__":
    schema = orjson.dumps(
        uacs_json_schema(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    )
    sys.stdout.buffer.write(schema)
