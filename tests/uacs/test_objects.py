"""UACS objects built in code and read from JSON: one set of rules, nothing added, nothing lost."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from bridge.errors import InvalidUacs
from bridge.uacs import (
    Actor,
    ImagePart,
    MediaSource,
    Message,
    RequestedResponseFormatPart,
    StructuredDataPart,
    TextPart,
    ToolResultPart,
    UnknownPart,
    read_message,
    write,
)

ACTOR = Actor(id="a", role="human")
MESSAGE = Message(
    message_id="m",
    timestamp="2026-11-21T12:00:00Z",
    actor=ACTOR,
    content=(
        TextPart(text="hi"),
        ImagePart(source=MediaSource(file_id="blob:1"), media_type="image/png"),
        RequestedResponseFormatPart(schema={"type": "object"}),
        UnknownPart.model_validate({"type": "3d", "x": None}),
    ),
    metadata={"a": [1, 2.5, 10**30]},
)
RAW = (
    b'{"message_id":"m","timestamp":"2026-11-21T12:00:00Z","actor":{"id":"a","role":"human"},'
    b'"content":[{"type":"text","text":"hi"},'
    b'{"type":"image","source":{"file_id":"blob:1"},"media_type":"image/png"},'
    b'{"type":"requested_response_format","schema":{"type":"object"}},'
    b'{"type":"3d","x":null}],'
    b'"metadata":{"a":[1,2.5,1000000000000000000000000000000]}}'
)


def test_a_message_built_in_code_reads_back_equal() -> None:
    assert write(MESSAGE) == RAW
    assert read_message(RAW) == MESSAGE
    assert MESSAGE.model_dump_json().encode() == RAW


@pytest.mark.parametrize(
    "part",
    [
        b'{"type":"text","text":"","format":"markdown"}',
        b'{"type":"text","text":"","schema_":1,"model_config":{},"__class__":2,"\xc3\xa4":null}',
        b'{"type":"tool_result","tool_call_id":"","content":null,"is_error":false}',
        b'{"type":"tool_result","tool_call_id":"","content":[1,1.0,true,1e-7,-0.0]}',
        b'{"type":"requested_response_format","schema":{},"schema_":{},"x":18446744073709551616}',
        b'{"type":"structured_data","schema_id":"","data":[],"none":null}',
        b'{"type":"file","media_type":"","source":{"base64":"not base64!","size":1.0}}',
        b'{"type":"","text":5}',
    ],
)
def test_a_part_survives_reading_and_writing_byte_for_byte(part: bytes) -> None:
    raw = b'{"message_id":"","timestamp":"2026-11-21t12:00:00.10z","actor":%s,"content":[%s]}'
    document = raw % (b'{"id":"","role":"tool","name":""}', part)
    if part.startswith(b'{"type":"file"'):  # a written part has its fields in the schema's order
        assert b'"source":{"base64":"not base64!","size":1.0}' in write(read_message(document))
    else:
        assert write(read_message(document)) == document


def test_the_last_of_two_equal_keys_counts() -> None:
    raw = RAW.replace(b'"text":"hi"', b'"text":1,"text":"hi"').replace(b'"m"', b'"n"')

    assert write(read_message(raw)) == RAW.replace(b'"m"', b'"n"')


def test_an_absent_field_is_none_and_none_is_not_written() -> None:
    assert (TextPart(text="").format, TextPart(text="").is_markdown) == (None, True)
    assert TextPart(text="", format="plain").is_markdown is False
    assert write(Actor(id="a", role="tool", name=None)) == b'{"id":"a","role":"tool"}'
    assert Actor(id="a", role="tool", name=None) == Actor(id="a", role="tool")
    assert not ToolResultPart(tool_call_id="", content="").is_error


def test_objects_are_frozen_and_own_their_json() -> None:
    data: dict[str, Any] = {"rows": [1]}
    part = StructuredDataPart(schema_id="x", data=data)

    data["rows"].append(2)

    assert part.data == {"rows": [1]}
    with pytest.raises(ValidationError, match="frozen"):
        part.schema_id = "y"  # pyright: ignore[reportAttributeAccessIssue]  # that is the case


def test_a_changed_copy_is_validated_again() -> None:
    assert write(MESSAGE.model_copy(update={"metadata": None, "content": [TextPart(text="")]})) == (
        b'{"message_id":"m","timestamp":"2026-11-21T12:00:00Z",'
        b'"actor":{"id":"a","role":"human"},"content":[{"type":"text","text":""}]}'
    )
    with pytest.raises(InvalidUacs, match="at least one item"):
        MESSAGE.model_copy(update={"content": ()})


@pytest.mark.parametrize("twin", [copy.deepcopy(MESSAGE), pickle.loads(pickle.dumps(MESSAGE))])
def test_a_copied_or_pickled_message_is_the_same(twin: Message) -> None:
    assert (twin, write(twin)) == (MESSAGE, RAW)


class _Event(BaseModel):
    kind: str = "posted"
    message: Message


def test_a_message_inside_another_model_keeps_its_bytes() -> None:
    adapter = TypeAdapter(_Event)

    raw = adapter.dump_json(_Event(message=MESSAGE))

    assert raw == b'{"kind":"posted","message":%s}' % RAW
    assert adapter.validate_json(raw) == _Event(message=MESSAGE)
