"""What only one API can read: kept in a message, given back to that API alone. Pure.

A vendor's block is read as a part that everybody understands. What the block has beyond that
(signatures, citations, ids) follows as a `STATE` part with `fields`; a block that no part says
stands in its place as a whole, as `item`; what the vendor's message has beside its content follows
the content as `message`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import orjson
from pydantic import JsonValue

from bridge.agents.codec.json_values import Json, obj, patch_of, patched, without
from bridge.agents.codec.speakers import as_quote
from bridge.content.messages.agent_parts import CITATIONS, REASONING, STATE, is_hidden
from bridge.content.messages.metadata import PartDetails, read_bridge_metadata, select_parts
from bridge.model import Loss
from bridge.model.turns import AgentEvent, PartGiven, TextDelta, ToolCalled
from bridge.uacs import (
    ContentPart,
    Message,
    StructuredDataPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    write,
)

STATE_OF_ANOTHER = "state_of_another"
"""The kind of loss where one API does not read what another keeps for itself."""


@dataclass(frozen=True)
class Piece:
    """A part with what its own API said beyond it. Without a part it is an `item` of that API, or
    (`message`) what the vendor's message had beside its content."""

    path: str
    part: ContentPart | None = None
    details: PartDetails = field(default_factory=PartDetails)
    fields: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    item: JsonValue = None
    message: Mapping[str, JsonValue] | None = None

    def restored(self, block: Json) -> Json:
        """A vendor's block of this piece, with its own fields back in it. `as` is none of them: it
        tells the writer which of several forms the API had for this part."""
        fields = without(self.fields, "as")
        return obj(patched(block, fields)) if fields else block


def state(api: str, **what: JsonValue) -> StructuredDataPart:
    """A part for this API alone; `what` is one of fields, item and message."""
    return StructuredDataPart(schema_id=STATE, data={"api": api, **what})


def with_fields(api: str, part: ContentPart, base: Json, block: JsonValue) -> list[ContentPart]:
    """A part, and what its block has beyond the `base` that is written for this part."""
    patch = patch_of(base, obj(block))
    return [part, state(api, fields=patch)] if patch else [part]


def reasoning(text: str) -> StructuredDataPart:
    return StructuredDataPart(schema_id=REASONING, data={"text": text})


def citation_parts(citations: Sequence[JsonValue]) -> list[ContentPart]:
    """The sources in a neutral form; nothing where none has a title or an address."""
    return (
        [StructuredDataPart(schema_id=CITATIONS, data={"citations": list(citations)})]
        if citations
        else []
    )


def reasoning_text(part: ContentPart | None) -> str | None:
    """What was thought; None for any other part."""
    if not isinstance(part, StructuredDataPart) or part.schema_id != REASONING:
        return None
    said = part.data.get("text") if isinstance(part.data, Mapping) else None
    return said if isinstance(said, str) else ""


def pieces_of(message: Message, api: str, losses: list[Loss], at: str) -> tuple[Piece, ...]:
    """An agent's own message for the API `api`. What another API said for itself is left out."""
    found: list[Piece] = []
    details = read_bridge_metadata(message)[0].parts
    for index, part in select_parts(message, ()):
        path = f"{at}/content/{index}"
        if not isinstance(part, StructuredDataPart) or part.schema_id != STATE:
            known = details.get(str(index)) or PartDetails()
            found.append(Piece(path, part, known))
            continue
        kept = part.data if isinstance(part.data, Mapping) else {}
        if kept.get("api") != api:
            what = f"what the API {kept.get('api')!r} keeps for itself"
            losses.append(Loss(path=path, kind=STATE_OF_ANOTHER, what=what))
            continue
        match kept:
            case {"fields": dict(fields)}:
                _attach(found, fields)
            case {"item": item}:
                found.append(Piece(path, item=item))
            case {"message": dict(fields)}:
                found.append(Piece(path, message=fields))
            case _:
                losses.append(Loss(path=path, kind="state_unreadable", what="state of this API"))
    return tuple(found)


def pieces_of_others(message: Message, losses: list[Loss], at: str) -> tuple[Piece, ...]:
    """A message of somebody else: without what was said for one agent alone, and with what its
    author only passes on as a quote."""
    found: list[Piece] = []
    details = read_bridge_metadata(message)[0].parts
    for index, part in select_parts(message, ()):
        path = f"{at}/content/{index}"
        if is_hidden(part):
            losses.append(Loss(path=path, kind="private", what="what another agent keeps"))
            continue
        known = details.get(str(index)) or PartDetails()
        if known.quoted and isinstance(part, TextPart):
            part = part.model_copy(update={"text": as_quote(part.text)})
        found.append(Piece(path, part, known))
    return tuple(found)


def _attach(found: list[Piece], fields: Json) -> None:
    """To the part before it; sources stand between a text and its fields."""
    for index in range(len(found) - 1, -1, -1):
        part = found[index].part
        if isinstance(part, StructuredDataPart) and part.schema_id == CITATIONS:
            continue
        if part is not None:
            found[index] = replace(found[index], fields=fields)
        return


def cut_at_results(pieces: Iterable[Piece]) -> Iterator[tuple[bool, list[Piece]]]:
    """Runs of pieces: with each whether they are results of tools. What belongs to a message
    (`message`) belongs to the run before it."""
    run: list[Piece] = []
    kind = False
    for piece in pieces:
        result = isinstance(piece.part, ToolResultPart) if piece.message is None else kind
        if run and result != kind:
            yield kind, run
            run = []
        kind = result
        run.append(piece)
    if run:
        yield kind, run


def with_message_fields(body: Json, pieces: Iterable[Piece]) -> Json:
    """Return the API's message with the members that its original had beside its content."""
    for piece in pieces:
        if piece.message is not None:
            body = obj(patched(body, dict(piece.message)))
    return body


def events_of(parts: Iterable[ContentPart]) -> list[AgentEvent]:
    """Parts of an answer -> what the agent says."""
    events: list[AgentEvent] = []
    for part in parts:
        match part:
            case TextPart(text=text):
                events += [TextDelta(text=text)] if text else []
            case ToolCallPart():
                events.append(ToolCalled(part=part))
            case _:
                events.append(PartGiven(part=orjson.loads(write(part))))
    return events
