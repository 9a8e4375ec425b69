"""A2A 1.0 -> UACS: a task or a message as an answer, a sent message as a conversation. Pure JSON.

Raises CodecError where the JSON is neither.
"""

from __future__ import annotations

from typing import cast

from pydantic import JsonValue

from bridge.agents.a2a import write
from bridge.agents.a2a.write import API, JSON
from bridge.agents.json_values import Json, arr, obj, patch_of, text, without
from bridge.agents.lines import Line
from bridge.agents.media import guessed_type, media_part, seen_type, url_source
from bridge.agents.native import Piece, state
from bridge.agents.reading import Said, answer_of, conversation_of, iso_seconds
from bridge.content.messages.agent_parts import VALUE
from bridge.errors import CodecError
from bridge.uacs import (
    ContentPart,
    Conversation,
    JsonTree,
    MediaSource,
    Message,
    StructuredDataPart,
    TextPart,
)

_LINE = Line("agent", ())
_BYTES = "application/octet-stream"
_UNTOLD = frozenset(
    ("application/vnd.uacs.reasoning+json", "application/vnd.uacs.agent-state+json")
)


def read_response(response: JsonValue, agent: str) -> Message:
    """What `SendMessage` gave: `{"task": ...}` or `{"message": ...}`."""
    body = obj(response)
    if isinstance(body.get("message"), dict):
        said = obj(body["message"])
        parts = said_parts(said)
        rest: Json = {"message": {}}
        own_id = text(said.get("messageId"))
    elif isinstance(body.get("task"), dict):
        task = obj(body["task"])
        parts = task_parts(task)
        status = without(obj(task.get("status")), "message")
        left = without(task, "artifacts", "status")
        rest = {"task": {**left, **({"status": status} if "status" in task else {})}}
        own_id = text(task.get("id"))
    else:
        raise CodecError("", "is neither a task nor a message of this protocol")
    created = iso_seconds(obj(obj(body.get("task")).get("status")).get("timestamp"))
    return answer_of(parts, agent, API, rest, answer_id=own_id, created=created)


def read_request(request: JsonValue, agent: str) -> Conversation:
    """The params of `SendMessage`."""
    body = obj(request)
    if not isinstance(body.get("message"), dict):
        raise CodecError("/message", "is missing; this is no message of this protocol")
    message = obj(body["message"])
    rest: Json = patch_of({"role": "ROLE_USER"}, without(message, "parts"))
    kept: Json = without(body, "message")
    if rest:
        kept["message"] = rest
    return conversation_of([Said("user", _parts(message))], agent, API, kept, (), ())


def task_parts(task: Json) -> list[ContentPart]:
    """Its artifacts, then what its status says."""
    parts = [part for one in arr(task.get("artifacts")) for part in artifact_parts(obj(one))]
    said = obj(task.get("status")).get("message")
    return [*parts, *said_parts(said)] if isinstance(said, dict) else parts


def artifact_parts(artifact: Json) -> list[ContentPart]:
    """The last part is what it has beside its parts, and its end."""
    return [*_parts(artifact), state(API, message={"artifact": without(artifact, "parts")})]


def said_parts(message: Json) -> list[ContentPart]:
    rest = patch_of({"role": "ROLE_AGENT"}, without(message, "parts"))
    return [*_parts(message), state(API, message={"said": rest})]


def _parts(owner: Json) -> list[ContentPart]:
    return [part for one in arr(owner.get("parts")) for part in part_parts(one)]


def part_parts(native: JsonValue) -> list[ContentPart]:
    """A part; what no part of ours says stands there as it is."""
    block = obj(native)
    part = _part(block)
    if part is None:
        return [state(API, item=native)]
    patch = patch_of(write.part_of(Piece("", part), _LINE, []) or {}, block)
    return [part, state(API, fields=patch)] if patch else [part]


def _part(block: Json) -> ContentPart | None:
    kind = text(block.get("mediaType"))
    name = text(block.get("filename"))
    match block:
        case {"text": str(said)}:
            return TextPart(text=said)
        case {"raw": str(content)}:
            known = kind or guessed_type(name, _BYTES)
            known = known if known != _BYTES else seen_type(content, _BYTES)
            return media_part(MediaSource(base64=content), known)
        case {"url": str(url)}:
            source = url_source(url)
            return media_part(source, kind or guessed_type(name or url, _BYTES)) if source else None
        case {"data": data} if kind not in _UNTOLD:
            tree = data if isinstance(data, (dict, list)) else {"value": data}
            own = kind if kind not in ("", JSON) else VALUE
            return StructuredDataPart(schema_id=own, data=cast("JsonTree", tree))
        case _:
            return None
