"""UACS -> A2A 1.0: a conversation as the message that is sent, a message as the task that would
have said it. Pure JSON, as the protocol has it.

Lost: instructions, tools and wanted formats, for which A2A has no place; the agent's own calls of
tools and thoughts; files of which there are neither bytes nor an address become text. All of it is
told in `Loss`es.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import orjson
from pydantic import JsonValue

from bridge.agents.codec.json_values import Json, obj, patched, text
from bridge.agents.codec.native_parts import Piece, pieces_of, reasoning_text
from bridge.agents.codec.prompt import (
    PromptEntry,
    WrittenRequest,
    as_text,
    no_format,
    no_instructions,
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
    """The params of `SendMessage`: all lines are one message, each under who said it."""
    prompt = prompt_of(conversation, agent, API)
    body = request_settings(conversation, agent, API)
    rest = obj(body.pop("message", None))
    parts: list[JsonValue] = []
    for entry in prompt.entries:
        if entry.role == "instructions":
            prompt.losses.append(no_instructions(entry))
        else:
            parts += _entry(entry, agent, prompt.losses)
    if prompt.response_format is not None:
        prompt.losses.append(no_format())
    message: JsonValue = patched({"role": "ROLE_USER", "parts": parts}, rest)
    return WrittenRequest({**body, "message": message}, tuple(prompt.losses))


def _entry(entry: PromptEntry, agent: str, losses: list[Loss]) -> list[JsonValue]:
    """Its own words, too: what a server was told before, it may have forgotten."""
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
    """The task, or the message, that would have said this."""
    pieces = pieces_of(without_memory(message), API, [], "")
    rest = stored_response(message, agent, API)
    entry = PromptEntry("agent", ())
    artifacts: list[JsonValue] = []
    said: JsonValue = None
    run: list[Piece] = []
    for piece in pieces:
        if piece.message is None:
            run.append(piece)
            continue
        whole: Json = {"parts": list(_parts(entry, run, []))}
        run = []
        if "artifact" in piece.message:
            artifacts.append(patched(whole, piece.message["artifact"]))
        else:
            said = patched({"role": "ROLE_AGENT", **whole}, piece.message.get("said") or {})
    if left := list(_parts(entry, run, [])):
        said = {"role": "ROLE_AGENT", "parts": list[JsonValue](left)}
    if "message" in rest or not ("task" in rest or artifacts):
        return {"message": said}
    task = obj(rest.get("task"))
    if said is not None:
        task["status"] = {**obj(task.get("status")), "message": said}
    return {"task": {**task, **({"artifacts": artifacts} if artifacts else {})}}


def _parts(entry: PromptEntry, pieces: Sequence[Piece], losses: list[Loss]) -> Iterator[Json]:
    for piece in pieces:
        if piece.part is None:
            if piece.item is not None:
                yield obj(piece.item)
        elif found := part_of(piece, entry, losses):
            yield obj(piece.restored(found))


def part_of(piece: Piece, entry: PromptEntry, losses: list[Loss]) -> Json | None:
    """A part of the protocol; None where there is nothing to say."""
    match piece.part:
        case TextPart(text=said):
            return _text(entry.text(said)) if said or piece.fields else None
        case part if isinstance(part, MediaPart):
            return _media(piece, part, entry, losses)
        case RequestedResponseFormatPart():
            return None
        case ToolCallPart() | ToolResultPart() if entry.role != "user":
            losses.append(Loss(path=piece.path, kind="own_tools", what="its calls of tools"))
            return None
        case StructuredDataPart(schema_id=schema) if schema == CITATIONS and entry.role == "agent":
            shown = as_text(piece, losses)
            return _text(shown) if shown else None
        case part if reasoning_text(part) is not None:
            losses.append(Loss(path=piece.path, kind="reasoning", what="thoughts of earlier"))
            return None
        case StructuredDataPart(schema_id=schema) as part if schema != DOCUMENT:
            named: Json = {} if schema == VALUE else {"mediaType": schema}
            return {"data": entry.data(orjson.loads(write(part))["data"]), **named}
        case _:
            shown = as_text(piece, losses)
            return _text(entry.text(shown)) if shown else None


def _text(said: str) -> Json:
    return {"text": said}


def _media(piece: Piece, part: MediaPart, entry: PromptEntry, losses: list[Loss]) -> Json | None:
    source = part.source
    named: Json = {"filename": name} if (name := entry.file_name(piece)) else {}
    if source.base64 is not None:
        return {"raw": source.base64, "mediaType": part.media_type, **named}
    if source.url:
        return {"url": source.url, "mediaType": part.media_type, **named}
    shown = as_text(piece, losses, "its bytes are not here")
    return _text(entry.text(shown)) if shown else None
