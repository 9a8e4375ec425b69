"""A conversation: an ordered list of messages."""

from __future__ import annotations

from typing import Annotated

from pydantic import FailFast

from bridge.uacs.free_json import JsonObject
from bridge.uacs.message import Message
from bridge.uacs.objects import Optional, UacsObject, absent
from bridge.uacs.values import Timestamp, UuidText


class Conversation(UacsObject):
    """The container of an exchange (seed, section VI); it may have no messages."""

    conversation_id: UuidText
    created_at: Timestamp
    updated_at: Timestamp
    messages: Annotated[tuple[Message, ...], FailFast()]
    metadata: Annotated[JsonObject | None, Optional()] = absent()
