"""Tool results in the form that an API accepts: documents as documents or as text. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable

from pydantic import JsonValue

from bridge.agents.codec.json_values import Json, arr, obj, text
from bridge.agents.codec.media import as_file_text
from bridge.content.messages.agent_parts import DOCUMENT


def with_documents(content: JsonValue, write_document: Callable[[Json], JsonValue]) -> JsonValue:
    """Return a result with its documents converted by `write_document` from their data: the
    documents in its list or in its `parts`. A result that is one document becomes a list."""
    if isinstance(content, list):
        return [_with_document(block, write_document) for block in content]
    result = obj(content)
    if isinstance(result.get("parts"), list):
        return {
            **result,
            "parts": [_with_document(part, write_document) for part in arr(result["parts"])],
        }
    converted = _with_document(content, write_document)
    return content if converted is content else [converted]


def with_document_texts(content: JsonValue) -> JsonValue:
    """Return a result with its documents as text parts, each under its title."""
    return with_documents(content, document_text)


def document_text(data: Json) -> Json:
    """Return a text part with the title and the text of a document."""
    file_text = as_file_text(text(data.get("title")), "text/plain", text(data.get("text")))
    return {"type": "text", "text": file_text}


def text_of_result(content: JsonValue) -> str:
    """Return a result as text: a string unchanged, texts and documents joined, anything else as
    JSON."""
    if isinstance(content, str):
        return content
    converted = with_document_texts(content)
    blocks = blocks_of(converted)
    if blocks and all(block.get("type") == "text" for block in blocks):
        return "\n".join(text(block.get("text")) for block in blocks)
    return json.dumps(converted, ensure_ascii=False)


def blocks_of(content: JsonValue) -> list[Json]:
    """Return the parts of a result that has nothing beside them."""
    whole = obj(content)
    return [obj(part) for part in arr(whole["parts"] if whole.keys() == {"parts"} else content)]


def _with_document(part: JsonValue, write_document: Callable[[Json], JsonValue]) -> JsonValue:
    match part:
        case {"schema_id": str(schema), "data": {"text": str()} as data} if schema == DOCUMENT:
            return write_document(data)
        case _:
            return part
