"""UACS -> Ailoy's messages: a conversation as a request, a message as a response. Pure.

Lost: sounds, videos and files become text; so do structured data of other schemas and other agents'
calls. Each is a `Loss`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import orjson
from pydantic import JsonValue

from bridge.agents.codec.call_ids import native_id
from bridge.agents.codec.json_values import Json, obj, patched, text
from bridge.agents.codec.media import as_file_text, text_in
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
    call_names,
    piece_as_text,
    prompt_of,
    request_settings,
    stored_response,
)
from bridge.agents.codec.schemas import allows_any_object
from bridge.agents.codec.tool_catalogue import (
    legal_tool_name,
    name_and_description,
    parameters_of,
    tools_of,
    write_tools,
)
from bridge.agents.codec.tool_results import with_documents
from bridge.content.messages.agent_parts import CITATIONS, DOCUMENT, VALUE
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
    write,
)

API = "ailoy"


def write_request(conversation: Conversation, agent: str) -> WrittenRequest:
    """Return the body of a request: `{"messages", "tools", "documents", "response_format",
    ...}`."""
    prompt = prompt_of(conversation, agent, API)
    body = request_settings(conversation, agent, API)
    names: dict[str, str] = {}
    messages: list[JsonValue] = []
    for entry in prompt.entries:
        names.update(call_names([entry]))  # an id may repeat that of an earlier call
        messages += _messages(entry, names, prompt.losses)
    body["messages"] = messages
    if documents := [document for entry in prompt.entries for document in _apart(entry)]:
        body["documents"] = documents
    if tools := write_tools(tools_of(conversation), API, tool, prompt.losses):
        body["tools"] = tools
    if prompt.response_format is not None:
        body["response_format"] = patched(
            response_format(prompt.response_format), prompt.response_format_fields
        )
    return WrittenRequest(body, tuple(prompt.losses))


def write_response(message: Message, agent: str) -> Json:
    """Return the message that would have given this answer, and why it ended."""
    entry = PromptEntry("agent", pieces_of(message, API, [], ""))
    answer = _message(entry, list(entry.pieces), "assistant", {}, [])
    rest = stored_response(message, agent, API)
    return obj(patched({"message": answer}, rest))


def response_format(part: RequestedResponseFormatPart) -> Json:
    """Return JSON mode for a schema that allows any object, else the schema."""
    if allows_any_object(part.schema_):
        return {"type": "json_object"}
    return {"type": "json_schema", "schema": dict(part.schema_)}


def tool(description: Json) -> Json:
    """Return a tool as the seed has it, with its `returns`."""
    written: Json = {**name_and_description(description), "parameters": parameters_of(description)}
    return {**written, "returns": description["returns"]} if "returns" in description else written


def _apart(entry: PromptEntry) -> Iterator[JsonValue]:
    """Yield the documents that stand beside the messages."""
    for piece in entry.pieces:
        if isinstance(piece.part, StructuredDataPart) and piece.fields.get("as") == "documents":
            yield orjson.loads(write(piece.part))["data"]


def _messages(
    entry: PromptEntry, names: Mapping[str, str], losses: list[Loss]
) -> Iterator[JsonValue]:
    """Yield the messages of an entry. Tool results are messages of their own, and so is text
    between them."""
    if entry.role == "instructions":
        yield _message(entry, list(entry.pieces), "system", names, losses)
        return
    for results, run in cut_at_results(entry.pieces):
        if results and entry.role != "user":
            yield from _results(run, names)
            continue
        role = "assistant" if entry.role == "agent" else "user"
        message = _message(entry, run, role, names, losses)
        if message.keys() > {"role", "contents"} or message.get("contents") or _says(run):
            yield message


def _says(run: Sequence[Piece]) -> bool:
    return any(isinstance(piece.part, TextPart) or piece.message for piece in run)


def _results(run: Sequence[Piece], names: Mapping[str, str]) -> list[JsonValue]:
    messages: list[JsonValue] = []
    for piece in run:
        if isinstance(piece.part, ToolResultPart):
            messages.append(piece.restored(result(piece.part, names)))
        elif piece.message is not None and messages:
            messages[-1] = patched(messages[-1], dict(piece.message))
    return messages


def result(part: ToolResultPart, names: Mapping[str, str]) -> Json:
    """Return the message of a tool result: a string as text, anything else as a value; a failure is
    the value's `error`."""
    content = with_documents(part.content, lambda document: document)
    if part.is_error and not (isinstance(content, dict) and "error" in content):
        content = {"error": content}
    block_: Json = {"type": "value", "value": content}
    if isinstance(content, str):
        block_ = {"type": "text", "text": content}
    written: Json = {"role": "tool"}
    if own_id := native_id(part.tool_call_id):
        written["tool_call_id"] = own_id
    if name := names.get(part.tool_call_id):
        written["name"] = legal_tool_name(name)
    return {**written, "contents": [block_]}


def _message(
    entry: PromptEntry,
    run: Sequence[Piece],
    role: str,
    names: Mapping[str, str],
    losses: list[Loss],
) -> Json:
    del names
    message: Json = {"role": role}
    thoughts = [(p, t) for p in run if (t := reasoning_text(p.part)) is not None]
    if thoughts and role == "assistant":
        message["thinking"] = "".join(thought for _, thought in thoughts)
        for piece, _ in thoughts:
            message.update(
                {key: value for key, value in piece.fields.items() if key == "signature"}
            )
    contents: list[JsonValue] = []
    calls: list[JsonValue] = []
    for piece in run:
        is_call = isinstance(piece.part, ToolCallPart) and role == "assistant"
        if is_call or "function" in obj(piece.item):
            native_call = (
                call(piece.part) if isinstance(piece.part, ToolCallPart) else obj(piece.item)
            )
            (contents if piece.fields.get("as") == "contents" else calls).append(
                piece.restored(native_call)
            )
        elif piece.part is None:
            contents += [piece.item] if piece.item is not None else []
        elif native_block := block(piece, entry, losses):
            contents.append(piece.restored(native_block))
    message["contents"] = _headed(entry.header, contents) if entry.header and contents else contents
    if calls:
        message["tool_calls"] = calls
    return with_message_fields(message, run)


def _headed(header: str, contents: list[JsonValue]) -> list[JsonValue]:
    first = obj(contents[0])
    if first.keys() == {"type", "text"}:
        return [_text(f"{header}\n{text(first['text'])}"), *contents[1:]]
    return [_text(header), *contents]


def call(part: ToolCallPart) -> Json:
    """Return a call of a tool; its id only if the API gave one."""
    function: Json = {"name": legal_tool_name(part.name), "arguments": dict(part.arguments)}
    own_id = native_id(part.id)
    return {"type": "function", "function": function, **({"id": own_id} if own_id else {})}


def block(piece: Piece, entry: PromptEntry, losses: list[Loss]) -> Json | None:
    """Return a part of the format; None if the piece has no content here."""
    match piece.part:
        case TextPart(text=words):
            return _text(entry.text(words))
        case ImagePart(source=source, media_type=kind) if source.base64 is not None:
            return {"type": "image", "image": {"media-type": kind, "data": source.base64}}
        case ImagePart(source=source, media_type=kind) if source.url:
            return {"type": "image", "image": {"media-type": kind, "url": source.url}}
        case FilePart(media_type=kind) as part if (words := text_in(part)) is not None:
            return _text(entry.text(as_file_text(entry.file_name(piece), kind, words)))
        case StructuredDataPart(schema_id=schema) if schema == CITATIONS and entry.role == "agent":
            return None
        case StructuredDataPart() if piece.fields.get("as") == "documents":
            return None  # it stands beside the messages
        case StructuredDataPart(schema_id=schema) as part if schema in (VALUE, DOCUMENT):
            value = entry.data(orjson.loads(write(part))["data"])
            bare = piece.fields.get("as") == "bare"
            return {"type": "value", "value": obj(value).get("value") if bare else value}
        case part if reasoning_text(part) is not None:
            return None  # it is a member of the message
        case RequestedResponseFormatPart():
            return None
        case _:
            markdown = piece_as_text(piece, losses)
            return _text(entry.text(markdown)) if markdown else None


def _text(value: str) -> Json:
    return {"type": "text", "text": value}
