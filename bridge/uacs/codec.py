"""JSON bytes <-> UACS objects. The input is untrusted; the output is a valid object, or
InvalidUacs."""

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
    """Reads one message from JSON (seed, section VI).

    Args:
        raw: UTF-8 JSON from any source.

    Returns:
        The message, with the fields that the schema does not name as extra fields.

    Raises:
        InvalidUacs: The JSON breaks the schema; the error names path, value and rule of the first
            fault.
    """
    try:
        return _message_from_json(raw)
    except ValidationError as error:
        raise to_invalid_uacs(error) from None


def read_conversation(raw: bytes) -> Conversation:
    """Reads one conversation from JSON (seed, section VI).

    Args:
        raw: UTF-8 JSON from any source.

    Returns:
        The conversation, with the fields that the schema does not name as extra fields.

    Raises:
        InvalidUacs: The JSON breaks the schema; the error names path, value and rule of the first
            fault.
    """
    try:
        return _conversation_from_json(raw)
    except ValidationError as error:
        raise to_invalid_uacs(error) from None


def write(value: UacsObject) -> bytes:
    """Writes any UACS object as compact UTF-8 JSON.

    The JSON contains the fields that were read or set, and no defaults. The bytes equal those of
    pydantic's `model_dump_json`; orjson writes them in a third of the time.
    """
    try:
        return orjson.dumps(value, default=_fields)
    except TypeError:  # integers beyond 64 bits: orjson cannot write them, pydantic can
        return value.__pydantic_serializer__.to_json(value)


def _fields(value: UacsObject) -> dict[str, object]:
    """The fields of one object for orjson. An `isinstance` here would cost more than all the
    rest."""
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
