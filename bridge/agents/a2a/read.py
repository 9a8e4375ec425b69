"""A part of an A2A 1.0 message or artifact -> UACS parts. Pure."""

from __future__ import annotations

from typing import cast

from pydantic import JsonValue

from bridge.agents.a2a import write
from bridge.agents.a2a.write import API, JSON
from bridge.agents.codec.json_values import Json, obj, patch_of, text
from bridge.agents.codec.media import guessed_type, media_part, seen_type, url_source
from bridge.agents.codec.native_parts import Piece, state
from bridge.agents.codec.prompt import PromptEntry
from bridge.content.messages.agent_parts import VALUE
from bridge.uacs import (
    ContentPart,
    JsonTree,
    MediaSource,
    StructuredDataPart,
    TextPart,
)

_ENTRY = PromptEntry("agent", ())
_BYTES = "application/octet-stream"
_PRIVATE = frozenset(
    ("application/vnd.uacs.reasoning+json", "application/vnd.uacs.agent-state+json")
)


def part_parts(native: JsonValue) -> list[ContentPart]:
    """Return the UACS parts of a part; one without a UACS equivalent is stored as it is."""
    block = obj(native)
    part = _part(block)
    if part is None:
        return [state(API, item=native)]
    patch = patch_of(write.part_of(Piece("", part), _ENTRY, []) or {}, block)
    return [part, state(API, fields=patch)] if patch else [part]


def _part(block: Json) -> ContentPart | None:
    kind = text(block.get("mediaType"))
    name = text(block.get("filename"))
    match block:
        case {"text": str(words)}:
            return TextPart(text=words)
        case {"raw": str(content)}:
            media_type = kind or guessed_type(name, _BYTES)
            media_type = media_type if media_type != _BYTES else seen_type(content, _BYTES)
            return media_part(MediaSource(base64=content), media_type)
        case {"url": str(url)}:
            source = url_source(url)
            return media_part(source, kind or guessed_type(name or url, _BYTES)) if source else None
        case {"data": data} if kind not in _PRIVATE:
            tree = data if isinstance(data, (dict, list)) else {"value": data}
            schema_id = kind if kind not in ("", JSON) else VALUE
            return StructuredDataPart(schema_id=schema_id, data=cast("JsonTree", tree))
        case _:
            return None
