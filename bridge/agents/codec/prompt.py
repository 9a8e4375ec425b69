"""A conversation as one agent sees it: lines with a voice, in order. Pure."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import JsonValue

from bridge.agents.codec.call_ids import Calls
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
"""The kind of loss where somebody in a room is told as a person who is none: in a room nobody but
the agent itself speaks as an assistant, and nobody gives instructions."""


@dataclass(frozen=True)
class PromptEntry:
    """One message. `header` tells who said it, for APIs that have no field for a name; `name` is
    for those that have, and then empty where the name is not legal or there is more to tell."""

    role: PromptRole
    pieces: tuple[Piece, ...]
    header: str = ""
    name: str = ""

    def text(self, value: str) -> str:
        """What was written, safe to stand under headers."""
        return escaped(value) if self.header else value

    def data(self, value: JsonValue) -> JsonValue:
        """The same of all strings in it."""
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
        """Empty where the file has none."""
        return file_name(name_of(piece)) if self.header else name_of(piece)


@dataclass(frozen=True)
class Prompt:
    """All lines, the format that the next answer must have, and the losses so far."""

    entries: tuple[PromptEntry, ...]
    response_format: RequestedResponseFormatPart | None
    response_format_fields: Json
    losses: list[Loss]


@dataclass(frozen=True)
class WrittenRequest:
    """A request for an API, and what of the conversation it does not say."""

    body: Json
    losses: tuple[Loss, ...]


def prompt_of(conversation: Conversation, agent: str, api: str) -> Prompt:
    """The agent's own words are its own; all others are people who speak, each under a name."""
    losses: list[Loss] = []
    twins = _twins(conversation.messages, agent)
    entries: list[PromptEntry] = []
    wanted: Piece | None = None
    for number, message in enumerate(conversation.messages):
        entry = _entry(message, agent, api, twins, losses, f"/messages/{number}")
        if entry.role == "agent":
            wanted = None  # a format is for one answer
        for piece in entry.pieces:
            if isinstance(piece.part, RequestedResponseFormatPart):
                wanted = piece
        entries.append(entry)
    part = wanted.part if wanted else None
    return Prompt(
        tuple(_with_call_ids(entries)),
        part if isinstance(part, RequestedResponseFormatPart) else None,
        dict(wanted.fields) if wanted else {},
        losses,
    )


def _entry(
    message: Message,
    agent: str,
    api: str,
    twins: frozenset[str],
    losses: list[Loss],
    at: str,
) -> PromptEntry:
    actor = message.actor
    if actor.id == instructions_id(agent):
        return PromptEntry("instructions", pieces_of(message, api, losses, at))
    if actor.id == agent_id(agent):
        return PromptEntry("agent", pieces_of(message, api, losses, at))
    if actor.role == "tool":
        return PromptEntry("tool", pieces_of(message, api, losses, at))
    if actor.id == ANONYMOUS_USER:
        own = pieces_of(message, api, losses, at)
        return (
            PromptEntry("user", own, header(message), actor.name)
            if actor.name
            else PromptEntry("user", own)
        )
    plain = (
        not (is_edited(message) or has_thread_context(message))
        and actor.role != "system"
        and display_name(actor) not in twins
    )
    name = (legal_name(actor) or "") if plain else ""
    if actor.role in ("system", "assistant"):
        what = f"{actor.role} {display_name(actor)}"
        losses.append(Loss(path=f"{at}/actor", kind=ROLE_DEMOTED, what=what, shown_as="user"))
    return PromptEntry("user", pieces_of_others(message, losses, at), header(message, twins), name)


def _with_call_ids(entries: Sequence[PromptEntry]) -> list[PromptEntry]:
    """Give an id to every call of the agent that has none, and the same id, in order, to the
    results without one. APIs that need no ids do not write these (`native_id`)."""
    calls = Calls("unnamed")
    waiting: deque[str] = deque()

    def identified(piece: Piece) -> Piece:
        match piece.part:
            case ToolCallPart(id="", name=name) as part:
                waiting.append(calls.call(name, ""))
                return replace(piece, part=part.model_copy(update={"id": waiting[-1]}))
            case ToolResultPart(tool_call_id="") as part if waiting:
                answered = {"tool_call_id": waiting.popleft()}
                return replace(piece, part=part.model_copy(update=answered))
            case _:
                return piece

    return [
        replace(entry, pieces=tuple(map(identified, entry.pieces)))
        if entry.role in ("agent", "tool")
        else entry
        for entry in entries
    ]


def _twins(messages: Sequence[Message], agent: str) -> frozenset[str]:
    """Names that several actors have, or that look like another's or the agent's own."""
    ids: dict[str, set[str]] = defaultdict(set)
    names: dict[str, set[str]] = defaultdict(set)
    ids[skeleton(agent)].add(agent_id(agent))
    for message in messages:
        if message.actor.id != agent_id(agent):
            name = display_name(message.actor)
            ids[skeleton(name)].add(message.actor.id)
            names[skeleton(name)].add(name)
    return frozenset(
        name for alike, found in ids.items() if len(found) > 1 for name in names[alike]
    )


def has_named_speakers(conversation: Conversation, agent: str) -> bool:
    """Whether people are told apart here: then the model is told how to read it."""
    own = (instructions_id(agent), agent_id(agent), ANONYMOUS_USER)
    return any(m.actor.id not in own and m.actor.role != "tool" for m in conversation.messages)


def speakers_notice(conversation: Conversation) -> str:
    """How a model is to read the lines before messages."""
    threads = any(map(has_thread_context, conversation.messages))
    return f"{NOTICE} {THREADS_NOTICE}" if threads else NOTICE


def with_notice(conversation: Conversation, agent: str) -> Conversation:
    """For APIs that have no instructions: how to read the lines is told before all of them."""
    if not has_named_speakers(conversation, agent):
        return conversation
    notice = Message(
        message_id="notice",
        timestamp=conversation.messages[0].timestamp,
        actor=Actor(id="bridge", role="system"),
        content=(TextPart(text=speakers_notice(conversation)),),
    )
    return conversation.model_copy(update={"messages": (notice, *conversation.messages)})


def as_text(piece: Piece, losses: list[Loss], why: str = "") -> str:
    """A piece that the API has no form for, as Markdown, with a Loss that says so. Of a document
    nothing is lost: its text stands under its title."""
    part = piece.part
    if (document := document_of(part)) is not None:
        title, said = document
        return as_file_text(title, "text/plain", said)
    shown = parts_text([(part, piece.details)]) if part is not None else ""
    if part is not None and not isinstance(part, (TextPart, RequestedResponseFormatPart)):
        what = f"{_named(part)}{f': {why}' if why else ''}"
        losses.append(Loss(path=piece.path, kind="part_as_text", what=what, shown_as=shown[:200]))
    return shown


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
    """Return the loss of instructions from the middle of a conversation that an API has at the top
    alone."""
    what = "instructions in the middle of the conversation"
    return Loss(path=entry.pieces[0].path, kind="moved", what=what, shown_as="at the top")


def no_instructions(entry: PromptEntry) -> Loss:
    """Return the loss of instructions that an API has no place for."""
    path = entry.pieces[0].path if entry.pieces else ""
    return Loss(path=path, kind="instructions", what="this API has no instructions")


def no_format() -> Loss:
    """Return the loss of a requested answer format that an API has no place for."""
    what = "the format that is wanted of the answer"
    return Loss(path="/requested_response_format", kind="format", what=what)


def request_settings(conversation: Conversation, agent: str, api: str) -> Json:
    """The rest of a request: model, limits, whatever is no message. `metadata.agents.<name>`."""
    own = private_state(conversation.metadata or {}, agent)
    return dict(obj(own.get("request"))) if own.get("api") == api else {}


def private_state(metadata: object, agent: str) -> Json:
    """`metadata.agents.<name>`, shown to that agent alone."""
    agents: JsonValue = metadata.get("agents") if isinstance(metadata, dict) else None
    return obj(obj(agents).get(agent))


def call_names(entries: Sequence[PromptEntry]) -> Mapping[str, str]:
    """Names of tools by the ids of their calls: some APIs want them at the results, too."""
    return {
        piece.part.id: piece.part.name
        for entry in entries
        for piece in entry.pieces
        if isinstance(piece.part, ToolCallPart)
    }


def stored_response(message: Message, agent: str, api: str) -> Json:
    """What the API had said beside this answer; empty where another API gave it."""
    own = private_state(message.metadata, agent)
    return obj(own.get("response")) if own.get("api") == api else {}
