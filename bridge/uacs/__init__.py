"""UACS, the Universal AI Conversation Schema: the seed's schema and nothing else.

`read_message` and `read_conversation` read JSON bytes, `write` writes them. The same rules check
objects that are built in code. Every violation raises `InvalidUacs`.
"""

from __future__ import annotations

from bridge.uacs.accumulate import Accumulator, deltas_between, message_to_deltas
from bridge.uacs.actor import Actor, Role
from bridge.uacs.codec import read_conversation, read_message, write
from bridge.uacs.conversation import Conversation
from bridge.uacs.deltas import (
    Delta,
    EnvelopeReplaced,
    MessageEnvelope,
    MessageFinished,
    MessageStarted,
    MetadataMerged,
    PartRemoved,
    PartReplaced,
    PartStarted,
    TextAppended,
    envelope_of,
    read_delta,
    to_server_sent_event,
)
from bridge.uacs.free_json import JsonObject, JsonTree
from bridge.uacs.message import Message
from bridge.uacs.parts import (
    PART_TYPES,
    AudioPart,
    ContentPart,
    FilePart,
    ImagePart,
    KnownPart,
    MediaSource,
    RequestedResponseFormatPart,
    StructuredDataPart,
    TextFormat,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    UnknownPart,
    VideoPart,
)
from bridge.uacs.values import Timestamp, to_datetime, to_timestamp

__all__ = [
    "PART_TYPES",
    "Accumulator",
    "Actor",
    "AudioPart",
    "ContentPart",
    "Conversation",
    "Delta",
    "EnvelopeReplaced",
    "FilePart",
    "ImagePart",
    "JsonObject",
    "JsonTree",
    "KnownPart",
    "MediaSource",
    "Message",
    "MessageEnvelope",
    "MessageFinished",
    "MessageStarted",
    "MetadataMerged",
    "PartRemoved",
    "PartReplaced",
    "PartStarted",
    "RequestedResponseFormatPart",
    "Role",
    "StructuredDataPart",
    "TextAppended",
    "TextFormat",
    "TextPart",
    "Timestamp",
    "ToolCallPart",
    "ToolResultPart",
    "UnknownPart",
    "VideoPart",
    "deltas_between",
    "envelope_of",
    "message_to_deltas",
    "read_conversation",
    "read_delta",
    "read_message",
    "to_datetime",
    "to_server_sent_event",
    "to_timestamp",
    "write",
]
