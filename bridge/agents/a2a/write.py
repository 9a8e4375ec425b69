"""UACS -> A2A 1.0: a conversation as one message, an answer as the task that would have given it.
Pure JSON.

Lost: instructions, tools and answer formats, which A2A does not have; the agent's own tool calls
and reasoning. Files without bytes or address become text. Each is a `Loss`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import orjson
from pydantic import JsonValue

from bridge.agents.codec.json_values import Json, obj, patched, text
from bridge.agents.codec.native_parts import Piece, pieces_of, reasoning_text
from bridge.agents.codec.prompt import (
    PromptEntry,
    WrittenRequest,
    no_format,
    no_instructions,
    piece_as_text,
    prompt_of,
    request_settings,
    stored_response,
)
from bridge.agents.turn.server_memory import without_memory
from bridge.content.messages.agent_parts import CITATIONS, DOCUMENT, VALUE
from bridge.content.messages.parts import MediaPart
from bridge.model import Loss
from bridge.uacs import (
    Conversation,
    Message,
    RequestedResponseFormatPart,
    StructuredDataPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    write,
)

API = "a2a"
JSON = "application/json"


def write_request(conversation: Conversation, agent: str) -> WrittenRequest:
    """Return the params of `SendMessage`: all entries in one message, each under its author's
    name."""
    prompt = prompt_of(conversation, agent, API)
    body = request_settings(conversation, agent, API)
    rest = obj(body.pop("message", None))
    parts: list[JsonValue] = []
    for entry in prompt.entries:
        if entry.role == "instructions":
            prompt.losses.append(no_instructions(entry))
        else:
            parts += _entry_parts(entry, agent, prompt.losses)
    if prompt.response_format is not None:
        prompt.losses.append(no_format())
    message: JsonValue = patched({"role": "ROLE_USER", "parts": parts}, rest)
    return WrittenRequest({**body, "message": message}, tuple(prompt.losses))


def _entry_parts(entry: PromptEntry, agent: str, losses: list[Loss]) -> list[JsonValue]:
    """Return the parts of an entry. The agent's own messages are sent, too: its server may have
    forgotten them."""
    own = entry.role in ("agent", "tool")
    header = f'[from "{agent}" (you)]' if own else entry.header
    parts = list(_parts(entry, entry.pieces, losses))
    if not header or not parts:
        return list(parts)
    first = parts[0]
    if first.keys() == {"text"}:
        return [_text(f"{header}\n{text(first['text'])}"), *parts[1:]]
    return [_text(header), *parts]


def write_response(message: Message, agent: str) -> Json:
    """Return the task, or the message, that would have given this answer."""
    pieces = pieces_of(without_memory(message), API, [], "")
    rest = stored_response(message, agent, API)
    entry = PromptEntry("agent", ())
    artifacts: list[JsonValue] = []
    reply: JsonValue = None
    run: list[Piece] = []
    for piece in pieces:
        if piece.message is None:
            run.append(piece)
            continue
        content: Json = {"parts": list(_parts(entry, run, []))}
        run = []
        if "artifact" in piece.message:
            artifacts.append(patched(content, piece.message["artifact"]))
        else:
            reply = patched({"role": "ROLE_AGENT", **content}, piece.message.get("said") or {})
    if trailing_parts := list(_parts(entry, run, [])):
        reply = {"role": "ROLE_AGENT", "parts": list[JsonValue](trailing_parts)}
    if "message" in rest or not ("task" in rest or artifacts):
        return {"message": reply}
    task = obj(rest.get("task"))
    if reply is not None:
        task["status"] = {**obj(task.get("status")), "message": reply}
    return {"task": {**task, **({"artifacts": artifacts} if artifacts else {})}}


def message_parts(message: Message) -> list[Json]:
    """Return the parts of a message that somebody else reads: without private state."""
    return list(_parts(PromptEntry("agent", ()), pieces_of(message, API, [], ""), []))


def _parts(entry: PromptEntry, pieces: Sequence[Piece], losses: list[Loss]) -> Iterator[Json]:
    for piece in pieces:
        if piece.part is None:
            if piece.item is not None:
                yield obj(piece.item)
        elif native_part := part_of(piece, entry, losses):
            yield obj(piece.restored(native_part))


def part_of(piece: Piece, entry: PromptEntry, losses: list[Loss]) -> Json | None:
    """Return a part of the protocol; None if the piece has no content for it."""
    match piece.part:
        case TextPart(text=words):
            return _text(entry.text(words)) if words or piece.fields else None
        case part if isinstance(part, MediaPart):
            return _media(piece, part, entry, losses)
        case RequestedResponseFormatPart():
            return None
        case ToolCallPart() | ToolResultPart() if entry.role != "user":
            losses.append(Loss(path=piece.path, kind="own_tools", what="its calls of tools"))
            return None
        case StructuredDataPart(schema_id=schema) if schema == CITATIONS and entry.role == "agent":
            markdown = piece_as_text(piece, losses)
            return _text(markdown) if markdown else None
        case part if reasoning_text(part) is not None:
            losses.append(Loss(path=piece.path, kind="reasoning", what="thoughts of earlier"))
            return None
        case StructuredDataPart(schema_id=schema) as part if schema != DOCUMENT:
            named: Json = {} if schema == VALUE else {"mediaType": schema}
            return {"data": entry.data(orjson.loads(write(part))["data"]), **named}
        case _:
            markdown = piece_as_text(piece, losses)
            return _text(entry.text(markdown)) if markdown else None


def _text(words: str) -> Json:
    return {"text": words}


def _media(piece: Piece, part: MediaPart, entry: PromptEntry, losses: list[Loss]) -> Json | None:
    source = part.source
    named: Json = {"filename": name} if (name := entry.file_name(piece)) else {}
    if source.base64 is not None:
        return {"raw": source.base64, "mediaType": part.media_type, **named}
    if source.url:
        return {"url": source.url, "mediaType": part.media_type, **named}
    markdown = piece_as_text(piece, losses, "its bytes are not here")
    return _text(entry.text(markdown)) if markdown else None
