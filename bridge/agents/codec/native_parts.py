"""Data that only one API understands: stored in a message, sent back to that API alone. Pure.

A vendor's block is read as a UACS part. What the block has beyond that part (signatures, citations,
ids) follows as a `STATE` part with `fields`. A block without a UACS equivalent is stored in its
place as a whole, as `item`. What the vendor's message has beside its content follows the content as
`message`."""

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
"""The kind of loss for state that another API stored for itself."""


@dataclass(frozen=True)
class Piece:
    """A part with what its own API had beyond it. A piece without a part is an `item` of that API,
    or (`message`) the members that the vendor's message had beside its content."""

    path: str
    part: ContentPart | None = None
    details: PartDetails = field(default_factory=PartDetails)
    fields: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    item: JsonValue = None
    message: Mapping[str, JsonValue] | None = None

    def restored(self, block: Json) -> Json:
        """Return a vendor's block with the fields that its original had. The field `as` is not
        sent: it tells the writer in which of several forms the API had this part."""
        fields = without(self.fields, "as")
        return obj(patched(block, fields)) if fields else block


def state(api: str, **fields: JsonValue) -> StructuredDataPart:
    """Return a part for this API alone; `what` is one of fields, item and message."""
    return StructuredDataPart(schema_id=STATE, data={"api": api, **fields})


def with_fields(api: str, part: ContentPart, base: Json, block: JsonValue) -> list[ContentPart]:
    """Return a part, and the state that its block has beyond `base`, the block that the writer
    makes of this part."""
    patch = patch_of(base, obj(block))
    return [part, state(api, fields=patch)] if patch else [part]


def reasoning(text: str) -> StructuredDataPart:
    """Return a model's reasoning as a part."""
    return StructuredDataPart(schema_id=REASONING, data={"text": text})


def citation_parts(citations: Sequence[JsonValue]) -> list[ContentPart]:
    """Return the sources as one part in neutral form; no part if there are none."""
    return (
        [StructuredDataPart(schema_id=CITATIONS, data={"citations": list(citations)})]
        if citations
        else []
    )


def reasoning_text(part: ContentPart | None) -> str | None:
    """Return the text of a reasoning part; None for any other part."""
    if not isinstance(part, StructuredDataPart) or part.schema_id != REASONING:
        return None
    content = part.data.get("text") if isinstance(part.data, Mapping) else None
    return content if isinstance(content, str) else ""


def pieces_of(message: Message, api: str, losses: list[Loss], pointer: str) -> tuple[Piece, ...]:
    """Return the pieces of an agent's own message for `api`, without other APIs' state. `at` is the
    JSON pointer of the message for losses."""
    pieces: list[Piece] = []
    details = read_bridge_metadata(message)[0].parts
    for index, part in select_parts(message, ()):
        path = f"{pointer}/content/{index}"
        if not isinstance(part, StructuredDataPart) or part.schema_id != STATE:
            part_details = details.get(str(index)) or PartDetails()
            pieces.append(Piece(path, part, part_details))
            continue
        stored = part.data if isinstance(part.data, Mapping) else {}
        if stored.get("api") != api:
            lost_state = f"what the API {stored.get('api')!r} keeps for itself"
            losses.append(Loss(path=path, kind=STATE_OF_ANOTHER, what=lost_state))
            continue
        match stored:
            case {"fields": dict(fields)}:
                _attach(pieces, fields)
            case {"item": item}:
                pieces.append(Piece(path, item=item))
            case {"message": dict(fields)}:
                pieces.append(Piece(path, message=fields))
            case _:
                losses.append(Loss(path=path, kind="state_unreadable", what="state of this API"))
    return tuple(pieces)


def pieces_of_others(message: Message, losses: list[Loss], pointer: str) -> tuple[Piece, ...]:
    """Return the pieces of another actor's message: without parts for one agent alone, with
    forwarded texts as quotes."""
    pieces: list[Piece] = []
    details = read_bridge_metadata(message)[0].parts
    for index, part in select_parts(message, ()):
        path = f"{pointer}/content/{index}"
        if is_hidden(part):
            losses.append(Loss(path=path, kind="private", what="what another agent keeps"))
            continue
        part_details = details.get(str(index)) or PartDetails()
        if part_details.quoted and isinstance(part, TextPart):
            part = part.model_copy(update={"text": as_quote(part.text)})
        pieces.append(Piece(path, part, part_details))
    return tuple(pieces)


def _attach(pieces: list[Piece], fields: Json) -> None:
    """Attach fields to the part before them; citations may stand in between."""
    for index in range(len(pieces) - 1, -1, -1):
        part = pieces[index].part
        if isinstance(part, StructuredDataPart) and part.schema_id == CITATIONS:
            continue
        if part is not None:
            pieces[index] = replace(pieces[index], fields=fields)
        return


def cut_at_results(pieces: Iterable[Piece]) -> Iterator[tuple[bool, list[Piece]]]:
    """Yield runs of pieces, each with whether they are tool results. A `message` piece belongs to
    the run before it."""
    run: list[Piece] = []
    run_is_results = False
    for piece in pieces:
        is_result = (
            isinstance(piece.part, ToolResultPart) if piece.message is None else run_is_results
        )
        if run and is_result != run_is_results:
            yield run_is_results, run
            run = []
        run_is_results = is_result
        run.append(piece)
    if run:
        yield run_is_results, run


def with_message_fields(body: Json, pieces: Iterable[Piece]) -> Json:
    """Return the API's message with the members that its original had beside its content."""
    for piece in pieces:
        if piece.message is not None:
            body = obj(patched(body, dict(piece.message)))
    return body


def events_of(parts: Iterable[ContentPart]) -> list[AgentEvent]:
    """Return the agent events for the parts of an answer."""
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
