"""What a tool answered, as APIs are told it: documents as documents or as their text. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable

from pydantic import JsonValue

from bridge.agents.codec.json_values import Json, arr, obj, text
from bridge.agents.codec.media import as_file_text
from bridge.content.messages.agent_parts import DOCUMENT


def with_documents(content: JsonValue, written: Callable[[Json], JsonValue]) -> JsonValue:
    """A result in which documents are `written` anew, from their data: those among its parts, in a
    list or below `parts`. A result that is a document becomes a list of one."""
    if isinstance(content, list):
        return [_written(block, written) for block in content]
    whole = obj(content)
    if isinstance(whole.get("parts"), list):
        return {**whole, "parts": [_written(part, written) for part in arr(whole["parts"])]}
    told = _written(content, written)
    return content if told is content else [told]


def with_document_texts(content: JsonValue) -> JsonValue:
    """A result in which documents are parts of text, each under its title."""
    return with_documents(content, document_text)


def document_text(data: Json) -> Json:
    """A part of text, with the title and the text of a document."""
    shown = as_file_text(text(data.get("title")), "text/plain", text(data.get("text")))
    return {"type": "text", "text": shown}


def text_of_result(content: JsonValue) -> str:
    """A string as it is, texts and documents joined, all else as JSON."""
    if isinstance(content, str):
        return content
    told = with_document_texts(content)
    blocks = blocks_of(told)
    if blocks and all(block.get("type") == "text" for block in blocks):
        return "\n".join(text(block.get("text")) for block in blocks)
    return json.dumps(told, ensure_ascii=False)


def blocks_of(content: JsonValue) -> list[Json]:
    """The parts of a result that has nothing beside them."""
    whole = obj(content)
    return [obj(part) for part in arr(whole["parts"] if whole.keys() == {"parts"} else content)]


def _written(part: JsonValue, written: Callable[[Json], JsonValue]) -> JsonValue:
    match part:
        case {"schema_id": str(schema), "data": {"text": str()} as data} if schema == DOCUMENT:
            return written(data)
        case _:
            return part
