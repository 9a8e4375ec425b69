"""UACS -> Chat Completions: a conversation as a request, a message as a response. Pure.

Lost: videos, files by address and sounds other than WAV and MP3 become text; so do structured data
and other agents' calls. Each is a `Loss`."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import JsonValue

from bridge.agents.codec.json_values import Json, arr, obj, patched, text
from bridge.agents.codec.media import as_file_text, data_url, text_in
from bridge.agents.codec.messages import write_arguments
from bridge.agents.codec.native_parts import (
    Piece,
    cut_at_results,
    pieces_of,
    reasoning_text,
    with_message_fields,
)
from bridge.agents.codec.prompt import (
    PromptEntry,
    WrittenRequest,
    as_short_content,
    piece_as_text,
    prompt_of,
    request_settings,
    stored_response,
    with_header,
)
from bridge.agents.codec.schemas import allows_any_object
from bridge.agents.codec.tool_catalogue import (
    legal_tool_name,
    name_and_description,
    parameters_of,
    tools_of,
    write_tools,
)
from bridge.agents.codec.tool_results import text_of_result
from bridge.model import Loss
from bridge.uacs import (
    AudioPart,
    Conversation,
    FilePart,
    ImagePart,
    Message,
    RequestedResponseFormatPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)

API = "openai-chat"
SOUNDS = {"audio/wav": "wav", "audio/mpeg": "mp3"}
REASONING_KEYS = ("reasoning_content", "reasoning")  # DeepSeek and xAI; Groq and OpenRouter


def write_request(conversation: Conversation, agent: str) -> WrittenRequest:
    """Return the body of `POST /chat/completions`."""
    prompt = prompt_of(conversation, agent, API)
    body = request_settings(conversation, agent, API)
    messages = [message for entry in prompt.entries for message in _messages(entry, prompt.losses)]
    body["messages"] = list(messages)
    if tools := write_tools(tools_of(conversation), API, tool, prompt.losses):
        body["tools"] = tools
    if prompt.response_format is not None:
        body["response_format"] = patched(
            response_format(prompt.response_format), prompt.response_format_fields
        )
    return WrittenRequest(body, tuple(prompt.losses))


def write_response(message: Message, agent: str) -> Json:
    """Return the response that would have given this message."""
    message_body = _agents_message(
        list(pieces_of(message, API, [], "")), PromptEntry("agent", ()), []
    )
    choice: Json = {"index": 0, "message": message_body}
    response: Json = {"object": "chat.completion", "choices": [choice]}
    patch = stored_response(message, agent, API)
    choices = arr(patch.get("choices"))
    merged = patched(response, {key: value for key, value in patch.items() if key != "choices"})
    choice = obj(patched(choice, choices[0])) if choices else choice
    return {**obj(merged), "choices": [choice]}


def response_format(part: RequestedResponseFormatPart) -> Json:
    """Return JSON mode for a schema that allows any object, else the schema."""
    if allows_any_object(part.schema_):
        return {"type": "json_object"}
    schema = dict(part.schema_)
    name = legal_tool_name(text(schema.get("title")) or "answer")
    return {"type": "json_schema", "json_schema": {"name": name, "schema": schema}}


def tool(description: Json) -> Json:
    """Return a tool in the API's form."""
    function: Json = {**name_and_description(description), "parameters": parameters_of(description)}
    return {"type": "function", "function": function}


def _messages(entry: PromptEntry, losses: list[Loss]) -> list[JsonValue]:
    match entry.role:
        case "instructions":
            return [_instructions(entry, losses)]
        case "user":
            return _of_user(entry, list(entry.pieces), losses)
        case _:
            return _of_agent(entry, losses)


def _instructions(entry: PromptEntry, losses: list[Loss]) -> JsonValue:
    message: Json = {"role": "system", "content": _content(entry, entry.pieces, losses)}
    return with_message_fields(message, entry.pieces)


def _of_user(entry: PromptEntry, pieces: list[Piece], losses: list[Loss]) -> list[JsonValue]:
    content = _content(entry, pieces, losses)
    if not content and not any(isinstance(piece.part, TextPart) for piece in pieces):
        return []
    message: Json = {"role": "user", "content": content}
    if entry.name:
        message["name"] = entry.name
    elif entry.header:
        message["content"] = with_header(entry.header, content, _text(entry.header))
    return [with_message_fields(message, pieces)]


def _of_agent(entry: PromptEntry, losses: list[Loss]) -> list[JsonValue]:
    """Return the messages of an entry. Calls and their results are messages of their own, and so is
    text between them."""
    messages: list[JsonValue] = []
    for results, run in cut_at_results(entry.pieces):
        if results:
            messages += _results(run, losses)
        elif entry.role == "agent":
            messages.append(_agents_message(run, entry, losses))
        elif any(piece.part is not None for piece in run):
            messages += _of_user(entry, run, losses)
    return messages


def _results(run: Sequence[Piece], losses: list[Loss]) -> list[JsonValue]:
    messages: list[JsonValue] = []
    for piece in run:
        if isinstance(part := piece.part, ToolResultPart):
            content = result_text(part, piece.path, losses)
            message: Json = {"role": "tool", "tool_call_id": part.tool_call_id, "content": content}
            messages.append(piece.restored(message))
        elif piece.message is not None and messages:
            messages[-1] = patched(messages[-1], dict(piece.message))
    return messages


def result_text(part: ToolResultPart, path: str, losses: list[Loss]) -> str:
    """Return a tool result as text; the API has no field for a failure."""
    content = text_of_result(part.content)
    if part.is_error:
        losses.append(Loss(path=path, kind="error_as_text", what="is_error", shown_as="Error:"))
        return content if content.startswith("Error:") else f"Error: {content}"
    return content


def _agents_message(run: Sequence[Piece], entry: PromptEntry, losses: list[Loss]) -> Json:
    message: Json = {"role": "assistant"}
    content_pieces: list[Piece] = []
    calls: list[JsonValue] = []
    pictures: list[JsonValue] = []
    for piece in run:
        thought = reasoning_text(piece.part)
        key = text(piece.fields.get("as"))
        if piece.part is None and "function" in obj(piece.item):
            calls.append(piece.item)
        elif isinstance(piece.part, ToolCallPart):
            calls.append(piece.restored(call(piece.part)))
        elif thought is not None and key in REASONING_KEYS:
            message[key] = text(message.get(key)) + thought
        elif thought is not None and key not in ("block", "think"):
            losses.append(Loss(path=piece.path, kind="reasoning", what="thoughts of earlier"))
        elif isinstance(piece.part, TextPart) and key == "refusal":
            message["refusal"] = piece.part.text
        elif key == "images" and (picture := block(piece, entry, losses)):
            pictures.append(piece.restored(picture))
        else:
            content_pieces.append(piece)
    content = _content(entry, _with_thoughts(content_pieces), losses)
    if pictures:
        message["images"] = pictures
    if content or not calls:
        message["content"] = content
    if calls:
        message["tool_calls"] = calls
    return with_message_fields(message, run)


def _with_thoughts(pieces: Sequence[Piece]) -> list[Piece]:
    """Put reasoning that stood within the text back, as the server wrote it."""
    merged: list[Piece] = []
    joins_messages = False
    for piece in pieces:
        if piece.fields.get("as") == "think":
            before, after = text(piece.fields.get("before")), text(piece.fields.get("after"))
            words = f"{before}{reasoning_text(piece.part) or ''}{after}"
            piece = Piece(piece.path, TextPart(text=words))
            joins_messages = True
        last = merged[-1].part if merged else None
        if joins_messages and isinstance(piece.part, TextPart) and isinstance(last, TextPart):
            both = TextPart(text=f"{last.text}{piece.part.text}")
            merged[-1] = Piece(merged[-1].path, both)
        else:
            merged.append(piece)
    return merged


def call(part: ToolCallPart) -> Json:
    """Return a call of a tool."""
    arguments = write_arguments(part.arguments)
    function: Json = {"name": legal_tool_name(part.name), "arguments": arguments}
    return {"id": part.id, "type": "function", "function": function}


def _content(entry: PromptEntry, pieces: Sequence[Piece], losses: list[Loss]) -> JsonValue:
    """Return one text as a string, anything else as a list of blocks."""
    blocks: list[JsonValue] = []
    for piece in pieces:
        if piece.part is None:
            blocks += [piece.item] if piece.item is not None else []
        elif block_ := block(piece, entry, losses):
            blocks.append(piece.restored(block_))
    return as_short_content(blocks, "text") if blocks else ""


def block(piece: Piece, entry: PromptEntry, losses: list[Loss]) -> Json | None:
    """Return a content block of the API; None if the piece has no content for it."""
    match piece.part:
        case TextPart(text=words):
            return _text(entry.text(words))
        case ImagePart(source=source) if source.url or source.base64:
            url = source.url or data_url(piece.part.media_type, source.base64 or "")
            return {"type": "image_url", "image_url": {"url": url}}
        case AudioPart(source=source, media_type=kind) if source.base64 and kind in SOUNDS:
            sound: Json = {"data": source.base64, "format": SOUNDS[kind]}
            return {"type": "input_audio", "input_audio": sound}
        case FilePart():
            return _file(piece, piece.part, entry, losses)
        case part if (thought := reasoning_text(part)) is not None:
            return {"type": "thinking", "thinking": [_text(thought)]}
        case _:
            markdown = piece_as_text(piece, losses)
            return _text(entry.text(markdown)) if markdown else None


def _text(value: str) -> Json:
    return {"type": "text", "text": value}


def _file(piece: Piece, part: FilePart, entry: PromptEntry, losses: list[Loss]) -> Json | None:
    name = entry.file_name(piece)
    if part.source.file_id and part.source.file_id.startswith("file-"):
        return {"type": "file", "file": {"file_id": part.source.file_id}}
    content = text_in(part)
    if content is not None:
        return _text(entry.text(as_file_text(name, part.media_type, content)))
    if part.source.base64 is None:
        markdown = piece_as_text(piece, losses, "this API takes no file by its address")
        return _text(entry.text(markdown))
    url = data_url(part.media_type, part.source.base64)
    return {"type": "file", "file": {"file_data": url, **({"filename": name} if name else {})}}
