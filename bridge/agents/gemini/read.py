"""Google Gemini -> UACS: a response as a message, a request as a conversation. Pure.

Raises CodecError for JSON that is not a response or request of this API."""

from __future__ import annotations

from typing import cast

from pydantic import JsonValue

from bridge.agents.codec.call_ids import CallIds
from bridge.agents.codec.json_values import Json, arr, obj, patch_of, text, without
from bridge.agents.codec.media import media_part, url_source
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
from bridge.agents.gemini import write
from bridge.agents.gemini.write import API
from bridge.errors import CodecError
from bridge.uacs import (
    ContentPart,
    Conversation,
    MediaSource,
    Message,
    RequestedResponseFormatPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)

_ENTRY = PromptEntry("agent", ())
_CONFIGS = ("responseJsonSchema", "responseSchema")


def read_response(response: JsonValue, agent: str) -> Message:
    """Return the message of a response that was not streamed. A blocked prompt has no candidate."""
    body = obj(response)
    candidates = [obj(candidate) for candidate in arr(body.get("candidates"))]
    if not candidates and "promptFeedback" not in body:
        raise CodecError("/candidates", "is missing; this is no response of this API")
    first = candidates[0] if candidates else {}
    content = obj(first.get("content"))
    answer = text(body.get("responseId")) or "answer"
    call_ids = CallIds(answer)
    parts = [
        part
        for native_part in arr(content.get("parts"))
        for part in block_parts(native_part, call_ids)
    ]
    parts += sources_of(first)
    rest: Json = patch_of({}, without(body, "candidates"))
    patch: Json = patch_of({"content": {"role": "model"}}, _without_parts(first))
    rest["candidates"] = [patch, *candidates[1:]]
    return response_message(parts, agent, API, rest, answer_id=answer, usage=read_usage(body))


def _without_parts(candidate: Json) -> Json:
    content = candidate.get("content")
    if not isinstance(content, dict):
        return candidate
    return {**candidate, "content": without(content, "parts")}


def sources_of(candidate: Json) -> list[ContentPart]:
    """Return the pages that an answer cites."""
    chunks = arr(obj(candidate.get("groundingMetadata")).get("groundingChunks"))
    webs = [obj(obj(chunk).get("web") or obj(chunk).get("retrievedContext")) for chunk in chunks]
    return citation_parts(
        [{"title": text(w.get("title")), "url": text(w.get("uri"))} for w in webs if w]
    )


def read_usage(body: Json) -> Json:
    """Return token counts under neutral names; the vendor counts reasoning apart from the
    answer."""
    usage = obj(body.get("usageMetadata"))
    return usage_of(
        API, text(body.get("modelVersion")),
        input=usage.get("promptTokenCount"), output=usage.get("candidatesTokenCount"),
        cached=usage.get("cachedContentTokenCount"), reasoning=usage.get("thoughtsTokenCount"),
    )  # fmt: skip


def read_moderation(body: Json) -> Json:
    """Return the ratings of question and answer, and why one of them was blocked."""
    prompt_feedback = obj(body.get("promptFeedback"))
    candidate = obj((arr(body.get("candidates")) or [None])[0])
    reason = text(prompt_feedback.get("blockReason")) or text(candidate.get("finishReason"))
    return moderation_of(
        reason if reason not in ("STOP", "MAX_TOKENS") else "",
        question=prompt_feedback.get("safetyRatings"),
        answer=candidate.get("safetyRatings"),
    )


def read_request(request: JsonValue, agent: str) -> Conversation:
    """Return the conversation in the body of a request."""
    body = obj(request)
    if not isinstance(body.get("contents"), list):
        raise CodecError("/contents", "is missing; this is no request of this API")
    call_ids = CallIds("0")
    messages = _system(obj(body.get("systemInstruction")), call_ids)
    messages += [_read_message(obj(block), call_ids) for block in arr(body["contents"])]
    tools = [tool for native_tool in arr(body.get("tools")) for tool in _tools(obj(native_tool))]
    rest = without(body, "systemInstruction", "contents", "tools")
    return conversation_of(messages, agent, API, rest, tools, _requested_format(rest))


def _system(content: Json, call_ids: CallIds) -> list[ReadMessage]:
    parts = [
        part
        for native_part in arr(content.get("parts"))
        for part in block_parts(native_part, call_ids)
    ]
    rest = without(content, "parts")
    all_parts = [*parts, state(API, message=rest)] if rest else parts
    return [ReadMessage("instructions", all_parts)] if parts else []


def _read_message(content: Json, call_ids: CallIds) -> ReadMessage:
    role = text(content.get("role"))
    parts = [
        part
        for native_part in arr(content.get("parts"))
        for part in block_parts(native_part, call_ids)
    ]
    if role == "model":
        return ReadMessage("agent", parts)
    results = any(isinstance(part, ToolResultPart) for part in parts)
    patch = patch_of({"role": "user"}, without(content, "parts"))
    all_parts = [*parts, state(API, message=patch)] if patch else parts
    return ReadMessage("tool" if results else "user", all_parts)


def _tools(native: Json) -> list[Json]:
    functions = native.get("functionDeclarations")
    if not isinstance(functions, list) or len(native) > 1:
        return [{"native": {API: native}}]
    return [_tool(obj(function)) for function in functions]


def _tool(declaration: Json) -> Json:
    schemas = (declaration.get(key) for key in ("parametersJsonSchema", "parameters_json_schema"))
    schema = next((candidate for candidate in schemas if candidate is not None), None)
    if schema is None:
        schema = as_json_schema(declaration.get("parameters"))
    return read_tool(declaration, {**declaration, "parameters": schema}, API, write.tool)


def as_json_schema(value: JsonValue) -> JsonValue:
    """Return a JSON Schema for the vendor's older schemas, whose types are in capitals (OpenAPI's
    subset)."""
    if isinstance(value, list):
        return [as_json_schema(item) for item in value]
    if not isinstance(value, dict):
        return value
    members = {key: as_json_schema(member) for key, member in value.items()}
    kind = members.get("type")
    return {**members, "type": kind.lower()} if isinstance(kind, str) else members


def _requested_format(rest: Json) -> list[ContentPart]:
    """Return the format of the next answer, and remove it from the rest of the request."""
    config = obj(rest.get("generationConfig"))
    if config.get("responseMimeType") != "application/json":
        return []
    native = {key: config[key] for key in ("responseMimeType", *_CONFIGS) if key in config}
    rest["generationConfig"] = without(config, *native)
    schemas = [as_json_schema(native[key]) for key in _CONFIGS if key in native]
    schema = obj(schemas[0]) if schemas else {"type": "object"}
    part = RequestedResponseFormatPart(schema=cast("Json", schema))
    same = write.response_format(part, []) == native
    return [part] if same else [part, state(API, fields={"format": native})]


def block_parts(native: JsonValue, call_ids: CallIds) -> list[ContentPart]:
    """Return the UACS parts of a part; one without a UACS equivalent is stored as it is."""
    block = obj(native)
    part = _part(block, call_ids)
    if part is None:
        return [state(API, item=native)]
    base = write.block(Piece("", part, fields={"": ""}), _ENTRY, {}, [])
    patch = patch_of(base or {}, block)
    return [part, state(API, fields=patch)] if patch else [part]


def _part(block: Json, call_ids: CallIds) -> ContentPart | None:
    match block:
        case {"text": str(words), "thought": True}:
            return reasoning(words)
        case {"text": str(words)}:
            return TextPart(text=words)
        case {"functionCall": {"name": str(name), **call}}:
            arguments = call.get("args", {})
            if not isinstance(arguments, dict):
                return None  # it cannot be run
            call_id = call_ids.for_call(name, text(call.get("id")))
            return ToolCallPart(id=call_id, name=name, arguments=arguments)
        case {"functionResponse": {"name": str(name), "response": dict(answer), **rest}}:
            call_id = call_ids.for_result(name, text(rest.get("id")))
            return ToolResultPart(tool_call_id=call_id, content=answer)
        case {"inlineData": {"mimeType": str(kind), "data": str(data)}}:
            return media_part(MediaSource(base64=data), kind)
        case {"fileData": {"fileUri": str(url), **rest}}:
            source = url_source(url)
            return media_part(source, text(rest.get("mimeType")) or "file/*") if source else None
        case _:
            return None
