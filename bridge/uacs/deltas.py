"""A message that is still being written, as numbered deltas: small frozen objects with a `type`.

Agents and codecs produce them. They are sent as JSON (`write`, `read_delta`) or as server-sent
events, and `bridge.uacs.accumulate` joins them (seed, section VII, streaming).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, ValidationError

from bridge.uacs.actor import Actor
from bridge.uacs.codec import write
from bridge.uacs.free_json import JsonObject
from bridge.uacs.invalid import to_invalid_uacs
from bridge.uacs.message import Message
from bridge.uacs.objects import Optional, UacsObject, absent
from bridge.uacs.parts import ContentPart
from bridge.uacs.values import Text, Timestamp

SequenceNumber = Annotated[int, Field(strict=True, ge=0)]
Index = Annotated[int, Field(strict=True, ge=0)]


class MessageEnvelope(UacsObject):
    """A message without its content; its extra fields are those of the message."""

    message_id: Text
    timestamp: Timestamp
    actor: Actor
    metadata: Annotated[JsonObject | None, Optional()] = absent()


class MessageStarted(UacsObject):
    """The first delta: everything except the content."""

    type: Literal["message_started"] = "message_started"
    seq: SequenceNumber
    envelope: MessageEnvelope


class EnvelopeReplaced(UacsObject):
    """A new value for everything except the content."""

    type: Literal["envelope_replaced"] = "envelope_replaced"
    seq: SequenceNumber
    envelope: MessageEnvelope


class PartStarted(UacsObject):
    """A new part at the end; `index` is the number of parts before it."""

    type: Literal["part_started"] = "part_started"
    seq: SequenceNumber
    index: Index
    part: ContentPart


class TextAppended(UacsObject):
    """Text to append to the text part at `index`."""

    type: Literal["text_appended"] = "text_appended"
    seq: SequenceNumber
    index: Index
    text: Text


class PartReplaced(UacsObject):
    """A new value for the whole part at `index`."""

    type: Literal["part_replaced"] = "part_replaced"
    seq: SequenceNumber
    index: Index
    part: ContentPart


class PartRemoved(UacsObject):
    """The part at `index` is removed; the parts after it move up."""

    type: Literal["part_removed"] = "part_removed"
    seq: SequenceNumber
    index: Index


class MetadataMerged(UacsObject):
    """New values for these keys of the message's metadata; the other keys stay."""

    type: Literal["metadata_merged"] = "metadata_merged"
    seq: SequenceNumber
    metadata: JsonObject


class MessageFinished(UacsObject):
    """The last delta: the message is complete."""

    type: Literal["message_finished"] = "message_finished"
    seq: SequenceNumber


Delta = Annotated[
    MessageStarted
    | EnvelopeReplaced
    | PartStarted
    | TextAppended
    | PartReplaced
    | PartRemoved
    | MetadataMerged
    | MessageFinished,
    Field(discriminator="type"),
]

_DELTA: TypeAdapter[Delta] = TypeAdapter(Delta)


def read_delta(raw: bytes) -> Delta:
    """Reads one delta from JSON.

    Args:
        raw: UTF-8 JSON from any source.

    Returns:
        The delta, of the class that its `type` names.

    Raises:
        InvalidUacs: The JSON is no delta; the error names path, value and rule of the first fault.
    """
    try:
        return _DELTA.validate_json(raw)
    except ValidationError as error:
        raise to_invalid_uacs(error, tagged=True) from None


def to_server_sent_event(delta: Delta) -> bytes:
    """Writes one delta as an event of a `text/event-stream`; its id is `seq`, for Last-Event-ID."""
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (delta.seq, delta.type.encode(), write(delta))


def envelope_of(message: Message) -> MessageEnvelope:
    """Returns a message's fields without its content."""
    fields = {name: getattr(message, name) for name in MessageEnvelope.model_fields}
    return MessageEnvelope(**fields, **(message.model_extra or {}))
