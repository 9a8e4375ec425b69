"""UACS objects built in code and read from JSON: one set of rules, nothing added, nothing lost."""

from __future__ import annotations

from bridge.uacs import Actor, Message, TextPart, UnknownPart, read_message, write


def test_a_message_built_in_code_reads_back_equal() -> None:
    message = Message(
        message_id="m",
        timestamp="2026-11-21T12:00:00Z",
        actor=Actor(id="a", role="human"),
        content=(TextPart(text="hi"), UnknownPart.model_validate({"type": "3d", "x": None})),
        metadata={"a": [1, 2.5, 10**30]},
    )

    assert write(message) == (
        b'{"message_id":"m","timestamp":"2026-11-21T12:00:00Z","actor":{"id":"a","role":"human"},'
        b'"content":[{"type":"text","text":"hi"},{"type":"3d","x":null}],'
        b'"metadata":{"a":[1,2.5,1000000000000000000000000000000]}}'
    )
    assert read_message(write(message)) == message
