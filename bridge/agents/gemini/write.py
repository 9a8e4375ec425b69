"""UACS -> Google Gemini: a conversation as a request, a message as a response. Pure.

Lost: structured data and the calls of others become text; instructions in the middle of a
conversation move to the top. All of it is told in `Loss`es.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue

from bridge.agents.codec.call_ids import native_id
from bridge.agents.codec.json_values import Json, arr, obj, patched
from bridge.agents.codec.media import as_file_text, name_of, text_in
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
    moved_to_top,
    prompt_of,
    request_settings,
    stored_response,
)
from bridge.agents.codec.schemas import allows_any_object, without_keywords
from bridge.agents.codec.tool_catalogue import (
    legal_tool_name,
    name_and_description,
    parameters_of,
    tools_of,
    write_tools,
)
from bridge.agents.codec.tool_results import with_document_texts
from bridge.content.messages.agent_parts import CITATIONS
from bridge.content.messages.parts import MediaPart
from bridge.model import Loss
from bridge.uacs import (
    AudioPart,
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
    VideoPart,
)

API = "gemini"

# What the vendor's subset of JSON Schema lacks (ai.google.dev "Structured output", 2026-08).
_UNSUPPORTED = frozenset((
    "const", "minLength", "maxLength", "multipleOf", "uniqueItems", "exclusiveMinimum",
    "exclusiveMaximum", "patternProperties", "not", "if", "then", "else", "allOf", "contains",
    "dependentSchemas", "dependentRequired", "propertyNames", "unevaluatedProperties",
    "contentEncoding", "contentMediaType",
))  # fmt: skip


def write_request(conversation: Conversation, agent: str) -> WrittenRequest:
    """The body of `POST /v1beta/models/{model}:generateContent`."""
    prompt = prompt_of(conversation, agent, API)
    body = request_settings(conversation, agent, API)
    names: dict[str, str] = {}
    if (system := _system(prompt.entries, names, prompt.losses)) is not None:
        body["systemInstruction"] = system
    contents: list[JsonValue] = []
    for entry in prompt.entries:
        if entry.role != "instructions":
            names.update(call_names([entry]))  # an id may be that of an earlier call, too
            contents += _contents(entry, names, prompt.losses)
    body["contents"] = contents
    if tools := _grouped(write_tools(tools_of(conversation), API, tool, prompt.losses)):
        body["tools"] = tools
    if prompt.response_format is not None:
        given = prompt.response_format_fields.get("format")  # as this API was asked for it before
        wanted = given or response_format(prompt.response_format, prompt.losses)
        body["generationConfig"] = {**obj(body.get("generationConfig")), **obj(wanted)}
    return WrittenRequest(body, tuple(prompt.losses))


def write_response(message: Message, agent: str) -> Json:
    """What the API would have answered to say this."""
    entry = PromptEntry("agent", pieces_of(message, API, [], ""))
    parts = list(_parts(entry, entry.pieces, call_names([entry]), [], whole=True))
    said: Json = {"role": "model", "parts": parts}
    patch = stored_response(message, agent, API)
    candidates = arr(patch.get("candidates"))
    candidate: JsonValue = {"content": said}
    candidate = patched(candidate, candidates[0]) if candidates else candidate
    rest = patched({}, {key: value for key, value in patch.items() if key != "candidates"})
    return {**obj(rest), "candidates": [candidate]}


def response_format(part: RequestedResponseFormatPart, losses: list[Loss]) -> Json:
    """The members of `generationConfig` that ask for this format."""
    config: Json = {"responseMimeType": "application/json"}
    if not allows_any_object(part.schema_):
        config["responseJsonSchema"] = without_keywords(part.schema_, _UNSUPPORTED, losses)
    return config


def tool(one: Json) -> Json:
    """A function declaration."""
    return {**name_and_description(one), "parametersJsonSchema": parameters_of(one)}


def _grouped(tools: Sequence[JsonValue]) -> list[JsonValue]:
    """All declarations of functions stand in one tool, where the first of them stood."""
    found: list[JsonValue] = []
    functions: list[JsonValue] = []
    for one in tools:
        if "name" not in obj(one):
            found.append(one)
            continue
        if not functions:
            found.append({"functionDeclarations": functions})
        functions.append(one)
    return found


def _system(
    entries: Sequence[PromptEntry], names: Mapping[str, str], losses: list[Loss]
) -> JsonValue:
    """All instructions, as they stand at the top; None without any."""
    parts: list[JsonValue] = []
    content: Json = {}
    begun = False
    for entry in entries:
        begun = begun or entry.role != "instructions"
        if entry.role == "instructions":
            parts += _parts(entry, entry.pieces, names, losses)
            content = with_message_fields(content, entry.pieces)
            if begun:
                losses.append(moved_to_top(entry))
    return {**content, "parts": parts} if parts else None


def _contents(
    entry: PromptEntry, names: Mapping[str, str], losses: list[Loss]
) -> Iterator[JsonValue]:
    for results, run in cut_at_results(entry.pieces):
        role = "model" if entry.role == "agent" and not results else "user"
        parts = list(_parts(entry, run, names, losses))
        if entry.header:
            parts.insert(0, _text(entry.header))
        if parts:
            yield with_message_fields({"role": role, "parts": parts}, run)


def _parts(
    entry: PromptEntry,
    pieces: Sequence[Piece],
    names: Mapping[str, str],
    losses: list[Loss],
    *,
    whole: bool = False,
) -> Iterator[JsonValue]:
    """`whole`: also what only was said, and does not go back."""
    for piece in pieces:
        thought = reasoning_text(piece.part)
        if piece.part is None:
            if piece.item is not None:
                yield piece.item
        elif thought is not None and not whole and "thoughtSignature" not in piece.fields:
            losses.append(Loss(path=piece.path, kind="reasoning", what="thoughts of earlier"))
        elif found := block(piece, entry, names, losses):
            yield piece.restored(found)


def block(
    piece: Piece, entry: PromptEntry, names: Mapping[str, str], losses: list[Loss]
) -> Json | None:
    """A part of the API; None where there is nothing to say."""
    match piece.part:
        case TextPart(text=said):
            return _text(entry.text(said)) if said or piece.fields else None
        case ToolCallPart() as part if entry.role == "agent":
            call: Json = {"name": legal_tool_name(part.name), "args": dict(part.arguments)}
            return {"functionCall": {**_id(part.id), **call}}
        case ToolResultPart() as part if entry.role != "user":
            return {"functionResponse": _result(part, names)}
        case ImagePart() | AudioPart() | VideoPart() | FilePart():
            return _media(piece, piece.part, entry, losses)
        case StructuredDataPart(schema_id=schema) if schema == CITATIONS and entry.role == "agent":
            return None  # the response around it has them
        case part if (thought := reasoning_text(part)) is not None:
            return {"text": thought, "thought": True}
        case _:
            shown = as_text(piece, losses)
            return _text(entry.text(shown)) if shown else None


def _text(value: str) -> Json:
    return {"text": value}


def _id(call_id: str) -> Json:
    own_id = native_id(call_id)
    return {"id": own_id} if own_id else {}


def _result(part: ToolResultPart, names: Mapping[str, str]) -> Json:
    name = names.get(part.tool_call_id, "tool")  # the API wants one
    said = with_document_texts(part.content)
    if part.is_error:
        said = {"error": said}
    return {
        **_id(part.tool_call_id),
        "name": legal_tool_name(name),
        "response": said if isinstance(said, dict) else {"result": said},
    }


def _media(piece: Piece, part: MediaPart, entry: PromptEntry, losses: list[Loss]) -> Json | None:
    source: MediaSource = part.source
    if entry.header and (said := text_in(part)) is not None:  # its lines are escaped as all others
        return _text(entry.text(as_file_text(entry.file_name(piece), part.media_type, said)))
    if source.base64 is not None:
        return {"inlineData": {"mimeType": part.media_type, "data": source.base64}}
    if source.url and not part.media_type.endswith("/*"):
        return {"fileData": {"mimeType": part.media_type, "fileUri": source.url}}
    if source.url:
        return {"fileData": {"fileUri": source.url}}
    shown = as_text(piece, losses, f"its bytes are not here ({name_of(piece) or part.type})")
    return _text(entry.text(shown)) if shown else None
