"""OpenAI Responses -> UACS: a response as a message, a request as a conversation. Pure.

Raises CodecError for JSON that is not a response or request of this API."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pydantic import JsonValue

from bridge.agents.codec.call_ids import CallIds
from bridge.agents.codec.json_values import Json, arr, number, obj, patch_of, text, without
from bridge.agents.codec.media import file_of_data_url, guessed_type, image_of_url, url_source
from bridge.agents.codec.messages import (
    ReadMessage,
    conversation_of,
    moderation_of,
    read_arguments,
    response_message,
    usage_of,
)
from bridge.agents.codec.native_parts import Piece, citation_parts, reasoning, state, with_fields
from bridge.agents.codec.prompt import PromptEntry
from bridge.agents.codec.tool_catalogue import read_tool
from bridge.agents.openai_responses import write
from bridge.agents.openai_responses.write import API
from bridge.content.messages.agent_parts import CITATIONS, STATE
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

_USER, _AGENT = PromptEntry("user", ()), PromptEntry("agent", ())
_FILE = "application/octet-stream"


def read_response(response: JsonValue, agent: str) -> Message:
    """Return the message of a response that was not streamed."""
    body = obj(response)
    if not isinstance(body.get("output"), list):
        raise CodecError("/output", "is missing; this is no response of this API")
    parts: list[ContentPart] = []
    call_ids = CallIds("answer")
    for item in map(obj, arr(body["output"])):
        if parts and _is_open(parts) and item.get("type", "message") == "message":
            parts.append(state(API, message={}))
        parts += item_parts(item, call_ids)
    created = number(body.get("created_at"))
    rest = patch_of({"object": "response"}, without(body, "output"))
    return response_message(
        parts, agent, API, rest,
        answer_id=text(body.get("id")), created=created, usage=read_usage(body),
    )  # fmt: skip


def read_usage(body: Json) -> Json:
    """Return token counts under neutral names."""
    usage = obj(body.get("usage"))
    return usage_of(
        API, text(body.get("model")),
        input=usage.get("input_tokens"), output=usage.get("output_tokens"),
        cached=obj(usage.get("input_tokens_details")).get("cached_tokens"),
        reasoning=obj(usage.get("output_tokens_details")).get("reasoning_tokens"),
    )  # fmt: skip


def read_moderation(body: Json) -> Json:
    """Return filter results, and why an answer was withheld."""
    reason = text(obj(body.get("incomplete_details")).get("reason"))
    withheld_reason = reason if reason == "content_filter" else ""
    return moderation_of(withheld_reason, filters=body.get("content_filters"))


def read_request(request: JsonValue, agent: str) -> Conversation:
    """Return the conversation in the body of a request."""
    body = obj(request)
    input_ = body.get("input")
    if not isinstance(input_, (str, list)):
        raise CodecError("/input", "is missing; this is no request of this API")
    items: list[JsonValue] = [{"role": "user", "content": input_}] if input_ else []
    messages = _instructions(body.get("instructions"))
    call_ids = CallIds("0")
    for item in items if isinstance(input_, str) else arr(input_):
        _join(messages, _read_message(obj(item), call_ids))
    tools = [_tool(tool) for tool in arr(body.get("tools"))]
    rest = without(body, "input", "instructions", "tools")
    return conversation_of(messages, agent, API, rest, tools, _requested_format(rest))


def _instructions(instructions: JsonValue) -> list[ReadMessage]:
    return (
        [ReadMessage("instructions", [TextPart(text=instructions)])]
        if isinstance(instructions, str)
        else []
    )


def _join(messages: list[ReadMessage], read_message: ReadMessage) -> None:
    """Append an item. Consecutive items of the agent are one message, and so are consecutive
    results."""
    in_a_row = (
        bool(messages)
        and read_message.role in ("agent", "tool")
        and messages[-1].role == read_message.role
    )
    if in_a_row and not (
        _is_open(messages[-1].parts) and isinstance(read_message.parts[0], TextPart)
    ):
        messages[-1] = ReadMessage(read_message.role, [*messages[-1].parts, *read_message.parts])
    else:
        messages.append(read_message)


def _is_open(parts: Sequence[ContentPart]) -> bool:
    """Return whether the last part is a message whose end is not marked."""
    for part in reversed(parts):
        if isinstance(part, TextPart):
            return True
        data = part.data if isinstance(part, StructuredDataPart) else {}
        if not isinstance(data, Mapping) or "message" in data or "item" in data:
            return False
        if isinstance(part, StructuredDataPart) and part.schema_id not in (STATE, CITATIONS):
            return False
    return False


def _read_message(item: Json, call_ids: CallIds) -> ReadMessage:
    role = text(item.get("role"))
    if item.get("type") == "function_call_output":
        return ReadMessage("tool", item_parts(item, call_ids))
    if item.get("type", "message") != "message" or role == "assistant":
        return ReadMessage("agent", item_parts(item, call_ids))
    voice = "user" if role == "user" else "instructions"
    return ReadMessage(voice, _message_parts(item, _USER, role))


def _tool(native: JsonValue) -> Json:
    description = obj(native)
    return read_tool(
        native, description if description.get("type") == "function" else {}, API, write.tool
    )


def _requested_format(rest: Json) -> list[ContentPart]:
    """Return the format of the next answer, and remove it from the rest of the request."""
    config = obj(rest.get("text"))
    native = obj(config.get("format"))
    if native.get("type") == "json_object":
        schema: Json = {"type": "object"}
    elif native.get("type") == "json_schema":
        schema = obj(native.get("schema"))
    else:
        return []
    rest.pop("text")
    if remaining := without(config, "format"):
        rest["text"] = remaining
    part = RequestedResponseFormatPart(schema=schema)
    return with_fields(API, part, write.text_format(part), native)


def item_parts(item: Json, call_ids: CallIds) -> list[ContentPart]:
    """Return the UACS parts of an output item; one without a UACS equivalent is stored as it is."""
    match item.get("type", "message"):
        case "message":
            return _message_parts(item, _AGENT, "assistant")
        case "reasoning":
            return _thoughts(item)
        case "function_call":
            return _call(item, call_ids)
        case "function_call_output":
            api_id, output = text(item.get("call_id")), item.get("output")
            call_id = call_ids.for_result("", api_id) if api_id else ""
            part = ToolResultPart(tool_call_id=call_id, content="" if output is None else output)
            return with_fields(API, part, write.result(part), item)
        case _:
            return [state(API, item=item)]


def _call(item: Json, call_ids: CallIds) -> list[ContentPart]:
    arguments = read_arguments(item.get("arguments"))
    if arguments is None:
        return [state(API, item=item)]  # it cannot be run
    name = text(item.get("name"))
    call_id = call_ids.for_call(name, text(item.get("call_id")))
    part = ToolCallPart(id=call_id, name=name, arguments=arguments)
    base = without(write.call(part), "arguments")
    if not text(item.get("call_id")):
        item = {**item, "call_id": call_id}  # the API requires an id, and the result has this one
    return with_fields(API, part, base, without(item, "arguments"))


def _thoughts(item: Json) -> list[ContentPart]:
    blocks = [
        obj(native_block) for native_block in (*arr(item.get("summary")), *arr(item.get("content")))
    ]
    reasoning_words = "\n\n".join(filter(None, (text(block.get("text")) for block in blocks)))
    if not reasoning_words:
        return [state(API, item=item)]
    part = reasoning(reasoning_words)
    return with_fields(API, part, write.thoughts(reasoning_words), item)


def _message_parts(item: Json, entry: PromptEntry, role: str) -> list[ContentPart]:
    parts = content_parts(item.get("content"), entry)
    rest = patch_of({"role": role if entry is _AGENT else None}, without(item, "content"))
    if entry is _USER and role == "user":
        rest.pop("role", None)
    return [*parts, state(API, message=rest)] if rest else parts


def content_parts(content: JsonValue, entry: PromptEntry) -> list[ContentPart]:
    """Return the UACS parts of a message's content."""
    if isinstance(content, str):
        return [TextPart(text=content)]
    return [part for block in arr(content) for part in block_parts(block, entry)]


def block_parts(native: JsonValue, entry: PromptEntry = _AGENT) -> list[ContentPart]:
    """Return the UACS parts of a content block; one without a UACS equivalent is stored as it
    is."""
    block = obj(native)
    kind = text(block.get("type"))
    if kind == "refusal":
        part = TextPart(text=text(block.get("refusal")))
        return [part, state(API, fields={"as": "refusal"})]
    reader = _BLOCKS.get(kind)
    part = reader(block) if reader else None
    if part is None:
        return [state(API, item={"block": native} if entry is _AGENT else native)]
    written = write.block(Piece("", part), entry, [])
    patch = patch_of(written or {"type": kind, "text": ""}, block)
    sources = citation_parts(_sources(block))
    return [part, *sources, state(API, fields=patch)] if patch else [part, *sources]


def _sources(block: Json) -> list[JsonValue]:
    annotations = [obj(annotation) for annotation in arr(block.get("annotations"))]
    return [
        {
            "title": text(candidate.get("title")) or text(candidate.get("filename")),
            "url": text(candidate.get("url")),
        }
        for candidate in annotations
        if text(candidate.get("type")) in ("url_citation", "file_citation")
    ]


def _text(block: Json) -> ContentPart | None:
    return TextPart(text=text(block.get("text")))


def _image(block: Json) -> ContentPart | None:
    if file_id := text(block.get("file_id")):
        return ImagePart(source=MediaSource(file_id=file_id), media_type="image/*")
    return image_of_url(text(block.get("image_url")))


def _file(block: Json) -> ContentPart | None:
    url, file_id = text(block.get("file_url")), text(block.get("file_id"))
    if file_id:
        return FilePart(source=MediaSource(file_id=file_id), media_type=_FILE)
    if url:
        source = url_source(url)
        return FilePart(source=source, media_type=guessed_type(url, _FILE)) if source else None
    return file_of_data_url(text(block.get("file_data")))


_BLOCKS: dict[str, Callable[[Json], ContentPart | None]] = {
    "input_text": _text,
    "output_text": _text,
    "input_image": _image,
    "input_file": _file,
}
