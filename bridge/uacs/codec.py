"""JSON bytes <-> UACS objects. In: bytes of any origin. Out: a valid object, or InvalidUacs."""

from __future__ import annotations

from pydantic import ValidationError

from bridge.uacs.conversation import Conversation
from bridge.uacs.invalid import to_invalid_uacs
from bridge.uacs.message import Message
from bridge.uacs.objects import UacsObject

_message_from_json = Message.__pydantic_validator__.validate_json
_conversation_from_json = Conversation.__pydantic_validator__.validate_json


def read_message(raw: bytes) -> Message:
    """UTF-8 JSON -> Message; InvalidUacs names path, value and rule of the first fault."""
    try:
        return _message_from_json(raw)
    except ValidationError as error:
        raise to_invalid_uacs(error) from None


def read_conversation(raw: bytes) -> Conversation:
    """UTF-8 JSON -> Conversation; InvalidUacs names path, value and rule of the first fault."""
    try:
        return _conversation_from_json(raw)
    except ValidationError as error:
        raise to_invalid_uacs(error) from None


def write(value: UacsObject) -> bytes:
    """Any UACS object -> compact UTF-8 JSON: what was read, or what was set; nothing added."""
    return value.__pydantic_serializer__.to_json(value)
