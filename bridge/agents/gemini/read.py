"""Google Gemini -> UACS: a response as a message, a request as a conversation. Pure.

Raises CodecError where the JSON is no response or request of this API.
"""

from __future__ import annotations

from typing import cast

from pydantic import JsonValue

from bridge.agents.codec.call_ids import Calls
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
    """The body of an answer that was not streamed. A prompt that was blocked has no candidate."""
    body = obj(response)
    candidates = [obj(candidate) for candidate in arr(body.get("candidates"))]
    if not candidates and "promptFeedback" not in body:
        raise CodecError("/candidates", "is missing; this is no response of this API")
    first = candidates[0] if candidates else {}
    content = obj(first.get("content"))
    answer = text(body.get("responseId")) or "answer"
    calls = Calls(answer)
    parts = [
        part
        for native_part in arr(content.get("parts"))
        for part in block_parts(native_part, calls)
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
    """The pages that an answer rests on."""
    chunks = arr(obj(candidate.get("groundingMetadata")).get("groundingChunks"))
    webs = [obj(obj(chunk).get("web") or obj(chunk).get("retrievedContext")) for chunk in chunks]
    return citation_parts(
        [{"title": text(w.get("title")), "url": text(w.get("uri"))} for w in webs if w]
    )


def read_usage(body: Json) -> Json:
    """Tokens in neutral words; the vendor does not count thoughts among those of the answer."""
    usage = obj(body.get("usageMetadata"))
    return usage_of(
        API, text(body.get("modelVersion")),
        input=usage.get("promptTokenCount"), output=usage.get("candidatesTokenCount"),
        cached=usage.get("cachedContentTokenCount"), reasoning=usage.get("thoughtsTokenCount"),
    )  # fmt: skip


def read_moderation(body: Json) -> Json:
    """Ratings of the question and of the answer, and why one of them was blocked."""
    asked = obj(body.get("promptFeedback"))
    answered = obj((arr(body.get("candidates")) or [None])[0])
    reason = text(asked.get("blockReason")) or text(answered.get("finishReason"))
    return moderation_of(
        reason if reason not in ("STOP", "MAX_TOKENS") else "",
        question=asked.get("safetyRatings"),
        answer=answered.get("safetyRatings"),
    )


def read_request(request: JsonValue, agent: str) -> Conversation:
    """The body of a request."""
    body = obj(request)
    if not isinstance(body.get("contents"), list):
        raise CodecError("/contents", "is missing; this is no request of this API")
    calls = Calls("0")
    said = _system(obj(body.get("systemInstruction")), calls)
    said += [_said(obj(block), calls) for block in arr(body["contents"])]
    tools = [tool for native_tool in arr(body.get("tools")) for tool in _tools(obj(native_tool))]
    rest = without(body, "systemInstruction", "contents", "tools")
    return conversation_of(said, agent, API, rest, tools, _wanted(rest))


def _system(content: Json, calls: Calls) -> list[ReadMessage]:
    parts = [
        part
        for native_part in arr(content.get("parts"))
        for part in block_parts(native_part, calls)
    ]
    rest = without(content, "parts")
    kept = [*parts, state(API, message=rest)] if rest else parts
    return [ReadMessage("instructions", kept)] if parts else []


def _said(content: Json, calls: Calls) -> ReadMessage:
    role = text(content.get("role"))
    parts = [
        part
        for native_part in arr(content.get("parts"))
        for part in block_parts(native_part, calls)
    ]
    if role == "model":
        return ReadMessage("agent", parts)
    results = any(isinstance(part, ToolResultPart) for part in parts)
    patch = patch_of({"role": "user"}, without(content, "parts"))
    kept = [*parts, state(API, message=patch)] if patch else parts
    return ReadMessage("tool" if results else "user", kept)


def _tools(native: Json) -> list[Json]:
    functions = native.get("functionDeclarations")
    if not isinstance(functions, list) or len(native) > 1:
        return [{"native": {API: native}}]
    return [_tool(obj(function)) for function in functions]


def _tool(one: Json) -> Json:
    given = (one.get(key) for key in ("parametersJsonSchema", "parameters_json_schema"))
    schema = next((found for found in given if found is not None), None)
    if schema is None:
        schema = as_json_schema(one.get("parameters"))
    return read_tool(one, {**one, "parameters": schema}, API, write.tool)


def as_json_schema(value: JsonValue) -> JsonValue:
    """The vendor's older schemas name types in capitals (OpenAPI's subset)."""
    if isinstance(value, list):
        return [as_json_schema(item) for item in value]
    if not isinstance(value, dict):
        return value
    read = {key: as_json_schema(member) for key, member in value.items()}
    kind = read.get("type")
    return {**read, "type": kind.lower()} if isinstance(kind, str) else read


def _wanted(rest: Json) -> list[ContentPart]:
    """The format of the next answer, taken out of the rest of the request."""
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


def block_parts(native: JsonValue, calls: Calls) -> list[ContentPart]:
    """A part of the API; what no part of ours says stands there as it is."""
    block = obj(native)
    part = _part(block, calls)
    if part is None:
        return [state(API, item=native)]
    base = write.block(Piece("", part, fields={"": ""}), _ENTRY, {}, [])
    patch = patch_of(base or {}, block)
    return [part, state(API, fields=patch)] if patch else [part]


def _part(block: Json, calls: Calls) -> ContentPart | None:
    match block:
        case {"text": str(said), "thought": True}:
            return reasoning(said)
        case {"text": str(said)}:
            return TextPart(text=said)
        case {"functionCall": {"name": str(name), **call}}:
            arguments = call.get("args", {})
            if not isinstance(arguments, dict):
                return None  # nobody can run it as it stands
            call_id = calls.call(name, text(call.get("id")))
            return ToolCallPart(id=call_id, name=name, arguments=arguments)
        case {"functionResponse": {"name": str(name), "response": dict(answer), **rest}}:
            call_id = calls.result(name, text(rest.get("id")))
            return ToolResultPart(tool_call_id=call_id, content=answer)
        case {"inlineData": {"mimeType": str(kind), "data": str(data)}}:
            return media_part(MediaSource(base64=data), kind)
        case {"fileData": {"fileUri": str(url), **rest}}:
            source = url_source(url)
            return media_part(source, text(rest.get("mimeType")) or "file/*") if source else None
        case _:
            return None
