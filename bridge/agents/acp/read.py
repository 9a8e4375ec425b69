"""ACP -> UACS: a run's output as a message, its input as a conversation. Pure.

Raises CodecError for JSON that is not a run or a request for one."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import cast

import orjson
from pydantic import JsonValue

from bridge.agents.acp import write
from bridge.agents.acp.write import API, JSON, MADE_ID, PLAIN
from bridge.agents.codec.json_values import Json, arr, obj, patch_of, text, without
from bridge.agents.codec.media import media_part, url_source
from bridge.agents.codec.messages import ReadMessage, conversation_of, iso_seconds, response_message
from bridge.agents.codec.native_parts import Piece, citation_parts, reasoning, state
from bridge.agents.codec.prompt import PromptEntry
from bridge.content.messages.agent_parts import VALUE, is_hidden
from bridge.errors import CodecError
from bridge.uacs import (
    ContentPart,
    Conversation,
    JsonTree,
    MediaSource,
    Message,
    StructuredDataPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)

_ENTRY = PromptEntry("agent", ())
_TEXTS = (PLAIN, "text/markdown")
_ENCODINGS = ("content_encoding", "contentEncoding")


def read_response(response: JsonValue, agent: str) -> Message:
    """Return the message of a run that has ended or waits."""
    body = obj(response)
    if not isinstance(body.get("output"), list):
        raise CodecError("/output", "is missing; this is no run of this protocol")
    parts: list[ContentPart] = []
    for number, item in enumerate(write.items_of(body, "output")):
        parts += message_parts(item, f"agent/{agent}", f"{number}")
    created = iso_seconds(body.get("created_at"))
    rest, own_id = without(body, "output"), text(body.get("run_id"))
    return response_message(parts, agent, API, rest, answer_id=own_id, created=created)


def read_usage(body: Json) -> Json:
    """Return an empty count: the protocol has none."""
    del body
    return {}


def read_request(request: JsonValue, agent: str) -> Conversation:
    """Return the conversation in the body of `POST /runs`."""
    body = obj(request)
    if not isinstance(body.get("input"), list):
        raise CodecError("/input", "is missing; this is no request for a run")
    messages = [
        _read_message(item, agent, f"{n}") for n, item in enumerate(write.items_of(body, "input"))
    ]
    return conversation_of(messages, agent, API, without(body, "input"), (), ())


def said_parts(message: Json) -> list[ContentPart]:
    """Return what a message says, for anybody to read: without steps and without private state."""
    return [part for part in message_parts(message, "user", "0") if not is_hidden(part)]


def _read_message(message: Json, agent: str, number: str) -> ReadMessage:
    speaker, _, name = text(message.get("role")).partition("/")
    own = speaker.startswith("agent")
    role = f"agent/{agent}" if own else "user"
    *parts, rest = message_parts(message, role, number)
    all_parts = parts if rest == state(API, message={}) else [*parts, rest]
    return ReadMessage("agent", all_parts, name) if own else ReadMessage("user", all_parts)


def message_parts(message: Json, role: str, number: str) -> list[ContentPart]:
    """Return the parts of a message; the last one holds what the message has beside its parts, and
    marks its end."""
    parts = [
        part
        for index, native_part in enumerate(arr(message.get("parts")))
        for part in part_parts(native_part, f"{number}_{index}")
    ]
    rest = patch_of({"role": role}, without(message, "parts"))
    return [*parts, state(API, message=rest)]


def part_parts(native: JsonValue, number: str) -> list[ContentPart]:
    """Return the UACS parts of a message part; one without a UACS equivalent is stored as it is. An
    agent's steps (trajectory) come before the content of their part."""
    block = obj(native)
    part = _part(block)
    details = obj(block.get("metadata"))
    steps = _steps(details, number)
    if part is None:
        return [*steps, state(API, item=native)]
    base = write.part_of(Piece("", part), _ENTRY, []) or {}
    plain = _member(block, "encoding") == "plain" and "content_encoding" not in base
    patch = patch_of(base, without(block, *_ENCODINGS) if plain else block)
    sources = _sources(details)
    return [*steps, part, *sources, *([state(API, fields=patch)] if patch else [])]


def _steps(details: Mapping[str, JsonValue], number: str) -> list[ContentPart]:
    """Return reasoning, and calls of tools that the agent ran itself."""
    if details.get("kind") != "trajectory":
        return []
    parts: list[ContentPart] = []
    if thought := text(details.get("message")):
        parts += [reasoning(thought), state(API, fields={"as": "step"})]
    if name := text(details.get("tool_name")):
        call_id = f"{MADE_ID}{number}"
        tool_input = details.get("tool_input")
        arguments = (
            tool_input
            if isinstance(tool_input, dict)
            else {}
            if tool_input is None
            else {"input": tool_input}
        )
        output = details.get("tool_output")
        parts.append(ToolCallPart(id=call_id, name=name, arguments=arguments))
        parts.append(ToolResultPart(tool_call_id=call_id, content="" if output is None else output))
    return parts


def _sources(details: Mapping[str, JsonValue]) -> list[ContentPart]:
    if details.get("kind") != "citation":
        return []
    named = {"title": "title", "url": "url", "quote": "description"}
    return citation_parts([{key: text(details.get(name)) for key, name in named.items()}])


def _part(block: Json) -> ContentPart | None:
    kind = _member(block, "type") or PLAIN
    content, url = block.get("content"), _member(block, "url")
    if url:
        source = url_source(url)
        return media_part(source, kind) if source else None
    if not isinstance(content, str):
        return None
    if _member(block, "encoding") == "base64":
        return media_part(MediaSource(base64=content), kind)
    plain_type = kind.partition(";")[0].strip().lower()
    if plain_type in _TEXTS and not block.get("name"):
        return TextPart(text=content)
    if plain_type == JSON and not block.get("name"):
        return _value(content)
    return media_part(MediaSource(base64=base64.b64encode(content.encode()).decode()), kind)


def _member(block: Json, name: str) -> str:
    """Return a member as the protocol names it (`content_type`), or as its proposal on message
    bodies does (`contentType`)."""
    return text(block.get(f"content_{name}")) or text(block.get(f"content{name.capitalize()}"))


def _value(content: str) -> ContentPart | None:
    try:
        value = orjson.loads(content)
    except orjson.JSONDecodeError:
        return TextPart(text=content)
    data = value if isinstance(value, (dict, list)) else {"value": value}
    return StructuredDataPart(schema_id=VALUE, data=cast("JsonTree", data))


def file_name(native: JsonValue) -> str:
    """Return the last component of an artifact's name, at most 200 characters."""
    return text(obj(native).get("name")).rpartition("/")[2][:200]
