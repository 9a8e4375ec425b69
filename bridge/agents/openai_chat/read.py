"""Chat Completions -> UACS: a response as a message, a request as a conversation. Pure.

Raises CodecError for JSON that is not a response or request of this API."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pydantic import JsonValue

from bridge.agents.codec.json_values import Json, arr, number, obj, patch_of, text, without
from bridge.agents.codec.media import file_of_data_url, image_of_url
from bridge.agents.codec.messages import (
    ReadMessage,
    conversation_of,
    message_of,
    moderation_of,
    read_arguments,
    response_message,
    usage_of,
)
from bridge.agents.codec.native_parts import (
    citation_parts,
    pieces_of,
    reasoning,
    state,
    with_fields,
)
from bridge.agents.codec.prompt import PromptEntry
from bridge.agents.codec.tool_catalogue import read_tool
from bridge.agents.openai_chat import write
from bridge.agents.openai_chat.thoughts import Thought, split_thoughts
from bridge.agents.openai_chat.write import API, REASONING_KEYS, SOUNDS
from bridge.errors import CodecError
from bridge.uacs import (
    AudioPart,
    ContentPart,
    Conversation,
    FilePart,
    MediaSource,
    Message,
    RequestedResponseFormatPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)

_ENTRY = PromptEntry("agent", ())
_FORMATS = {name: kind for kind, name in SOUNDS.items()}


def read_response(response: JsonValue, agent: str) -> Message:
    """Return the message of a response that was not streamed."""
    body = obj(response)
    choices = [obj(native_choice) for native_choice in arr(body.get("choices"))]
    if not choices or not isinstance(choices[0].get("message"), dict):
        raise CodecError("/choices/0/message", "is missing; this is no chat completion")
    message = obj(choices[0]["message"])
    parts = message_parts(message, "0")
    created = number(body.get("created"))
    without_message = [without(choice, "message") for choice in choices[:1]] + choices[1:]
    rest: Json = {**without(body, "choices"), "choices": list[JsonValue](without_message)}
    rest["object"] = text(body.get("object")) or None
    return response_message(
        parts, agent, API, rest,
        answer_id=text(body.get("id")), created=created, usage=read_usage(body),
    )  # fmt: skip


def read_usage(body: Json) -> Json:
    """Return token counts under neutral names."""
    usage = obj(body.get("usage"))
    return usage_of(
        API, text(body.get("model")),
        input=usage.get("prompt_tokens"), output=usage.get("completion_tokens"),
        cached=obj(usage.get("prompt_tokens_details")).get("cached_tokens"),
        reasoning=obj(usage.get("completion_tokens_details")).get("reasoning_tokens"),
    )  # fmt: skip


def read_moderation(body: Json) -> Json:
    """Return filter results (of Azure and compatible servers), and why an answer was withheld."""
    choice = obj((arr(body.get("choices")) or [None])[0])
    reason = text(choice.get("finish_reason"))
    return moderation_of(
        reason if reason == "content_filter" else "",
        question=body.get("prompt_filter_results"),
        answer=choice.get("content_filter_results"),
    )


def read_request(request: JsonValue, agent: str) -> Conversation:
    """Return the conversation in the body of a request."""
    body = obj(request)
    if not isinstance(body.get("messages"), list):
        raise CodecError("/messages", "is missing; this is no request for a chat completion")
    messages = [
        _read_message(obj(message), f"{n}") for n, message in enumerate(arr(body["messages"]))
    ]
    tools = [_tool(tool) for tool in arr(body.get("tools"))]
    rest = without(body, "messages", "tools")
    answer_format = _requested_format(body.get("response_format"))
    if answer_format:
        del rest["response_format"]
    return conversation_of(messages, agent, API, rest, tools, answer_format)


def _tool(native: JsonValue) -> Json:
    description = obj(native)
    neutral = obj(description.get("function")) if description.get("type") == "function" else {}
    return read_tool(native, neutral, API, write.tool)


def _requested_format(native: JsonValue) -> list[ContentPart]:
    """Return the format of the next answer; nothing if any text may follow."""
    format_ = obj(native)
    if format_.get("type") == "json_object":
        schema: Json = {"type": "object"}
    elif format_.get("type") == "json_schema":
        schema = obj(obj(format_.get("json_schema")).get("schema"))
    else:
        return []
    part = RequestedResponseFormatPart(schema=schema)
    return with_fields(API, part, write.response_format(part), format_)


def _read_message(message: Json, number_: str) -> ReadMessage:
    role = text(message.get("role"))
    name = text(message.get("name"))
    if role in ("system", "developer"):
        return ReadMessage("instructions", _with_rest(_content(message), message, "system"), name)
    if role == "assistant":
        return ReadMessage("agent", message_parts(message, number_), name)
    if role == "tool":
        call_id = text(message.get("tool_call_id"))
        part = ToolResultPart(tool_call_id=call_id, content=message.get("content"))
        base: Json = {"role": "tool", "tool_call_id": call_id}
        base["content"] = write.result_text(part, "", [])
        return ReadMessage("tool", with_fields(API, part, base, message))
    unnamed = without(message, "name") if name else message
    return ReadMessage("user", _with_rest(_content(message), unnamed, "user"), name)


def _with_rest(parts: list[ContentPart], message: Json, role: str) -> list[ContentPart]:
    rest: Json = patch_of({"role": role, "content": None}, message)
    rest.pop("content", None)
    return [*parts, state(API, message=rest)] if rest else parts


def message_parts(message: Json, number_: str) -> list[ContentPart]:
    """Return the parts of a model's message: reasoning, content, calls, then what only the API
    understands."""
    parts: list[ContentPart] = []
    for key in REASONING_KEYS:
        if thought := text(message.get(key)):
            parts += [reasoning(thought), state(API, fields={"as": key})]
    parts += _content(message)
    if refusal := text(message.get("refusal")):
        parts += [TextPart(text=refusal), state(API, fields={"as": "refusal"})]
    parts += _pictures(message)
    for index, tool_call in enumerate(arr(message.get("tool_calls"))):
        parts += call_parts(obj(tool_call), f"uacs_call_{number_}_{index}")
    probe = message_of(ReadMessage("agent", parts), "probe", "probe", None)
    written = write.write_response(probe, "probe")
    base = obj(obj(arr(written["choices"])[0])["message"])
    patch = patch_of(base, message)
    rest = {
        k: value for k, value in patch.items() if value not in (None, "") or k in REASONING_KEYS
    }
    if rest.get("annotations"):
        parts += citation_parts(_sources(arr(rest["annotations"])))
    return [*parts, state(API, message=rest)] if rest else parts


def _sources(annotations: Sequence[JsonValue]) -> list[JsonValue]:
    citations = [obj(obj(annotation).get("url_citation")) for annotation in annotations]
    return [
        {key: candidate[key] for key in ("title", "url") if key in candidate}
        for candidate in citations
        if candidate
    ]


def call_parts(call: Json, made_id: str) -> list[ContentPart]:
    """Return a call of a tool; one without an id gets `made_id`."""
    function = obj(call.get("function"))
    arguments = read_arguments(function.get("arguments"))
    if call.get("type", "function") != "function" or arguments is None:
        return [state(API, item=call)]  # it cannot be run
    part = ToolCallPart(
        id=text(call.get("id")) or made_id, name=text(function.get("name")), arguments=arguments
    )
    base = write.call(part)
    fields = obj(without(call, "function"))
    rest: Json = without(function, "arguments")
    return with_fields(API, part, _without_arguments(base), {**fields, "function": rest})


def _without_arguments(call: Json) -> Json:
    return {**call, "function": without(obj(call["function"]), "arguments")}


def _content(message: Json) -> list[ContentPart]:
    content = message.get("content")
    if isinstance(content, str) and message.get("role", "assistant") == "assistant":
        return [part for piece in split_thoughts(content) for part in thought_parts(piece)]
    if isinstance(content, str):
        return [TextPart(text=content)]
    return [part for block in arr(content) for part in block_parts(block)]


def thought_parts(piece: str | Thought) -> list[ContentPart]:
    """Return the part of a piece of text; the tags around reasoning are state for the API alone."""
    if isinstance(piece, str):
        return [TextPart(text=piece)]
    fields: Json = {"as": "think", "before": piece.before, "after": piece.after}
    return [reasoning(piece.text), state(API, fields=fields)]


def _pictures(message: Json) -> list[ContentPart]:
    """Return generated images, which stand in a member of their own (OpenRouter)."""
    parts: list[ContentPart] = []
    for image in map(obj, arr(message.get("images"))):
        part = _image(image) if image.get("type", "image_url") == "image_url" else None
        if part is not None:
            url = obj(image.get("image_url")).get("url")
            base: Json = {"type": "image_url", "image_url": {"url": url}}
            parts += [part, state(API, fields={"as": "images", **patch_of(base, image)})]
    return parts


def block_parts(native: JsonValue) -> list[ContentPart]:
    """Return the UACS parts of a content block; one without a UACS equivalent is stored as it
    is."""
    block = obj(native)
    reader = _BLOCKS.get(text(block.get("type")))
    part = reader(block) if reader else None
    if part is None:
        return [state(API, item=native)]
    if block.get("type") == "thinking":
        return [part, state(API, fields={"as": "block"})]
    (piece,) = pieces_of(
        message_of(ReadMessage("agent", [part]), "probe", "probe", None), API, [], ""
    )
    base = write.block(piece, _ENTRY, [])
    return with_fields(API, part, base or {}, block)


def _text(block: Json) -> ContentPart | None:
    return TextPart(text=text(block.get("text")))


def _image(block: Json) -> ContentPart | None:
    return image_of_url(text(obj(block.get("image_url")).get("url")))


def _sound(block: Json) -> ContentPart | None:
    sound = obj(block.get("input_audio"))
    kind = _FORMATS.get(text(sound.get("format")))
    content = text(sound.get("data"))
    return AudioPart(source=MediaSource(base64=content), media_type=kind) if kind else None


def _file(block: Json) -> ContentPart | None:
    file = obj(block.get("file"))
    if file_id := text(file.get("file_id")):
        kind = "application/octet-stream"
        return FilePart(source=MediaSource(file_id=file_id), media_type=kind)
    return file_of_data_url(text(file.get("file_data")))


def _thinking(block: Json) -> ContentPart | None:
    blocks = [obj(native_block) for native_block in arr(block.get("thinking"))]
    if not all(native_block.keys() == {"type", "text"} for native_block in blocks):
        return None
    return reasoning("".join(text(native_block.get("text")) for native_block in blocks))


_BLOCKS: dict[str, Callable[[Json], ContentPart | None]] = {
    "text": _text,
    "image_url": _image,
    "input_audio": _sound,
    "file": _file,
    "thinking": _thinking,
}
