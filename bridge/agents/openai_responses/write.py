"""UACS -> OpenAI Responses: a conversation as a request, a message as a response. Pure.

Lost: videos and sounds become text; so do structured data and other agents' calls. Each is a
`Loss`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue

from bridge.agents.codec.call_ids import native_id
from bridge.agents.codec.json_values import Json, arr, obj, patched, text
from bridge.agents.codec.media import as_file_text, data_url, text_in
from bridge.agents.codec.messages import write_arguments
from bridge.agents.codec.native_parts import Piece, pieces_of, reasoning_text, with_message_fields
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
from bridge.content.messages.agent_parts import CITATIONS
from bridge.model import Loss
from bridge.uacs import (
    Conversation,
    FilePart,
    ImagePart,
    Message,
    RequestedResponseFormatPart,
    StructuredDataPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)

API = "openai-responses"
_RESULT_BLOCKS = frozenset(("input_text", "input_image", "input_file"))


def write_request(conversation: Conversation, agent: str) -> WrittenRequest:
    """Return the body of `POST /responses`."""
    prompt = prompt_of(conversation, agent, API)
    body = request_settings(conversation, agent, API)
    entries = list(prompt.entries)
    if entries and entries[0].role == "instructions" and not _role_of(entries[0]):
        body["instructions"] = _plain(entries.pop(0), prompt.losses)
    is_stored = body.get("store") is not False
    body["input"] = [item for entry in entries for item in _items(entry, prompt.losses, is_stored)]
    if tools := write_tools(tools_of(conversation), API, tool, prompt.losses):
        body["tools"] = tools
    if prompt.response_format is not None:
        format_ = patched(text_format(prompt.response_format), prompt.response_format_fields)
        body["text"] = {**obj(body.get("text")), "format": format_}
    return WrittenRequest(body, tuple(prompt.losses))


def write_response(message: Message, agent: str) -> Json:
    """Return the response that would have given this message."""
    entry = PromptEntry("agent", pieces_of(message, API, [], ""))
    base: Json = {"object": "response", "output": list(_of_agent(entry, [], stored=True))}
    return obj(patched(base, stored_response(message, agent, API)))


def text_format(part: RequestedResponseFormatPart) -> Json:
    """Return JSON mode for a schema that allows any object, else the schema."""
    if allows_any_object(part.schema_):
        return {"type": "json_object"}
    name = legal_tool_name(text(part.schema_.get("title")) or "answer")
    return {"type": "json_schema", "name": name, "schema": dict(part.schema_)}


def tool(description: Json) -> Json:
    """Return a tool in the API's form."""
    return {
        "type": "function",
        **name_and_description(description),
        "parameters": parameters_of(description),
    }


def _plain(entry: PromptEntry, losses: list[Loss]) -> str:
    texts = [
        piece.part.text if isinstance(piece.part, TextPart) else piece_as_text(piece, losses)
        for piece in entry.pieces
    ]
    return "\n\n".join(filter(None, texts))


def _role_of(entry: PromptEntry) -> str:
    roles = (text((piece.message or {}).get("role")) for piece in entry.pieces)
    return next(filter(None, roles), "")


def _items(entry: PromptEntry, losses: list[Loss], stored: bool) -> Iterator[JsonValue]:
    if entry.role == "agent":
        yield from _of_agent(entry, losses, stored=stored)
        return
    role = (_role_of(entry) or "developer") if entry.role == "instructions" else "user"
    rest: list[Piece] = []
    for piece in entry.pieces:
        if isinstance(piece.part, ToolResultPart) and entry.role == "tool":
            yield piece.restored(result(piece.part))
        elif piece.part is not None or entry.role != "tool":
            rest.append(piece)
        elif piece.item is not None:
            yield piece.item
    message = _message(role, _content(entry, rest, losses), rest)
    content = message["content"]
    if entry.header:
        message["content"] = with_header(entry.header, content, _text(entry.header))
    if content or (entry.role == "user" and any(isinstance(p.part, TextPart) for p in rest)):
        yield message


def _message(role: str, content: JsonValue, pieces: Sequence[Piece]) -> Json:
    return with_message_fields({"role": role, "content": content}, pieces)


def _of_agent(entry: PromptEntry, losses: list[Loss], *, stored: bool) -> Iterator[JsonValue]:
    """Yield the items of an agent's entry. Consecutive texts are one message; a `message` piece
    ends it."""
    content_pieces: list[Piece] = []
    for piece in entry.pieces:
        is_item = piece.item is not None and "block" not in obj(piece.item)
        item = piece.item if is_item else _item(piece, losses, stored)
        if item is None and not _is_unsent(piece):
            content_pieces.append(piece)
        if content_pieces and (item is not None or piece.message is not None):
            yield from _spoken(entry, content_pieces, losses)
            content_pieces = []
        if item is not None:
            yield item
    yield from _spoken(entry, content_pieces, losses)


def _is_unsent(piece: Piece) -> bool:
    """Return whether a piece is not sent: reasoning that does not go back, and sources, which the
    text has as the API gave them."""
    is_cited = isinstance(piece.part, StructuredDataPart) and piece.part.schema_id == CITATIONS
    return is_cited or reasoning_text(piece.part) is not None


def _spoken(entry: PromptEntry, pieces: list[Piece], losses: list[Loss]) -> Iterator[JsonValue]:
    content = _content(entry, pieces, losses)
    if content or any(piece.message is not None for piece in pieces):
        yield _message("assistant", content, pieces)


def _item(piece: Piece, losses: list[Loss], stored: bool) -> JsonValue:
    """Return an item beside messages; None for content of a message."""
    match piece.part:
        case ToolCallPart() as part:
            return piece.restored(call(part))
        case ToolResultPart() as part:
            return piece.restored(result(part))
        case part if (thought := reasoning_text(part)) is not None:
            # Without the vendor's storage only encrypted reasoning can be read there again.
            if piece.fields and (stored or "encrypted_content" in piece.fields):
                return piece.restored(thoughts(thought))
            losses.append(Loss(path=piece.path, kind="reasoning", what="thoughts of earlier"))
            return None
        case _:
            return None


def call(part: ToolCallPart) -> Json:
    """Return a call of a tool."""
    arguments = write_arguments(part.arguments)
    call_id, name = native_id(part.id) or part.id, legal_tool_name(part.name)
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments}


def result(part: ToolResultPart) -> Json:
    """Return a tool result."""
    return {
        "type": "function_call_output",
        "call_id": native_id(part.tool_call_id) or part.tool_call_id,
        "output": _output(part.content, failed=part.is_error is True),
    }


def _output(content: JsonValue, *, failed: bool) -> JsonValue:
    blocks = [obj(native_block) for native_block in arr(content)]
    if blocks and all(text(native_block.get("type")) in _RESULT_BLOCKS for native_block in blocks):
        return content
    written = text_of_result(content)
    return f"Error: {written}" if failed and not written.startswith("Error:") else written


def thoughts(thought: str) -> Json:
    """Return reasoning as an item."""
    return {"type": "reasoning", "summary": [{"type": "summary_text", "text": thought}]}


def _content(entry: PromptEntry, pieces: Sequence[Piece], losses: list[Loss]) -> JsonValue:
    """Return one text as a string, anything else as a list of blocks."""
    blocks: list[JsonValue] = []
    for piece in pieces:
        if piece.item is not None:
            blocks.append(obj(piece.item).get("block", piece.item))
        elif piece.part is not None and (native_block := block(piece, entry, losses)):
            blocks.append(piece.restored(native_block))
    return as_short_content(blocks, "input_text", "output_text") if blocks else ""


def block(piece: Piece, entry: PromptEntry, losses: list[Loss]) -> Json | None:
    """Return a content block of the API; None if the piece has no content for it."""
    kind = "output_text" if entry.role == "agent" else "input_text"
    match piece.part:
        case TextPart(text=words) if piece.fields.get("as") == "refusal":
            return {"type": "refusal", "refusal": words}
        case TextPart(text=words):
            return _text(entry.text(words), kind) if words else None
        case ImagePart() | FilePart() if entry.role != "agent":
            return _media(piece, piece.part, entry, losses)
        case _:
            markdown = piece_as_text(piece, losses)
            return _text(entry.text(markdown), kind) if markdown else None


def _text(value: str, kind: str = "input_text") -> Json:
    return {"type": kind, "text": value}


def _media(
    piece: Piece, part: ImagePart | FilePart, entry: PromptEntry, losses: list[Loss]
) -> Json:
    source = part.source
    is_image = isinstance(part, ImagePart)
    if source.file_id and source.file_id.startswith("file-"):
        if is_image:
            return {"type": "input_image", "file_id": source.file_id, "detail": "auto"}
        return {"type": "input_file", "file_id": source.file_id}
    if is_image and (source.url or source.base64 is not None):
        url = source.url or data_url(part.media_type, source.base64 or "")
        return {"type": "input_image", "image_url": url, "detail": "auto"}
    if source.url:
        return {"type": "input_file", "file_url": source.url}
    if (content := text_in(part)) is not None:
        return _text(entry.text(as_file_text(entry.file_name(piece), part.media_type, content)))
    if source.base64 is not None:
        return _file(entry.file_name(piece), part.media_type, source.base64)
    return _text(entry.text(piece_as_text(piece, losses, "its bytes are not here")))


def _file(name: str, media_type: str, content: str) -> Json:
    named: Mapping[str, JsonValue] = {"filename": name} if name else {}
    return {"type": "input_file", "file_data": data_url(media_type, content), **named}
