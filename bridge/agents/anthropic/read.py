"""Anthropic Messages -> UACS: a response as a message, a request as a conversation. Pure.

Raises CodecError for JSON that is not a response or request of this API."""

from __future__ import annotations

import base64
from collections.abc import Callable

from pydantic import JsonValue

from bridge.agents.anthropic import write
from bridge.agents.anthropic.write import API, PDF
from bridge.agents.codec.call_ids import CallIds
from bridge.agents.codec.json_values import Json, arr, obj, patch_of, text, without
from bridge.agents.codec.media import guessed_type, url_source
from bridge.agents.codec.messages import (
    ReadMessage,
    conversation_of,
    moderation_of,
    response_message,
    usage_of,
)
from bridge.agents.codec.native_parts import Piece, citation_parts, reasoning, state
from bridge.agents.codec.prompt import PromptEntry
from bridge.agents.codec.tool_catalogue import read_tool
from bridge.content.messages.agent_parts import DOCUMENT
from bridge.errors import CodecError
from bridge.uacs import (
    ContentPart,
    Conversation,
    FilePart,
    ImagePart,
    MediaSource,
    Message,
    RequestedResponseFormatPart,
    StructuredDataPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)

_ENTRY = PromptEntry("agent", ())


def read_response(response: JsonValue, agent: str) -> Message:
    """Return the message of a response that was not streamed."""
    body = obj(response)
    if body.get("type") != "message" or not isinstance(body.get("content"), list):
        raise CodecError("/content", "is missing; this is no message of this API")
    call_ids = CallIds("answer")
    parts = [part for block in arr(body["content"]) for part in block_parts(block, call_ids)]
    base: Json = {"type": "message", "role": "assistant"}
    rest = patch_of(base, without(body, "content"))
    return response_message(
        parts, agent, API, rest, answer_id=text(body.get("id")), usage=read_usage(body)
    )


def read_usage(body: Json) -> Json:
    """Return token counts under neutral names."""
    usage = obj(body.get("usage"))
    return usage_of(
        API, text(body.get("model")),
        input=usage.get("input_tokens"), output=usage.get("output_tokens"),
        cached=usage.get("cache_read_input_tokens"),
    )  # fmt: skip


def read_moderation(body: Json) -> Json:
    """Return why the API refused an answer, and the details."""
    refused = body.get("stop_reason") == "refusal"
    return moderation_of("refusal" if refused else "", details=body.get("stop_details"))


def read_request(request: JsonValue, agent: str) -> Conversation:
    """Return the conversation in the body of a request."""
    body = obj(request)
    if not isinstance(body.get("messages"), list):
        raise CodecError("/messages", "is missing; this is no request of this API")
    call_ids = CallIds("0")
    messages = _system(body.get("system"), call_ids)
    messages += [_read_message(obj(message), call_ids) for message in arr(body["messages"])]
    tools = [_tool(tool) for tool in arr(body.get("tools"))]
    rest = without(body, "system", "messages", "tools")
    answer_format = _requested_format(rest)
    return conversation_of(messages, agent, API, rest, tools, answer_format)


def _system(system: JsonValue, call_ids: CallIds) -> list[ReadMessage]:
    parts = _content(system, call_ids)
    return [ReadMessage("instructions", parts)] if parts else []


def _read_message(message: Json, call_ids: CallIds) -> ReadMessage:
    parts = _content(message.get("content"), call_ids)
    role = text(message.get("role"))
    if role == "assistant":
        return ReadMessage("agent", parts)
    if role != "user":  # newer models accept instructions in the middle of a conversation
        return ReadMessage("instructions", [*parts, state(API, message={"role": role})])
    results = any(isinstance(part, ToolResultPart) for part in parts)
    return ReadMessage("tool" if results else "user", parts)


def _content(content: JsonValue, call_ids: CallIds) -> list[ContentPart]:
    if isinstance(content, str):
        return [TextPart(text=content)]
    return [part for block in arr(content) for part in block_parts(block, call_ids)]


def _tool(native: JsonValue) -> Json:
    description = obj(native)
    own = description.get("type") not in (None, "custom")
    neutral: Json = {} if own else {**description, "parameters": description.get("input_schema")}
    return read_tool(native, neutral, API, write.tool)


def _requested_format(rest: Json) -> list[ContentPart]:
    """Return the format of the next answer, and remove it from the rest of the request."""
    config = obj(rest.get("output_config"))
    native = obj(config.get("format"))
    if native.get("type") != "json_schema" or not isinstance(native.get("schema"), dict):
        return []
    remaining = without(config, "format")
    rest.pop("output_config")
    if remaining:
        rest["output_config"] = remaining
    part = RequestedResponseFormatPart(schema=obj(native["schema"]))
    same = write.output_format(part, []) == native
    return [part] if same else [part, state(API, fields={"format": native})]


def block_parts(native: JsonValue, call_ids: CallIds) -> list[ContentPart]:
    """Return the UACS parts of a content block; one without a UACS equivalent is stored as it
    is."""
    block = obj(native)
    reader = _BLOCKS.get(text(block.get("type")))
    part = call_ids.with_id(reader(block)) if reader else None
    if part is None:
        return [state(API, item=native)]
    signed = {"signature": ""} if block.get("type") == "thinking" else {}
    base = obj(write.block(Piece("", part, fields=signed), _ENTRY, []))
    if isinstance(part, ToolCallPart) and not text(block.get("id")):
        block = {**block, "id": base["id"]}  # the API requires an id, and the result has this one
    patch = patch_of(base, block)
    sources = citation_parts(_sources(block))
    return [part, *sources, state(API, fields=patch)] if patch else [part, *sources]


def _sources(block: Json) -> list[JsonValue]:
    citations = [obj(citation) for citation in arr(block.get("citations"))]
    return [
        {
            "title": candidate.get("title") or candidate.get("document_title") or "",
            "url": candidate.get("url") or "",
            "quote": candidate.get("cited_text") or "",
        }
        for candidate in citations
    ]


def _text(block: Json) -> ContentPart | None:
    content = text(block.get("text"))
    return TextPart(text=content) if content else None


def _thinking(block: Json) -> ContentPart | None:
    return reasoning(text(block.get("thinking"))) if "signature" in block else None


def _tool_use(block: Json) -> ContentPart | None:
    arguments = block.get("input")
    if not isinstance(arguments, dict):
        return None
    return ToolCallPart(id=text(block.get("id")), name=text(block.get("name")), arguments=arguments)


def _tool_result(block: Json) -> ContentPart | None:
    failed = block.get("is_error")
    content = block.get("content")
    return ToolResultPart(
        tool_call_id=text(block.get("tool_use_id")),
        content="" if content is None else content,
        is_error=failed if isinstance(failed, bool) else None,
    )


def _image(block: Json) -> ContentPart | None:
    match obj(block.get("source")):
        case {"type": "base64", "media_type": str(kind), "data": str(data)} if kind[:6] == "image/":
            return ImagePart(source=MediaSource(base64=data), media_type=kind)
        case {"type": "url", "url": str(url)} if source := url_source(url):
            return ImagePart(source=source, media_type=guessed_type(url, "image/*"))
        case {"type": "file", "file_id": str(file_id)}:
            return ImagePart(source=MediaSource(file_id=file_id), media_type="image/*")
        case _:
            return None


def _document(block: Json) -> ContentPart | None:
    match obj(block.get("source")):
        case {"type": "base64", "media_type": "application/pdf", "data": str(data)}:
            return FilePart(source=MediaSource(base64=data), media_type=PDF)
        case {"type": "url", "url": str(url)} if source := url_source(url):
            return FilePart(source=source, media_type=PDF)
        case {"type": "file", "file_id": str(file_id)}:
            return FilePart(source=MediaSource(file_id=file_id), media_type=PDF)
        case {"type": "text", "data": str(content)}:
            return _text_document(content, text(block.get("title")))
        case _:
            return None


def _text_document(content: str, title: str) -> ContentPart:
    if title:
        return StructuredDataPart(schema_id=DOCUMENT, data={"title": title, "text": content})
    encoded = base64.b64encode(content.encode()).decode()
    return FilePart(source=MediaSource(base64=encoded), media_type="text/plain")


_BLOCKS: dict[str, Callable[[Json], ContentPart | None]] = {
    "text": _text,
    "thinking": _thinking,
    "tool_use": _tool_use,
    "tool_result": _tool_result,
    "image": _image,
    "document": _document,
}
