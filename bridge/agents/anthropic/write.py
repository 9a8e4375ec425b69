"""UACS -> Anthropic Messages: a conversation as a request, a message as a response. Pure.

Lost: sounds and videos, and files that are neither PDF nor text, become text; instructions in the
middle of a conversation move to the top. Each is a `Loss`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from pydantic import JsonValue

from bridge.agents.codec.call_ids import native_id
from bridge.agents.codec.json_values import Json, arr, obj, patched, text
from bridge.agents.codec.media import as_file_text, text_in
from bridge.agents.codec.native_parts import Piece, cut_at_results, pieces_of, reasoning_text
from bridge.agents.codec.prompt import (
    PromptEntry,
    WrittenRequest,
    as_short_content,
    moved_to_top,
    piece_as_text,
    prompt_of,
    request_settings,
    stored_response,
)
from bridge.agents.codec.schemas import without_keywords
from bridge.agents.codec.tool_catalogue import (
    legal_tool_name,
    name_and_description,
    parameters_of,
    tools_of,
    write_tools,
)
from bridge.agents.codec.tool_results import blocks_of, with_document_texts, with_documents
from bridge.content.messages.agent_parts import CITATIONS, DOCUMENT
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

API = "anthropic"
IMAGES = frozenset(("image/jpeg", "image/png", "image/gif", "image/webp"))
PDF = "application/pdf"
# Keywords that the vendor's constrained decoding refuses (docs, 2026-08); the bridge validates
# them.
_UNSUPPORTED = frozenset((
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength",
    "maxLength", "maxItems", "uniqueItems", "minProperties", "maxProperties", "patternProperties",
))  # fmt: skip
_RESULT_BLOCKS = frozenset(("text", "image", "document", "search_result", "tool_reference"))


def write_request(conversation: Conversation, agent: str) -> WrittenRequest:
    """Return the body of `POST /v1/messages`."""
    prompt = prompt_of(conversation, agent, API)
    body = request_settings(conversation, agent, API)
    if (system := _system(prompt.entries, prompt.losses)) is not None:
        body["system"] = system
    body["messages"] = _messages(prompt.entries, prompt.losses)
    if tools := write_tools(tools_of(conversation), API, tool, prompt.losses):
        body["tools"] = tools
    if prompt.response_format is not None:
        original = prompt.response_format_fields.get(
            "format"
        )  # the format of an earlier request of this API
        format_ = original or output_format(prompt.response_format, prompt.losses)
        body["output_config"] = {**obj(body.get("output_config")), "format": format_}
    return WrittenRequest(body, tuple(prompt.losses))


def write_response(message: Message, agent: str) -> Json:
    """Return the response that would have given this message."""
    pieces = [piece for piece in pieces_of(message, API, [], "") if piece.message is None]
    content = list(_blocks(PromptEntry("agent", ()), pieces, []))
    base: Json = {"type": "message", "role": "assistant", "content": content}
    return obj(patched(base, stored_response(message, agent, API)))


def output_format(part: RequestedResponseFormatPart, losses: list[Loss]) -> Json:
    """Return the format for constrained decoding, without keywords that the API does not
    support."""
    schema = without_keywords(part.schema_, _UNSUPPORTED, losses)
    return {"type": "json_schema", "schema": schema}


def tool(description: Json) -> Json:
    """Return a tool in the API's form."""
    return {**name_and_description(description), "input_schema": parameters_of(description)}


def _system(entries: Sequence[PromptEntry], losses: list[Loss]) -> JsonValue:
    """Return all instructions, which stand at the top; None without any."""
    blocks: list[JsonValue] = []
    has_begun = False
    for entry in entries:
        has_begun = has_begun or entry.role != "instructions"
        if entry.role == "instructions" and not _own_role(entry):
            blocks += _blocks(entry, entry.pieces, losses)
            if has_begun:
                losses.append(moved_to_top(entry))
    return as_short_content(blocks, "text") if blocks else None


def _messages(entries: Sequence[PromptEntry], losses: list[Loss]) -> list[JsonValue]:
    """Return the messages. Results of one round of calls stand together in the message after
    them."""
    messages: list[JsonValue] = []
    results_last = False
    for entry in entries:
        for role, results, content in _runs(entry, losses):
            if results and results_last:
                last = obj(messages[-1])
                last["content"] = [*arr(last["content"]), *content]
                continue
            messages.append({"role": role, "content": as_short_content(content, "text")})
            results_last = results
    return messages


def _runs(entry: PromptEntry, losses: list[Loss]) -> Iterator[tuple[str, bool, list[JsonValue]]]:
    """Yield role, whether the blocks are tool results, and the blocks."""
    if entry.role == "instructions":
        if role := _own_role(entry):
            yield role, False, _not_blank(_blocks(entry, entry.pieces, losses))
        return
    if entry.role in ("user", "tool"):
        blocks = _not_blank(_blocks(entry, entry.pieces, losses))
        if entry.header:
            blocks.insert(0, _text(entry.header))
        if blocks:
            yield "user", entry.role == "tool", blocks
        return
    for results, run in cut_at_results(entry.pieces):
        if blocks := _not_blank(_blocks(entry, run, losses)):
            yield ("user" if results else "assistant"), results, blocks


def _not_blank(blocks: Iterator[JsonValue]) -> list[JsonValue]:
    """Return the blocks without white-space texts: the API returns them and refuses them (400,
    2026-08)."""
    return [
        native_block
        for native_block in blocks
        if obj(native_block).get("type") != "text" or text(obj(native_block).get("text")).strip()
    ]


def _own_role(entry: PromptEntry) -> str:
    """Return the role that instructions had in the middle of a request of this API."""
    roles = (text((piece.message or {}).get("role")) for piece in entry.pieces)
    return next(filter(None, roles), "")


def _blocks(entry: PromptEntry, pieces: Sequence[Piece], losses: list[Loss]) -> Iterator[JsonValue]:
    for piece in pieces:
        if piece.part is None:
            if piece.item is not None:
                yield piece.item
        elif native_block := block(piece, entry, losses):
            yield piece.restored(native_block)


def block(piece: Piece, entry: PromptEntry, losses: list[Loss]) -> Json | None:
    """Return a content block of the API; None if the piece has no content for it."""
    match piece.part:
        case TextPart(text=words):
            return _text(entry.text(words)) if words else None
        case ImagePart() | FilePart():
            return _media(piece, piece.part, entry, losses)
        case ToolCallPart(id=call_id, name=name, arguments=arguments) if entry.role == "agent":
            own_id = native_id(call_id) or call_id
            call: Json = {"type": "tool_use", "id": own_id, "name": legal_tool_name(name)}
            return {**call, "input": dict(arguments)}
        case ToolResultPart() as result if entry.role != "user":
            return _result(result)
        case StructuredDataPart(schema_id=schema) if schema == CITATIONS and entry.role == "agent":
            return None  # the text before has the sources as the API gave them
        case StructuredDataPart(schema_id=schema, data={"text": str(words), **rest}) if (
            schema == DOCUMENT
        ):
            title = text(rest.get("title"))
            if entry.header:
                return _text(entry.text(as_file_text(title, "text/plain", words)))
            return _document(title, words)
        case part if (thought := reasoning_text(part)) is not None:
            return _thinking(piece, thought, losses)
        case _:
            markdown = piece_as_text(piece, losses)
            return _text(entry.text(markdown)) if markdown else None


def _text(value: str) -> Json:
    return {"type": "text", "text": value}


def _thinking(piece: Piece, thought: str, losses: list[Loss]) -> Json | None:
    """Return reasoning that the vendor signed; it refuses any other."""
    if "signature" not in piece.fields:
        losses.append(Loss(path=piece.path, kind="reasoning", what="thoughts without signature"))
        return None
    return {"type": "thinking", "thinking": thought}


def _media(
    piece: Piece, part: ImagePart | FilePart, entry: PromptEntry, losses: list[Loss]
) -> Json | None:
    source = part.source
    kind = part.media_type
    if source.file_id and source.file_id.startswith("file_"):
        name = "image" if isinstance(part, ImagePart) else "document"
        return {"type": name, "source": {"type": "file", "file_id": source.file_id}}
    if isinstance(part, ImagePart):
        if source.url and not source.url.startswith("data:"):
            return {"type": "image", "source": {"type": "url", "url": source.url}}
        if source.base64 is not None and kind in IMAGES:
            inline: Json = {"type": "base64", "media_type": kind, "data": source.base64}
            return {"type": "image", "source": inline}
    elif kind == PDF and source.url:
        return _titled({"type": "url", "url": source.url}, entry.file_name(piece))
    elif kind == PDF and source.base64 is not None:
        pdf: Json = {"type": "base64", "media_type": kind, "data": source.base64}
        return _titled(pdf, entry.file_name(piece))
    elif (content := text_in(part)) is not None:
        if entry.header:
            return _text(entry.text(as_file_text(entry.file_name(piece), kind, content)))
        return _document(entry.file_name(piece), content)
    markdown = piece_as_text(piece, losses, "this API takes JPEG, PNG, GIF, WebP, PDF and text")
    return _text(entry.text(markdown)) if markdown else None


def _document(title: str, content: str) -> Json:
    return _titled({"type": "text", "media_type": "text/plain", "data": content}, title)


def _titled(source: Json, title: str) -> Json:
    named: Json = {"title": title} if title else {}
    return {"type": "document", "source": source, **named}


def _result(part: ToolResultPart) -> Json:
    own_id = native_id(part.tool_call_id) or part.tool_call_id
    block_: Json = {"type": "tool_result", "tool_use_id": own_id}
    content = result_content(part.content)
    if content not in ("", None):
        block_["content"] = content
    if part.is_error is not None:
        block_["is_error"] = part.is_error
    return block_


def result_content(content: JsonValue) -> JsonValue:
    """Return a string or blocks of the API unchanged, documents as its documents, anything else as
    JSON."""
    if isinstance(content, str):
        return content
    blocks = [obj(native_block) for native_block in arr(content)]
    if blocks and all(text(native_block.get("type")) in _RESULT_BLOCKS for native_block in blocks):
        return content
    converted = with_documents(
        content, lambda document: _document(text(document.get("title")), text(document["text"]))
    )
    blocks = blocks_of(converted)
    if blocks and all(native_block.get("type") in ("text", "document") for native_block in blocks):
        return list[JsonValue](blocks)
    return "" if content is None else json.dumps(with_document_texts(content), ensure_ascii=False)
