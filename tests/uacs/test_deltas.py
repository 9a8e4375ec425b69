"""Deltas: a message cut anywhere accumulates to itself; repeats are ignored, gaps are errors."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.errors import InvalidUacs
from bridge.uacs import (
    Accumulator,
    Actor,
    Delta,
    EnvelopeReplaced,
    Message,
    MessageEnvelope,
    MessageFinished,
    MessageStarted,
    MetadataMerged,
    PartRemoved,
    PartReplaced,
    PartStarted,
    TextAppended,
    TextPart,
    ToolCallPart,
    deltas_between,
    message_to_deltas,
    read_delta,
    read_message,
    to_server_sent_event,
    write,
)
from tests.examples import examples
from tests.uacs import strategies

DRAWN = settings(max_examples=examples(100))

ACTOR = Actor(id="agent", role="assistant")
NOON = "2026-11-21T12:00:00Z"
STARTED = MessageStarted(
    seq=0, envelope=MessageEnvelope(message_id="m", timestamp=NOON, actor=ACTOR)
)
TOOL_CALL = ToolCallPart(id="c1", name="weather", arguments={"city": "Boston"})

messages = strategies.messages.map(
    lambda document: read_message(json.dumps(document, ensure_ascii=False).encode())
)


def _message(*content: Any, **more: Any) -> Message:
    return Message(message_id="m", timestamp=NOON, actor=ACTOR, content=content, **more)


def _accumulated(*deltas: Delta) -> Accumulator:
    accumulator = Accumulator()
    for delta in deltas:
        accumulator.add(delta)
    return accumulator


def test_accumulated_deltas_equal_the_message_so_far_at_every_step() -> None:
    accumulator = Accumulator()
    states: list[Message | None] = []

    for delta in (
        STARTED,
        PartStarted(seq=1, index=0, part=TextPart(text="")),
        TextAppended(seq=2, index=0, text="Hel"),
        TextAppended(seq=3, index=0, text="lo"),
        PartStarted(seq=4, index=1, part=TOOL_CALL),
        PartReplaced(seq=5, index=0, part=TextPart(text="Hi")),
        PartRemoved(seq=6, index=1),
        MetadataMerged(seq=7, metadata={"took_ms": 5}),
        MessageFinished(seq=8),
    ):
        accumulator.add(delta)
        states.append(accumulator.so_far)

    assert states == [
        None,
        _message(TextPart(text="")),
        _message(TextPart(text="Hel")),
        _message(TextPart(text="Hello")),
        _message(TextPart(text="Hello"), TOOL_CALL),
        _message(TextPart(text="Hi"), TOOL_CALL),
        _message(TextPart(text="Hi")),
        _message(TextPart(text="Hi"), metadata={"took_ms": 5}),
        _message(TextPart(text="Hi"), metadata={"took_ms": 5}),
    ]
    assert accumulator.message == states[-1]


@DRAWN
@given(messages, st.integers(1, 5))
def test_any_message_cut_into_deltas_accumulates_to_itself(message: Message, chunk: int) -> None:
    wire = [write(delta) for delta in message_to_deltas(message, chunk=chunk)]

    accumulator = _accumulated(*(read_delta(raw) for raw in wire))

    assert write(accumulator.message) == write(message)


@DRAWN
@given(messages, messages, st.data())
def test_deltas_between_two_messages_give_the_second_one_even_when_repeated(
    message: Message, draft: Message, data: st.DataObject
) -> None:
    accumulator = _accumulated(*message_to_deltas(draft))
    deltas = list(deltas_between(draft, message, seq=accumulator.next_seq))
    repeats = data.draw(st.lists(st.sampled_from(deltas), max_size=4))

    edited = Accumulator(accumulator.message, seq=accumulator.next_seq)
    for delta in deltas:
        edited.add(delta)
        for repeat in repeats:
            if repeat.seq < edited.next_seq:
                assert edited.add(repeat) is False

    assert write(edited.message) == write(message)


def test_an_edit_that_only_grows_is_an_append() -> None:
    old, new = _message(TextPart(text="Hel")), _message(TextPart(text="Hello"))

    assert list(deltas_between(old, new, seq=4)) == [
        TextAppended(seq=4, index=0, text="lo"),
        MessageFinished(seq=5),
    ]


def test_an_edit_of_the_envelope_replaces_it() -> None:
    old, new = _message(TextPart(text="a")), _message(TextPart(text="a"), edited=True)
    envelope = MessageEnvelope.model_validate(
        {"message_id": "m", "timestamp": NOON, "actor": ACTOR, "edited": True}
    )

    assert list(deltas_between(old, new)) == [
        EnvelopeReplaced(seq=0, envelope=envelope),
        MessageFinished(seq=1),
    ]


PART = PartStarted(seq=1, index=0, part=TextPart(text="a"))


@pytest.mark.parametrize(
    ("deltas", "error"),
    [
        ([PartStarted(seq=0, index=0, part=TextPart(text=""))], "must be the first delta"),
        ([STARTED, STARTED.model_copy(update={"seq": 1})], "arrived twice"),
        ([STARTED, TextAppended(seq=1, index=0, text="a")], "0 must be below 0"),
        ([STARTED, PART.model_copy(update={"index": 1})], "number of parts so far, 0"),
        ([STARTED, PartStarted(seq=2, index=0, part=TextPart(text=""))], "1 is missing"),
        (
            [
                STARTED,
                PartStarted(seq=1, index=0, part=TOOL_CALL),
                TextAppended(seq=2, index=0, text="a"),
            ],
            "text part, not of 'tool_call'",
        ),
        ([STARTED, MessageFinished(seq=1)], "at least one part"),
        ([STARTED, PART, MessageFinished(seq=2), PartRemoved(seq=3, index=0)], "after the end"),
        ([STARTED, PART, PartReplaced(seq=2, index=10**30, part=TextPart(text=""))], "below 1"),
    ],
)
def test_an_invalid_delta_is_an_error_and_changes_nothing(deltas: list[Delta], error: str) -> None:
    accumulator = _accumulated(*deltas[:-1])
    before = accumulator.next_seq, accumulator.so_far

    with pytest.raises(InvalidUacs, match=error):
        accumulator.add(deltas[-1])

    assert (accumulator.next_seq, accumulator.so_far) == before


def test_an_unfinished_message_is_refused() -> None:
    with pytest.raises(InvalidUacs, match="not yet the whole message"):
        _ = _accumulated(STARTED, PART).message


def test_a_repeated_delta_changes_nothing() -> None:
    accumulator = _accumulated(STARTED, PART)

    assert accumulator.add(PART) is False
    assert accumulator.so_far == _message(TextPart(text="a"))


def test_a_delta_is_one_server_sent_event() -> None:
    delta = TextAppended(seq=3, index=0, text="a\nb")

    assert to_server_sent_event(delta) == (
        b"id: 3\nevent: text_appended\n"
        b'data: {"type":"text_appended","seq":3,"index":0,"text":"a\\nb"}\n\n'
    )


@pytest.mark.parametrize(
    ("raw", "error"),
    [
        (b"[]", r"^\$: an array of 0 items must be an object"),
        (b'{"type":"said"}', r"^\$\.type: 'said' must be one of 'message_started', "),
        (b'{"type":5}', r"^\$\.type: '?5'? must be one of 'message_started', "),
        (b"{}", r"^\$\.type: nothing "),
        (b'{"type":"text_appended","seq":-1}', r"^\$\.seq: -1 "),
        (b'{"type":"text_appended","seq":true}', r"^\$\.seq: True "),
        (
            b'{"type":"part_started","seq":0,"index":0,"part":{"type":"text","text":1}}',
            r"^\$\.part\.text: 1 must be a string$",
        ),
        (
            b'{"type":"message_started","seq":0,"envelope":{"message_id":"m"}}',
            r"^\$\.envelope\.timestamp: nothing is given",
        ),
    ],
)
def test_a_malformed_delta_is_refused_with_its_path(raw: bytes, error: str) -> None:
    with pytest.raises(InvalidUacs, match=error):
        read_delta(raw)
