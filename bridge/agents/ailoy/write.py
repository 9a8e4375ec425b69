"""UACS -> Ailoy's messages: a conversation as a request, a message as a response. Pure.

Lost: sounds, videos and files become text; so do structured data of other schemas and the calls of
others. All of it is told in `Loss`es.
"""

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
    as_text,
    call_names,
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
    """What is posted: `{"messages", "tools", "documents", "response_format", ...}`."""
    prompt = prompt_of(conversation, agent, API)
    body = request_settings(conversation, agent, API)
    names: dict[str, str] = {}
    messages: list[JsonValue] = []
    for entry in prompt.entries:
        names.update(call_names([entry]))  # an id may be that of an earlier call, too
        messages += _messages(entry, names, prompt.losses)
    body["messages"] = messages
    if documents := [one for entry in prompt.entries for one in _apart(entry)]:
        body["documents"] = documents
    if tools := write_tools(tools_of(conversation), API, tool, prompt.losses):
        body["tools"] = tools
    if prompt.response_format is not None:
        body["response_format"] = patched(
            response_format(prompt.response_format), prompt.response_format_fields
        )
    return WrittenRequest(body, tuple(prompt.losses))


def write_response(message: Message, agent: str) -> Json:
    """The message that would have said this, and why it ended."""
    entry = PromptEntry("agent", pieces_of(message, API, [], ""))
    said = _message(entry, list(entry.pieces), "assistant", {}, [])
    rest = stored_response(message, agent, API)
    return obj(patched({"message": said}, rest))


def response_format(part: RequestedResponseFormatPart) -> Json:
    if allows_any_object(part.schema_):
        return {"type": "json_object"}
    return {"type": "json_schema", "schema": dict(part.schema_)}


def tool(one: Json) -> Json:
    """As the seed has it, with what it `returns`."""
    written: Json = {**name_and_description(one), "parameters": parameters_of(one)}
    return {**written, "returns": one["returns"]} if "returns" in one else written


def _apart(entry: PromptEntry) -> Iterator[JsonValue]:
    """Documents that stood beside the messages."""
    for piece in entry.pieces:
        if isinstance(piece.part, StructuredDataPart) and piece.fields.get("as") == "documents":
            yield orjson.loads(write(piece.part))["data"]


def _messages(
    entry: PromptEntry, names: Mapping[str, str], losses: list[Loss]
) -> Iterator[JsonValue]:
    """Results of tools are messages of their own; so is what is said between them."""
    if entry.role == "instructions":
        yield _message(entry, list(entry.pieces), "system", names, losses)
        return
    for results, run in cut_at_results(entry.pieces):
        if results and entry.role != "user":
            yield from _results(run, names)
            continue
        role = "assistant" if entry.role == "agent" else "user"
        said = _message(entry, run, role, names, losses)
        if said.keys() > {"role", "contents"} or said.get("contents") or _says(run):
            yield said


def _says(run: Sequence[Piece]) -> bool:
    return any(isinstance(piece.part, TextPart) or piece.message for piece in run)


def _results(run: Sequence[Piece], names: Mapping[str, str]) -> list[JsonValue]:
    found: list[JsonValue] = []
    for piece in run:
        if isinstance(piece.part, ToolResultPart):
            found.append(piece.restored(result(piece.part, names)))
        elif piece.message is not None and found:
            found[-1] = patched(found[-1], dict(piece.message))
    return found


def result(part: ToolResultPart, names: Mapping[str, str]) -> Json:
    """A text as text, all else as a value, documents too; that it failed stands in it."""
    content = with_documents(part.content, lambda document: document)
    if part.is_error and not (isinstance(content, dict) and "error" in content):
        content = {"error": content}
    said: Json = {"type": "value", "value": content}
    if isinstance(content, str):
        said = {"type": "text", "text": content}
    written: Json = {"role": "tool"}
    if own_id := native_id(part.tool_call_id):
        written["tool_call_id"] = own_id
    if name := names.get(part.tool_call_id):
        written["name"] = legal_tool_name(name)
    return {**written, "contents": [said]}


def _message(
    entry: PromptEntry,
    run: Sequence[Piece],
    role: str,
    names: Mapping[str, str],
    losses: list[Loss],
) -> Json:
    del names
    said: Json = {"role": role}
    thoughts = [(p, t) for p in run if (t := reasoning_text(p.part)) is not None]
    if thoughts and role == "assistant":
        said["thinking"] = "".join(thought for _, thought in thoughts)
        for piece, _ in thoughts:
            said.update({key: value for key, value in piece.fields.items() if key == "signature"})
    contents: list[JsonValue] = []
    calls: list[JsonValue] = []
    for piece in run:
        is_call = isinstance(piece.part, ToolCallPart) and role == "assistant"
        if is_call or "function" in obj(piece.item):
            own = call(piece.part) if isinstance(piece.part, ToolCallPart) else obj(piece.item)
            (contents if piece.fields.get("as") == "contents" else calls).append(
                piece.restored(own)
            )
        elif piece.part is None:
            contents += [piece.item] if piece.item is not None else []
        elif found := block(piece, entry, losses):
            contents.append(piece.restored(found))
    said["contents"] = _headed(entry.header, contents) if entry.header and contents else contents
    if calls:
        said["tool_calls"] = calls
    return with_message_fields(said, run)


def _headed(header: str, contents: list[JsonValue]) -> list[JsonValue]:
    first = obj(contents[0])
    if first.keys() == {"type", "text"}:
        return [_text(f"{header}\n{text(first['text'])}"), *contents[1:]]
    return [_text(header), *contents]


def call(part: ToolCallPart) -> Json:
    function: Json = {"name": legal_tool_name(part.name), "arguments": dict(part.arguments)}
    own_id = native_id(part.id)
    return {"type": "function", "function": function, **({"id": own_id} if own_id else {})}


def block(piece: Piece, entry: PromptEntry, losses: list[Loss]) -> Json | None:
    """A part of the format; None where there is nothing to say here."""
    match piece.part:
        case TextPart(text=said):
            return _text(entry.text(said))
        case ImagePart(source=source, media_type=kind) if source.base64 is not None:
            return {"type": "image", "image": {"media-type": kind, "data": source.base64}}
        case ImagePart(source=source, media_type=kind) if source.url:
            return {"type": "image", "image": {"media-type": kind, "url": source.url}}
        case FilePart(media_type=kind) as part if (said := text_in(part)) is not None:
            return _text(entry.text(as_file_text(entry.file_name(piece), kind, said)))
        case StructuredDataPart(schema_id=schema) if schema == CITATIONS and entry.role == "agent":
            return None
        case StructuredDataPart() if piece.fields.get("as") == "documents":
            return None  # it stands beside the messages
        case StructuredDataPart(schema_id=schema) as part if schema in (VALUE, DOCUMENT):
            value = entry.data(orjson.loads(write(part))["data"])
            bare = piece.fields.get("as") == "bare"
            return {"type": "value", "value": obj(value).get("value") if bare else value}
        case part if reasoning_text(part) is not None:
            return None  # a member of the message has it
        case RequestedResponseFormatPart():
            return None
        case _:
            shown = as_text(piece, losses)
            return _text(entry.text(shown)) if shown else None


def _text(value: str) -> Json:
    return {"type": "text", "text": value}
