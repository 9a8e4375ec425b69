"""UACS, the Universal AI Conversation Schema: the seed's schema and nothing else.

`read_message` and `read_conversation` take JSON bytes, `write` gives them back; objects built in
code are judged by the same rules. Every fault is an `InvalidUacs`.
"""

from __future__ import annotations

from bridge.uacs.actor import Actor, Role
from bridge.uacs.codec import read_conversation, read_message, write
from bridge.uacs.conversation import Conversation
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
    "Actor",
    "AudioPart",
    "ContentPart",
    "Conversation",
    "FilePart",
    "ImagePart",
    "KnownPart",
    "MediaSource",
    "Message",
    "RequestedResponseFormatPart",
    "Role",
    "StructuredDataPart",
    "TextFormat",
    "TextPart",
    "Timestamp",
    "ToolCallPart",
    "ToolResultPart",
    "UnknownPart",
    "VideoPart",
    "read_conversation",
    "read_message",
    "to_datetime",
    "to_timestamp",
    "write",
]
