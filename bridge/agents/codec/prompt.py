"""A conversation as one agent's prompt: entries with a role, in order. Pure."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import JsonValue

from bridge.agents.codec.call_ids import CallIds
from bridge.agents.codec.json_values import Json, arr, obj
from bridge.agents.codec.media import as_file_text, document_of, name_of
from bridge.agents.codec.native_parts import Piece, pieces_of, pieces_of_others
from bridge.agents.codec.speakers import (
    ANONYMOUS_USER,
    NOTICE,
    THREADS_NOTICE,
    agent_id,
    display_name,
    escaped,
    file_name,
    has_thread_context,
    header,
    instructions_id,
    is_edited,
    legal_name,
)
from bridge.content.messages.parts import MediaPart, parts_text
from bridge.content.text.look_alikes import skeleton
from bridge.model import Loss
from bridge.uacs import (
    Actor,
    ContentPart,
    Conversation,
    Message,
    RequestedResponseFormatPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)

PromptRole = Literal["instructions", "user", "agent", "tool"]
ROLE_DEMOTED = "role_demoted"
"""The kind of loss if a system or assistant actor of a room becomes a user: in a room only the
agent itself has the assistant's role, and nobody gives instructions."""


@dataclass(frozen=True)
class PromptEntry:
    """One message of a prompt. `header` names the author, for APIs without a field for names.
    `name` is for APIs with such a field; it is empty if the API would refuse it, or if the header
    says more than the name."""

    role: PromptRole
    pieces: tuple[Piece, ...]
    header: str = ""
    name: str = ""

    def text(self, value: str) -> str:
        """Return text that cannot be mistaken for a header, if this entry has one."""
        return escaped(value) if self.header else value

    def data(self, value: JsonValue) -> JsonValue:
        """Return JSON in which all strings are safe in the same way."""
        if not self.header:
            return value
        match value:
            case str():
                return escaped(value)
            case list():
                return [self.data(item) for item in value]
            case dict():
                return {escaped(key): self.data(member) for key, member in value.items()}
            case _:
                return value

    def file_name(self, piece: Piece) -> str:
        """Return the name of a piece's file, safe below a header; empty if it has none."""
        return file_name(name_of(piece)) if self.header else name_of(piece)


@dataclass(frozen=True)
class Prompt:
    """All entries, the format that the next answer must have, and the losses so far."""

    entries: tuple[PromptEntry, ...]
    response_format: RequestedResponseFormatPart | None
    response_format_fields: Json
    losses: list[Loss]


@dataclass(frozen=True)
class WrittenRequest:
    """A request for an API, and what of the conversation it does not contain."""

    body: Json
    losses: tuple[Loss, ...]


def prompt_of(conversation: Conversation, agent: str, api: str) -> Prompt:
    """Return the conversation as the prompt of `agent`: the agent's own messages keep its role, all
    other actors become users, each under a name."""
    losses: list[Loss] = []
    ambiguous = _ambiguous_names(conversation.messages, agent)
    entries: list[PromptEntry] = []
    format_piece: Piece | None = None
    for number, message in enumerate(conversation.messages):
        entry = _entry(message, agent, api, ambiguous, losses, f"/messages/{number}")
        if entry.role == "agent":
            format_piece = None  # a format applies to one answer
        for piece in entry.pieces:
            if isinstance(piece.part, RequestedResponseFormatPart):
                format_piece = piece
        entries.append(entry)
    answer_format = format_piece.part if format_piece else None
    return Prompt(
        tuple(_with_call_ids(entries)),
        answer_format if isinstance(answer_format, RequestedResponseFormatPart) else None,
        dict(format_piece.fields) if format_piece else {},
        losses,
    )


def _entry(
    message: Message,
    agent: str,
    api: str,
    ambiguous: frozenset[str],
    losses: list[Loss],
    pointer: str,
) -> PromptEntry:
    actor = message.actor
    if actor.id == instructions_id(agent):
        return PromptEntry("instructions", pieces_of(message, api, losses, pointer))
    if actor.id == agent_id(agent):
        return PromptEntry("agent", pieces_of(message, api, losses, pointer))
    if actor.role == "tool":
        return PromptEntry("tool", pieces_of(message, api, losses, pointer))
    if actor.id == ANONYMOUS_USER:
        own = pieces_of(message, api, losses, pointer)
        return (
            PromptEntry("user", own, header(message), actor.name)
            if actor.name
            else PromptEntry("user", own)
        )
    header_is_name_alone = (
        not (is_edited(message) or has_thread_context(message))
        and actor.role != "system"
        and display_name(actor) not in ambiguous
    )
    name = (legal_name(actor) or "") if header_is_name_alone else ""
    if actor.role in ("system", "assistant"):
        described_actor = f"{actor.role} {display_name(actor)}"
        losses.append(
            Loss(path=f"{pointer}/actor", kind=ROLE_DEMOTED, what=described_actor, shown_as="user")
        )
    return PromptEntry(
        "user", pieces_of_others(message, losses, pointer), header(message, ambiguous), name
    )


def _with_call_ids(entries: Sequence[PromptEntry]) -> list[PromptEntry]:
    """Give an id to every call of the agent that has none, and the same id, in order, to the
    results without one. APIs that need no ids do not write these (`native_id`)."""
    call_ids = CallIds("unnamed")
    open_ids: deque[str] = deque()

    def identified(piece: Piece) -> Piece:
        match piece.part:
            case ToolCallPart(id="", name=name) as part:
                open_ids.append(call_ids.for_call(name, ""))
                return replace(piece, part=part.model_copy(update={"id": open_ids[-1]}))
            case ToolResultPart(tool_call_id="") as part if open_ids:
                answered = {"tool_call_id": open_ids.popleft()}
                return replace(piece, part=part.model_copy(update=answered))
            case _:
                return piece

    return [
        replace(entry, pieces=tuple(map(identified, entry.pieces)))
        if entry.role in ("agent", "tool")
        else entry
        for entry in entries
    ]


def _ambiguous_names(messages: Sequence[Message], agent: str) -> frozenset[str]:
    """Return the names that several actors have, or that look like another actor's or the agent's
    name."""
    ids: dict[str, set[str]] = defaultdict(set)
    names: dict[str, set[str]] = defaultdict(set)
    ids[skeleton(agent)].add(agent_id(agent))
    for message in messages:
        if message.actor.id != agent_id(agent):
            name = display_name(message.actor)
            ids[skeleton(name)].add(message.actor.id)
            names[skeleton(name)].add(name)
    return frozenset(
        name for alike, actor_ids in ids.items() if len(actor_ids) > 1 for name in names[alike]
    )


def has_named_speakers(conversation: Conversation, agent: str) -> bool:
    """Return whether the prompt names its speakers, so that the model needs the notice about
    names."""
    own = (instructions_id(agent), agent_id(agent), ANONYMOUS_USER)
    return any(m.actor.id not in own and m.actor.role != "tool" for m in conversation.messages)


def speakers_notice(conversation: Conversation) -> str:
    """Return the notice that explains the header lines to a model."""
    threads = any(map(has_thread_context, conversation.messages))
    return f"{NOTICE} {THREADS_NOTICE}" if threads else NOTICE


def with_notice(conversation: Conversation, agent: str) -> Conversation:
    """Return the conversation with the notice as its first message, for APIs without
    instructions."""
    if not has_named_speakers(conversation, agent):
        return conversation
    notice = Message(
        message_id="notice",
        timestamp=conversation.messages[0].timestamp,
        actor=Actor(id="bridge", role="system"),
        content=(TextPart(text=speakers_notice(conversation)),),
    )
    return conversation.model_copy(update={"messages": (notice, *conversation.messages)})


def piece_as_text(piece: Piece, losses: list[Loss], reason: str = "") -> str:
    """Return a piece as Markdown if the API has no form for it, and report the Loss. A document
    loses nothing: its text stands under its title."""
    part = piece.part
    if (document := document_of(part)) is not None:
        title, document_text = document
        return as_file_text(title, "text/plain", document_text)
    markdown = parts_text([(part, piece.details)]) if part is not None else ""
    if part is not None and not isinstance(part, (TextPart, RequestedResponseFormatPart)):
        lost_part = f"{_named(part)}{f': {reason}' if reason else ''}"
        losses.append(
            Loss(path=piece.path, kind="part_as_text", what=lost_part, shown_as=markdown[:200])
        )
    return markdown


def _named(part: ContentPart) -> str:
    return f"{part.type} {part.media_type}" if isinstance(part, MediaPart) else part.type


def with_header(header: str, content: JsonValue, block: Json) -> JsonValue:
    """Return the content of a message under its header line: joined to a string, before a list as
    the `block` that holds the header."""
    return f"{header}\n{content}" if isinstance(content, str) else [block, *arr(content)]


def as_short_content(blocks: Sequence[JsonValue], *text_types: str) -> JsonValue:
    """Return one plain text block as a string, anything else as the list of blocks."""
    only = obj(blocks[0]) if len(blocks) == 1 else {}
    plain = only.keys() == {"type", "text"} and only["type"] in text_types
    return only["text"] if plain else list(blocks)


def moved_to_top(entry: PromptEntry) -> Loss:
    """Return the Loss of instructions in the middle of a conversation, for APIs that accept
    instructions only at the top."""
    lost = "instructions in the middle of the conversation"
    return Loss(path=entry.pieces[0].path, kind="moved", what=lost, shown_as="at the top")


def no_instructions(entry: PromptEntry) -> Loss:
    """Return the Loss of instructions, for APIs that accept none."""
    path = entry.pieces[0].path if entry.pieces else ""
    return Loss(path=path, kind="instructions", what="this API has no instructions")


def no_format() -> Loss:
    """Return the Loss of a requested answer format, for APIs that accept none."""
    lost = "the format that is wanted of the answer"
    return Loss(path="/requested_response_format", kind="format", what=lost)


def request_settings(conversation: Conversation, agent: str, api: str) -> Json:
    """Return the request's members beside its messages (model, limits), from
    `metadata.agents.<name>`; empty if they are of another API."""
    own = private_state(conversation.metadata or {}, agent)
    return dict(obj(own.get("request"))) if own.get("api") == api else {}


def private_state(metadata: object, agent: str) -> Json:
    """Return `metadata.agents.<name>`, which only that agent sees."""
    agents: JsonValue = metadata.get("agents") if isinstance(metadata, dict) else None
    return obj(obj(agents).get(agent))


def call_names(entries: Sequence[PromptEntry]) -> Mapping[str, str]:
    """Return tool names by call id: some APIs require the name in results, too."""
    return {
        piece.part.id: piece.part.name
        for entry in entries
        for piece in entry.pieces
        if isinstance(piece.part, ToolCallPart)
    }


def stored_response(message: Message, agent: str, api: str) -> Json:
    """Return what the API's response had beside this answer; empty if another API gave the
    answer."""
    own = private_state(message.metadata, agent)
    return obj(own.get("response")) if own.get("api") == api else {}
