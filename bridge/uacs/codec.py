"""JSON bytes <-> UACS objects. In: bytes of any origin. Out: a valid object, or InvalidUacs."""

from __future__ import annotations

import orjson
from pydantic import ValidationError

from bridge.uacs.conversation import Conversation
from bridge.uacs.invalid import to_invalid_uacs
from bridge.uacs.message import Message
from bridge.uacs.objects import UacsObject
from bridge.uacs.parts import RequestedResponseFormatPart

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
    """Any UACS object -> compact UTF-8 JSON: what was read, or what was set; nothing added.

    The bytes are those of pydantic's `model_dump_json`, written by orjson in a third of the time.
    """
    try:
        return orjson.dumps(value, default=_fields)
    except TypeError:  # integers beyond 64 bits: orjson cannot write them, pydantic can
        return value.__pydantic_serializer__.to_json(value)


def _fields(value: UacsObject) -> dict[str, object]:
    """One object for orjson; no isinstance here, which costs more than all the rest."""
    fields: dict[str, object] = value.__dict__.copy()
    if type(value) is RequestedResponseFormatPart:
        fields["schema"] = fields.pop("schema_")
    for name in value.optional_fields:
        if fields[name] is None:
            del fields[name]
    extra = value.__pydantic_extra__
    if extra:
        fields.update(extra)
    return fields
