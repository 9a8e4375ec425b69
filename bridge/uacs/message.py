"""One message: its author, its time, and its content in parts."""

from __future__ import annotations

from typing import Annotated

from pydantic import FailFast, Field

from bridge.uacs.actor import Actor
from bridge.uacs.free_json import JsonObject
from bridge.uacs.objects import Optional, UacsObject, absent
from bridge.uacs.parts import ContentPart
from bridge.uacs.values import Text, Timestamp


class Message(UacsObject):
    """The unit of a conversation (seed, section VI); `content` has at least one part, in order."""

    message_id: Text
    timestamp: Timestamp
    actor: Actor
    content: Annotated[tuple[ContentPart, ...], Field(min_length=1), FailFast()]
    metadata: Annotated[JsonObject | None, Optional()] = absent()
