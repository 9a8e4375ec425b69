"""Ailoy's messages -> UACS: a response as a message, a request as a conversation. Pure.

Raises CodecError for JSON that is not a response or request of this format."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import orjson
from pydantic import JsonValue

from bridge.agents.ailoy import write
from bridge.agents.ailoy.write import API
from bridge.agents.codec.call_ids import CallIds
from bridge.agents.codec.json_values import Json, arr, obj, patch_of, text, without
from bridge.agents.codec.media import guessed_type, seen_type, url_source
from bridge.agents.codec.messages import (
    ReadMessage,
    conversation_of,
    read_arguments,
    response_message,
    usage_of,
)
from bridge.agents.codec.native_parts import Piece, reasoning, state, with_fields
from bridge.agents.codec.prompt import PromptEntry
from bridge.agents.codec.tool_catalogue import read_tool
from bridge.content.messages.agent_parts import DOCUMENT, VALUE
from bridge.errors import CodecError
from bridge.uacs import (
    ContentPart,
    Conversation,
    ImagePart,
    JsonTree,
    MediaSource,
    Message,
    RequestedResponseFormatPart,
    StructuredDataPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)

_ENTRY = PromptEntry("agent", ())
VERBATIM = "verbatim"
DELTA_KINDS = (VERBATIM, "with_string_args", "with_parsed_args")
"""The forms of functions in deltas (ailoy, `PartDeltaFunction`, 2026-11)."""


def read_response(response: JsonValue, agent: str) -> Message:
    """Return the message of a response: bare, or as `{"message": ..., "finish_reason": ...}`."""
    body = obj(response)
    envelope = body if isinstance(body.get("message"), dict) else {"message": body}
    message = obj(envelope["message"])
    if not isinstance(message.get("contents"), (list, str)) and "tool_calls" not in message:
        raise CodecError("/contents", "is missing; this is no message of this format")
    answer = text(message.get("id")) or "answer"
    parts = message_parts(message, CallIds(answer))
    rest: Json = {
        key: value for key, value in envelope.items() if key != "message" and value is not None
    }
    return response_message(parts, agent, API, rest, answer_id=answer, usage=read_usage(body))


def read_usage(body: Json) -> Json:
    """Return token counts. The format has none; a server may add them under other APIs' names."""
    usage = obj(body.get("usage"))
    return usage_of(
        API, text(body.get("model")),
        input=usage.get("input_tokens", usage.get("prompt_tokens")),
        output=usage.get("output_tokens", usage.get("completion_tokens")),
    )  # fmt: skip


def read_request(request: JsonValue, agent: str) -> Conversation:
    """Return the conversation in the body of a request."""
    body = obj(request)
    if not isinstance(body.get("messages"), list):
        raise CodecError("/messages", "is missing; this is no request of this form")
    call_ids = CallIds("0")
    names: dict[str, str] = {}
    messages = [_read_message(obj(message), call_ids, names) for message in arr(body["messages"])]
    tools = [read_tool(tool, obj(tool), API, write.tool) for tool in arr(body.get("tools"))]
    rest = without(body, "messages", "tools", "documents")
    beside = [*_documents(body.get("documents")), *_requested_format(rest)]
    return conversation_of(messages, agent, API, rest, tools, beside)


def _documents(documents: JsonValue) -> list[ContentPart]:
    """Return the documents beside the messages as parts."""
    parts: list[ContentPart] = []
    for candidate in map(obj, arr(documents)):
        parts.append(StructuredDataPart(schema_id=DOCUMENT, data=cast("JsonTree", candidate)))
        parts.append(state(API, fields={"as": "documents"}))
    return parts


def _requested_format(rest: Json) -> list[ContentPart]:
    native = obj(rest.get("response_format"))
    kinds: dict[str, Json] = {"json_object": {"type": "object"},
                              "json_schema": obj(native.get("schema"))}  # fmt: skip
    schema = kinds.get(text(native.get("type")))
    if schema is None:
        return []
    rest.pop("response_format")
    part = RequestedResponseFormatPart(schema=schema)
    return with_fields(API, part, write.response_format(part), native)


def _read_message(message: Json, call_ids: CallIds, names: dict[str, str]) -> ReadMessage:
    """Read one message; `names` maps the ids of the calls so far to tool names."""
    match message.get("role"):
        case "system":
            return ReadMessage(
                "instructions", _with_rest(content_parts(message), message, "system")
            )
        case "assistant":
            parts = message_parts(message, call_ids)
            names.update({part.id: part.name for part in parts if isinstance(part, ToolCallPart)})
            return ReadMessage("agent", parts)
        case "tool":
            return ReadMessage("tool", _result(message, call_ids, names))
        case _:
            return ReadMessage("user", _with_rest(content_parts(message), message, "user"))


def _with_rest(parts: list[ContentPart], message: Json, role: str) -> list[ContentPart]:
    rest = patch_of({"role": role}, without(message, "contents"))
    if not isinstance(message.get("contents"), (list, str)):
        rest["contents"] = None
    return [*parts, state(API, message=rest)] if rest else parts


def _result(message: Json, call_ids: CallIds, names: dict[str, str]) -> list[ContentPart]:
    """Return a tool result: a single text or value as it is, anything else as its parts."""
    contents = arr(message.get("contents"))
    only = obj(contents[0]) if len(contents) == 1 else {}
    content: JsonValue = contents
    if only.keys() == {"type", "text"}:
        content = only["text"]
    elif only.keys() == {"type", "value"} and not isinstance(only["value"], str):
        content = only["value"]
    name = text(message.get("name"))
    own_id = call_ids.for_result(name, text(message.get("tool_call_id")))
    part = ToolResultPart(tool_call_id=own_id, content="" if content is None else content)
    return with_fields(API, part, write.result(part, names), message)


def message_parts(message: Json, call_ids: CallIds) -> list[ContentPart]:
    """Return the parts of a model's message: reasoning, content, calls, then other members."""
    parts: list[ContentPart] = []
    if thought := text(message.get("thinking")):
        parts.append(reasoning(thought))
        if signature := text(message.get("signature")):
            parts.append(state(API, fields={"signature": signature}))
    contents = message.get("contents")
    for block in arr(contents):
        if obj(block).get("type") == "function":
            parts += call_parts(obj(block), call_ids, among="contents")
        else:
            parts += block_parts(block)
    parts += content_parts(message) if isinstance(contents, str) else []
    for tool_call in arr(message.get("tool_calls")):
        parts += call_parts(obj(tool_call), call_ids)
    read_members = ["thinking", "tool_calls", "contents", *(["signature"] if thought else [])]
    rest = patch_of({"role": "assistant"}, without(message, *read_members))
    return [*parts, state(API, message=rest)] if rest else parts


def call_parts(native: Json, call_ids: CallIds, among: str = "tool_calls") -> list[ContentPart]:
    """Return a call. `among` is the field of the message that holds it. Its id may be beside the
    function, inside it, or absent. In a delta the function may be text (`verbatim`) or have a
    type."""
    function = _function(obj(native.get("function")))
    arguments = read_arguments(function.get("arguments"))
    name = text(function.get("name"))
    if arguments is None or not name:
        return [state(API, item=native)]  # it cannot be run
    api_id = text(native.get("id")) or text(function.get("id"))
    part = ToolCallPart(id=call_ids.for_call(name, api_id), name=name, arguments=arguments)
    whole_call: Json = {**native, "function": {**function, "arguments": arguments}}
    patch = patch_of(write.call(part), whole_call)
    if among == "contents":
        patch["as"] = among
    return [part, state(API, fields=patch)] if patch else [part]


def _function(described: Json) -> Json:
    """Return a message's function for a delta's function. A text without arguments is no call,
    because its other members are unknown."""
    kind = text(described.get("type"))
    if kind not in DELTA_KINDS:
        return described
    if kind != VERBATIM:
        return without(described, "type")
    try:
        parsed = obj(orjson.loads(text(described.get("text"))))
    except orjson.JSONDecodeError:
        return described
    if not parsed.keys() >= {"name", "arguments"}:
        return described
    return {key: parsed[key] for key in ("name", "arguments")}


def content_parts(message: Json) -> list[ContentPart]:
    """Return the parts of a message's contents."""
    contents = message.get("contents")
    if isinstance(contents, str):  # the format's short form
        return [TextPart(text=contents)]
    return [part for block in arr(contents) for part in block_parts(block)]


def block_parts(native: JsonValue) -> list[ContentPart]:
    """Return the UACS parts of a part; one without a UACS equivalent is stored as it is."""
    block = obj(native)
    reader = _BLOCKS.get(text(block.get("type")))
    part = reader(block) if reader else None
    if part is None:
        return [state(API, item=native)]
    if isinstance(part, StructuredDataPart) and not isinstance(block["value"], (dict, list)):
        return [part, state(API, fields={"as": "bare"})]
    base = write.block(Piece("", part), _ENTRY, []) or {}
    return with_fields(API, part, base, block)


def _text(block: Json) -> ContentPart | None:
    content = block.get("text")
    return TextPart(text=content) if isinstance(content, str) else None


def _image(block: Json) -> ContentPart | None:
    """Return an encoded image; bare pixels (`image/x-binary`) have no UACS equivalent."""
    image = obj(block.get("image"))
    kind = text(image.get("media-type")) or "image/*"
    if kind == "image/x-binary" or not kind.startswith("image/"):
        return None
    if data := text(image.get("data")):
        media_type = kind if kind != "image/*" else seen_type(data, kind)
        return ImagePart(source=MediaSource(base64=data), media_type=media_type)
    url = text(image.get("url"))
    source = url_source(url) if url else None
    media_type = kind if kind != "image/*" else guessed_type(url, "image/*")
    return ImagePart(source=source, media_type=media_type) if source else None


def _value(block: Json) -> ContentPart | None:
    """Return JSON of any shape; an object of a title and a text is a document."""
    if "value" not in block:
        return None
    value = block["value"]
    data = value if isinstance(value, (dict, list)) else {"value": value}
    members = obj(value)
    is_document = members.keys() == {"title", "text"} and all(
        isinstance(member, str) for member in members.values()
    )
    schema = DOCUMENT if is_document else VALUE
    return StructuredDataPart(schema_id=schema, data=cast("JsonTree", data))


_BLOCKS: dict[str, Callable[[Json], ContentPart | None]] = {
    "text": _text,
    "image": _image,
    "value": _value,
}
