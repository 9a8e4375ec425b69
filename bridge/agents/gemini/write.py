"""UACS -> Google Gemini: a conversation as a request, a message as a response. Pure.

Lost: structured data and other agents' calls become text; instructions in the middle of a
conversation move to the top. Each is a `Loss`."""

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
    call_names,
    moved_to_top,
    piece_as_text,
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

# Keywords that the vendor's subset of JSON Schema lacks (ai.google.dev "Structured output",
# 2026-08).
_UNSUPPORTED = frozenset((
    "const", "minLength", "maxLength", "multipleOf", "uniqueItems", "exclusiveMinimum",
    "exclusiveMaximum", "patternProperties", "not", "if", "then", "else", "allOf", "contains",
    "dependentSchemas", "dependentRequired", "propertyNames", "unevaluatedProperties",
    "contentEncoding", "contentMediaType",
))  # fmt: skip


def write_request(conversation: Conversation, agent: str) -> WrittenRequest:
    """Return the body of `POST /v1beta/models/{model}:generateContent`."""
    prompt = prompt_of(conversation, agent, API)
    body = request_settings(conversation, agent, API)
    names: dict[str, str] = {}
    if (system := _system(prompt.entries, names, prompt.losses)) is not None:
        body["systemInstruction"] = system
    contents: list[JsonValue] = []
    for entry in prompt.entries:
        if entry.role != "instructions":
            names.update(call_names([entry]))  # an id may repeat that of an earlier call
            contents += _contents(entry, names, prompt.losses)
    body["contents"] = contents
    if tools := _grouped(write_tools(tools_of(conversation), API, tool, prompt.losses)):
        body["tools"] = tools
    if prompt.response_format is not None:
        original = prompt.response_format_fields.get(
            "format"
        )  # the format of an earlier request of this API
        format_ = original or response_format(prompt.response_format, prompt.losses)
        body["generationConfig"] = {**obj(body.get("generationConfig")), **obj(format_)}
    return WrittenRequest(body, tuple(prompt.losses))


def write_response(message: Message, agent: str) -> Json:
    """Return the response that would have given this message."""
    entry = PromptEntry("agent", pieces_of(message, API, [], ""))
    parts = list(_parts(entry, entry.pieces, call_names([entry]), [], whole=True))
    content: Json = {"role": "model", "parts": parts}
    patch = stored_response(message, agent, API)
    candidates = arr(patch.get("candidates"))
    candidate: JsonValue = {"content": content}
    candidate = patched(candidate, candidates[0]) if candidates else candidate
    rest = patched({}, {key: value for key, value in patch.items() if key != "candidates"})
    return {**obj(rest), "candidates": [candidate]}


def response_format(part: RequestedResponseFormatPart, losses: list[Loss]) -> Json:
    """Return the members of `generationConfig` that request this format."""
    config: Json = {"responseMimeType": "application/json"}
    if not allows_any_object(part.schema_):
        config["responseJsonSchema"] = without_keywords(part.schema_, _UNSUPPORTED, losses)
    return config


def tool(description: Json) -> Json:
    """Return a function declaration."""
    return {**name_and_description(description), "parametersJsonSchema": parameters_of(description)}


def _grouped(tools: Sequence[JsonValue]) -> list[JsonValue]:
    """Return the tools with all function declarations in one tool, at the place of the first."""
    grouped: list[JsonValue] = []
    functions: list[JsonValue] = []
    for native_tool in tools:
        if "name" not in obj(native_tool):
            grouped.append(native_tool)
            continue
        if not functions:
            grouped.append({"functionDeclarations": functions})
        functions.append(native_tool)
    return grouped


def _system(
    entries: Sequence[PromptEntry], names: Mapping[str, str], losses: list[Loss]
) -> JsonValue:
    """Return all instructions, which stand at the top; None without any."""
    parts: list[JsonValue] = []
    content: Json = {}
    has_begun = False
    for entry in entries:
        has_begun = has_begun or entry.role != "instructions"
        if entry.role == "instructions":
            parts += _parts(entry, entry.pieces, names, losses)
            content = with_message_fields(content, entry.pieces)
            if has_begun:
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
    """Yield the parts of pieces; with `whole` also reasoning that is not sent back."""
    for piece in pieces:
        thought = reasoning_text(piece.part)
        if piece.part is None:
            if piece.item is not None:
                yield piece.item
        elif thought is not None and not whole and "thoughtSignature" not in piece.fields:
            losses.append(Loss(path=piece.path, kind="reasoning", what="thoughts of earlier"))
        elif native_part := block(piece, entry, names, losses):
            yield piece.restored(native_part)


def block(
    piece: Piece, entry: PromptEntry, names: Mapping[str, str], losses: list[Loss]
) -> Json | None:
    """Return a part of the API; None if the piece has no content for it."""
    match piece.part:
        case TextPart(text=words):
            return _text(entry.text(words)) if words or piece.fields else None
        case ToolCallPart() as part if entry.role == "agent":
            call: Json = {"name": legal_tool_name(part.name), "args": dict(part.arguments)}
            return {"functionCall": {**_id(part.id), **call}}
        case ToolResultPart() as part if entry.role != "user":
            return {"functionResponse": _result(part, names)}
        case ImagePart() | AudioPart() | VideoPart() | FilePart():
            return _media(piece, piece.part, entry, losses)
        case StructuredDataPart(schema_id=schema) if schema == CITATIONS and entry.role == "agent":
            return None  # the response around it has the sources
        case part if (thought := reasoning_text(part)) is not None:
            return {"text": thought, "thought": True}
        case _:
            markdown = piece_as_text(piece, losses)
            return _text(entry.text(markdown)) if markdown else None


def _text(value: str) -> Json:
    return {"text": value}


def _id(call_id: str) -> Json:
    own_id = native_id(call_id)
    return {"id": own_id} if own_id else {}


def _result(part: ToolResultPart, names: Mapping[str, str]) -> Json:
    name = names.get(part.tool_call_id, "tool")  # the API requires a name
    response = with_document_texts(part.content)
    if part.is_error:
        response = {"error": response}
    return {
        **_id(part.tool_call_id),
        "name": legal_tool_name(name),
        "response": response if isinstance(response, dict) else {"result": response},
    }


def _media(piece: Piece, part: MediaPart, entry: PromptEntry, losses: list[Loss]) -> Json | None:
    source: MediaSource = part.source
    if (
        entry.header and (content := text_in(part)) is not None
    ):  # its lines are escaped like all others
        return _text(entry.text(as_file_text(entry.file_name(piece), part.media_type, content)))
    if source.base64 is not None:
        return {"inlineData": {"mimeType": part.media_type, "data": source.base64}}
    if source.url and not part.media_type.endswith("/*"):
        return {"fileData": {"mimeType": part.media_type, "fileUri": source.url}}
    if source.url:
        return {"fileData": {"fileUri": source.url}}
    markdown = piece_as_text(
        piece, losses, f"its bytes are not here ({name_of(piece) or part.type})"
    )
    return _text(entry.text(markdown)) if markdown else None
