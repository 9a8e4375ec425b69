"""UACS -> ACP: a conversation as the input of a run, a message as its output. Pure.

Lost: instructions, tools and answer formats, which ACP does not have. Files without bytes or
address, cards and other structured data become text. Each is a `Loss`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

import orjson
from pydantic import JsonValue

from bridge.agents.codec.json_values import Json, arr, obj, patched, text
from bridge.agents.codec.media import document_of, name_of
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
from bridge.agents.codec.tool_results import with_document_texts
from bridge.agents.turn.server_memory import without_memory
from bridge.content.messages.agent_parts import CITATIONS, VALUE
from bridge.content.messages.negotiation import is_name
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

API = "acp"
PLAIN = "text/plain"
JSON = "application/json"
MADE_ID = "acp_call_"
"""The prefix of ids for calls that the agent ran itself: their steps are stored as a whole."""

_ILLEGAL = re.compile(r"[^A-Za-z0-9._-]+")
_NO_ROLE = re.compile(r"[^A-Za-z0-9_-]+")


def write_request(conversation: Conversation, agent: str) -> WrittenRequest:
    """Return the body of `POST /runs`."""
    prompt = prompt_of(conversation, agent, API)
    body = request_settings(conversation, agent, API)
    messages = [
        message for entry in prompt.entries for message in _messages(entry, agent, prompt.losses)
    ]
    body["input"] = list(messages)
    if prompt.response_format is not None:
        prompt.losses.append(no_format())
    return WrittenRequest(body, tuple(prompt.losses))


def write_response(message: Message, agent: str) -> Json:
    """Return the run that would have given this message."""
    pieces = list(pieces_of(without_memory(message), API, [], ""))
    base: Json = {
        "output": list(_runs(PromptEntry("agent", ()), pieces, f"agent/{_role(agent)}", []))
    }
    return obj(patched(base, stored_response(message, agent, API)))


def message_parts(message: Message) -> list[Json]:
    """Return the parts of a message that somebody else reads: without private state."""
    pieces = pieces_of(message, API, [], "")
    return list(_with_unique_names(_parts(PromptEntry("agent", ()), pieces, [])))


def _role(agent: str) -> str:
    return _NO_ROLE.sub("_", agent) or "agent"


def _messages(entry: PromptEntry, agent: str, losses: list[Loss]) -> Iterator[JsonValue]:
    if entry.role == "instructions":
        losses.append(no_instructions(entry))
        return
    role = f"agent/{_role(agent)}" if entry.role in ("agent", "tool") else "user"
    yield from _runs(entry, entry.pieces, role, losses)


def _runs(
    entry: PromptEntry, pieces: Sequence[Piece], role: str, losses: list[Loss]
) -> Iterator[JsonValue]:
    """Yield messages; a `message` piece ends one, with what it had beside its parts."""
    run: list[Piece] = []
    for piece in pieces:
        if piece.message is None:
            run.append(piece)
            continue
        yield patched(_message(entry, run, role, losses), dict(piece.message))
        run = []
    message = _message(entry, run, role, losses)
    if message["parts"]:
        yield message


def _message(entry: PromptEntry, pieces: Sequence[Piece], role: str, losses: list[Loss]) -> Json:
    parts = list(_with_unique_names(_parts(entry, pieces, losses)))
    headed = _headed(entry.header, parts) if entry.header and parts else parts
    return {"role": role, "parts": list[JsonValue](headed)}


def _headed(header: str, parts: list[Json]) -> list[Json]:
    first = parts[0]
    if first.keys() == {"content_type", "content"} and first["content_type"] == PLAIN:
        return [_text(f"{header}\n{text(first['content'])}"), *parts[1:]]
    return [_text(header), *parts]


def _parts(entry: PromptEntry, pieces: Sequence[Piece], losses: list[Loss]) -> Iterator[Json]:
    names = {p.part.id: p.part.name for p in pieces if isinstance(p.part, ToolCallPart)}
    for piece in pieces:
        if piece.part is None:
            if piece.item is not None:
                yield obj(piece.item)
        elif _is_step(piece):
            continue
        elif isinstance(piece.part, ToolResultPart) and entry.role != "user":
            yield _result(piece.part, names)
        elif native_part := part_of(piece, entry, losses):
            yield obj(piece.restored(native_part))


def _is_step(piece: Piece) -> bool:
    """Return whether a piece was read from a step that the message holds as it was."""
    match piece.part:
        case ToolCallPart(id=call_id) | ToolResultPart(tool_call_id=call_id):
            return call_id.startswith(MADE_ID)
        case _:
            return piece.fields.get("as") == "step"


def part_of(piece: Piece, entry: PromptEntry, losses: list[Loss]) -> Json | None:
    """Return a message part of the API; None if the piece has no content for it."""
    match piece.part:
        case TextPart(text=words):
            return _text(entry.text(words)) if words or piece.fields else None
        case part if isinstance(part, MediaPart):
            return _media(piece, part, entry, losses)
        case RequestedResponseFormatPart():
            return None
        case ToolCallPart(name=name, arguments=arguments) if entry.role == "agent":
            return _step(tool_name=name, tool_input=dict(arguments))
        case StructuredDataPart(schema_id=schema) if schema == CITATIONS and entry.role == "agent":
            return None  # the part before has the sources as the API gave them
        case StructuredDataPart(schema_id=schema) as part if schema == VALUE:
            data = entry.data(orjson.loads(write(part))["data"])
            content = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
            return {"content_type": JSON, "content": content}
        case part if (document := document_of(part)) is not None:
            title, words = document
            name = path_name(title) or "/document"
            return {"name": name, "content_type": PLAIN, "content": entry.text(words)}
        case part if (thought := reasoning_text(part)) is not None:
            return _step(message=thought)
        case _:
            markdown = piece_as_text(piece, losses)
            return _text(entry.text(markdown)) if markdown else None


def _text(words: str) -> Json:
    return {"content_type": PLAIN, "content": words}


def _step(**fields: JsonValue) -> Json:
    return {"metadata": {"kind": "trajectory", **fields}}


def _result(part: ToolResultPart, names: Mapping[str, str]) -> Json:
    content = with_document_texts(part.content)
    output: JsonValue = content if isinstance(content, dict) else {"result": content}
    if part.is_error:
        output = {"error": content}
    return _step(tool_name=names.get(part.tool_call_id, "tool"), tool_output=output)


def _media(piece: Piece, part: MediaPart, entry: PromptEntry, losses: list[Loss]) -> Json | None:
    source = part.source
    kind = part.media_type
    path = piece.details.path or ""
    name = path if is_name(path) else path_name(name_of(piece))
    named: Json = {"name": name} if name else {}
    if source.base64 is not None:
        inline: Json = {"content_type": kind, "content": source.base64}
        return {**named, **inline, "content_encoding": "base64"}
    if source.url:
        return {**named, "content_type": kind, "content_url": source.url}
    markdown = piece_as_text(piece, losses, "its bytes are not here")
    return _text(entry.text(markdown)) if markdown else None


def path_name(name: str) -> str:
    """Return a file's name as an absolute path, as the protocol requires; empty for none."""
    plain = _ILLEGAL.sub("_", name.replace("\\", "/").rpartition("/")[2]).strip("_")
    return f"/{plain}" if plain.strip(".") else ""


def _with_unique_names(parts: Iterator[Json]) -> Iterator[Json]:
    """Yield the parts of a message with unique names: a repeated name gets a number."""
    prompt: set[str] = set()
    for part in parts:
        name = text(part.get("name"))
        number = 2
        stem, dot, end = name.rpartition(".")
        while name and name in prompt:
            name = f"{stem}-{number}{dot}{end}" if stem else f"{end}-{number}"
            number += 1
        prompt.add(name)
        yield {**part, "name": name} if name != text(part.get("name")) else part


def items_of(body: Json, key: str) -> list[Json]:
    """Return the objects of a list in a body."""
    return [obj(item) for item in arr(body.get(key))]
