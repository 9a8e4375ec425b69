"""Ailoy's messages -> UACS: a response as a message, a request as a conversation. Pure.

Raises CodecError where the JSON is no response or request of this form.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import orjson
from pydantic import JsonValue

from bridge.agents.ailoy import write
from bridge.agents.ailoy.write import API
from bridge.agents.codec.call_ids import Calls
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
"""How the functions of deltas are told (ailoy, `PartDeltaFunction`, 2026-11)."""


def read_response(response: JsonValue, agent: str) -> Message:
    """A message, bare or as `{"message": ..., "finish_reason": ...}`."""
    body = obj(response)
    wrapped = body if isinstance(body.get("message"), dict) else {"message": body}
    said = obj(wrapped["message"])
    if not isinstance(said.get("contents"), (list, str)) and "tool_calls" not in said:
        raise CodecError("/contents", "is missing; this is no message of this format")
    answer = text(said.get("id")) or "answer"
    parts = message_parts(said, Calls(answer))
    rest: Json = {
        key: value for key, value in wrapped.items() if key != "message" and value is not None
    }
    return response_message(parts, agent, API, rest, answer_id=answer, usage=read_usage(body))


def read_usage(body: Json) -> Json:
    """The format counts nothing; a server may, in the words of others."""
    usage = obj(body.get("usage"))
    return usage_of(
        API, text(body.get("model")),
        input=usage.get("input_tokens", usage.get("prompt_tokens")),
        output=usage.get("output_tokens", usage.get("completion_tokens")),
    )  # fmt: skip


def read_request(request: JsonValue, agent: str) -> Conversation:
    """What is posted."""
    body = obj(request)
    if not isinstance(body.get("messages"), list):
        raise CodecError("/messages", "is missing; this is no request of this form")
    calls = Calls("0")
    names: dict[str, str] = {}
    said = [_said(obj(message), calls, names) for message in arr(body["messages"])]
    tools = [read_tool(tool, obj(tool), API, write.tool) for tool in arr(body.get("tools"))]
    rest = without(body, "messages", "tools", "documents")
    beside = [*_documents(body.get("documents")), *_wanted(rest)]
    return conversation_of(said, agent, API, rest, tools, beside)


def _documents(found: JsonValue) -> list[ContentPart]:
    """Knowledge that stands beside the messages."""
    parts: list[ContentPart] = []
    for candidate in map(obj, arr(found)):
        parts.append(StructuredDataPart(schema_id=DOCUMENT, data=cast("JsonTree", candidate)))
        parts.append(state(API, fields={"as": "documents"}))
    return parts


def _wanted(rest: Json) -> list[ContentPart]:
    native = obj(rest.get("response_format"))
    kinds: dict[str, Json] = {"json_object": {"type": "object"},
                              "json_schema": obj(native.get("schema"))}  # fmt: skip
    schema = kinds.get(text(native.get("type")))
    if schema is None:
        return []
    rest.pop("response_format")
    part = RequestedResponseFormatPart(schema=schema)
    return with_fields(API, part, write.response_format(part), native)


def _said(message: Json, calls: Calls, names: dict[str, str]) -> ReadMessage:
    """`names` of tools by the ids of the calls so far."""
    match message.get("role"):
        case "system":
            return ReadMessage(
                "instructions", _with_rest(content_parts(message), message, "system")
            )
        case "assistant":
            parts = message_parts(message, calls)
            names.update({part.id: part.name for part in parts if isinstance(part, ToolCallPart)})
            return ReadMessage("agent", parts)
        case "tool":
            return ReadMessage("tool", _result(message, calls, names))
        case _:
            return ReadMessage("user", _with_rest(content_parts(message), message, "user"))


def _with_rest(parts: list[ContentPart], message: Json, role: str) -> list[ContentPart]:
    rest = patch_of({"role": role}, without(message, "contents"))
    if not isinstance(message.get("contents"), (list, str)):
        rest["contents"] = None
    return [*parts, state(API, message=rest)] if rest else parts


def _result(message: Json, calls: Calls, names: dict[str, str]) -> list[ContentPart]:
    """A text or a value is what the tool gave; anything else stands as its parts."""
    contents = arr(message.get("contents"))
    only = obj(contents[0]) if len(contents) == 1 else {}
    content: JsonValue = contents
    if only.keys() == {"type", "text"}:
        content = only["text"]
    elif only.keys() == {"type", "value"} and not isinstance(only["value"], str):
        content = only["value"]
    name = text(message.get("name"))
    own_id = calls.result(name, text(message.get("tool_call_id")))
    part = ToolResultPart(tool_call_id=own_id, content="" if content is None else content)
    return with_fields(API, part, write.result(part, names), message)


def message_parts(message: Json, calls: Calls) -> list[ContentPart]:
    """What the model said: thoughts, then words, then calls, then what is beside them."""
    parts: list[ContentPart] = []
    if thought := text(message.get("thinking")):
        parts.append(reasoning(thought))
        if signature := text(message.get("signature")):
            parts.append(state(API, fields={"signature": signature}))
    contents = message.get("contents")
    for block in arr(contents):
        if obj(block).get("type") == "function":
            parts += call_parts(obj(block), calls, among="contents")
        else:
            parts += block_parts(block)
    parts += content_parts(message) if isinstance(contents, str) else []
    for tool_call in arr(message.get("tool_calls")):
        parts += call_parts(obj(tool_call), calls)
    known = ["thinking", "tool_calls", "contents", *(["signature"] if thought else [])]
    rest = patch_of({"role": "assistant"}, without(message, *known))
    return [*parts, state(API, message=rest)] if rest else parts


def call_parts(native: Json, calls: Calls, among: str = "tool_calls") -> list[ContentPart]:
    """A call, in the member of the message that is `among`; its id stands beside the function, in
    it, or nowhere. In a delta the function may be text (`verbatim`), or told by its kind."""
    function = _function(obj(native.get("function")))
    arguments = read_arguments(function.get("arguments"))
    name = text(function.get("name"))
    if arguments is None or not name:
        return [state(API, item=native)]  # nobody can run it as it stands
    given = text(native.get("id")) or text(function.get("id"))
    part = ToolCallPart(id=calls.call(name, given), name=name, arguments=arguments)
    known: Json = {**native, "function": {**function, "arguments": arguments}}
    patch = patch_of(write.call(part), known)
    if among == "contents":
        patch["as"] = among
    return [part, state(API, fields=patch)] if patch else [part]


def _function(told: Json) -> Json:
    """What a message has of a function, of what a delta has of it. A text that names no arguments
    is no call: what its other members mean is not known."""
    kind = text(told.get("type"))
    if kind not in DELTA_KINDS:
        return told
    if kind != VERBATIM:
        return without(told, "type")
    try:
        found = obj(orjson.loads(text(told.get("text"))))
    except orjson.JSONDecodeError:
        return told
    if not found.keys() >= {"name", "arguments"}:
        return told
    return {key: found[key] for key in ("name", "arguments")}


def content_parts(message: Json) -> list[ContentPart]:
    contents = message.get("contents")
    if isinstance(contents, str):  # a short form that it takes, too
        return [TextPart(text=contents)]
    return [part for block in arr(contents) for part in block_parts(block)]


def block_parts(native: JsonValue) -> list[ContentPart]:
    """A part of the format; what no part of ours says stands there as it is."""
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
    said = block.get("text")
    return TextPart(text=said) if isinstance(said, str) else None


def _image(block: Json) -> ContentPart | None:
    """Encoded pictures; bare pixels (`image/x-binary`) nobody else can show."""
    image = obj(block.get("image"))
    kind = text(image.get("media-type")) or "image/*"
    if kind == "image/x-binary" or not kind.startswith("image/"):
        return None
    if data := text(image.get("data")):
        named = kind if kind != "image/*" else seen_type(data, kind)
        return ImagePart(source=MediaSource(base64=data), media_type=named)
    url = text(image.get("url"))
    source = url_source(url) if url else None
    named = kind if kind != "image/*" else guessed_type(url, "image/*")
    return ImagePart(source=source, media_type=named) if source else None


def _value(block: Json) -> ContentPart | None:
    """JSON of any shape; a title and a text are a document."""
    if "value" not in block:
        return None
    value = block["value"]
    tree = value if isinstance(value, (dict, list)) else {"value": value}
    found = obj(value)
    is_document = found.keys() == {"title", "text"} and all(
        isinstance(one, str) for one in found.values()
    )
    schema = DOCUMENT if is_document else VALUE
    return StructuredDataPart(schema_id=schema, data=cast("JsonTree", tree))


_BLOCKS: dict[str, Callable[[Json], ContentPart | None]] = {
    "text": _text,
    "image": _image,
    "value": _value,
}
