"""Whatever comes in, a reader gives an object or one InvalidUacs with path, value and rule."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.errors import InvalidUacs
from bridge.uacs import Message, TextPart, read_conversation, read_delta, read_message, write
from tests.examples import examples
from tests.uacs import strategies

VALID: dict[str, Any] = {
    "message_id": "m",
    "timestamp": "2026-11-21T12:00:00Z",
    "actor": {"id": "a", "role": "human"},
    "content": [{"type": "text", "text": "hi"}],
}


def _refusal(raw: bytes) -> tuple[str, str]:
    with pytest.raises(InvalidUacs) as caught:
        read_message(raw)
    assert len(str(caught.value)) < 1000
    return caught.value.path, str(caught.value)


def _spoiled(**changes: Any) -> bytes:
    return json.dumps({**VALID, **changes}).encode()


def _part(**fields: Any) -> bytes:
    return _spoiled(content=[{"type": "text", "text": "first"}, fields])


SOURCE = {"url": "https://example.com/a"}


@pytest.mark.parametrize(
    ("raw", "error"),
    [
        (b"[]", "$: an array of 0 items must be an object"),
        (b"1", "$: 1 must be an object"),
        (_spoiled(message_id=7), "$.message_id: 7 must be a string"),
        (_spoiled(actor={"id": "a"}), "$.actor.role: nothing is given, but this field is required"),
        (
            _spoiled(actor={"id": "a", "role": "bot"}),
            "$.actor.role: 'bot' must be 'human', 'assistant', 'system' or 'tool'",
        ),
        (_spoiled(actor={"id": "a", "role": "tool", "name": None}), "$.actor.name: None must be"),
        (_spoiled(content=[]), "$.content: an array of 0 items must have at least one item"),
        (_spoiled(content=["x"]), "$.content[0]: 'x' must be an object"),
        (_spoiled(metadata=[]), "$.metadata: an array of 0 items must be an object"),
        (
            _spoiled(timestamp="2026-02-30T00:00:00Z"),
            "$.timestamp: '2026-02-30T00:00:00Z' must be a date and time with an offset",
        ),
        (_part(), "$.content[1].type: nothing is given, but this field is required"),
        (_part(type=5), "$.content[1].type: 5 must be a string"),
        (_part(type="text"), "$.content[1].text: nothing is given, but this field is required"),
        (
            _part(type="text", text="", format="html"),
            "$.content[1].format: 'html' must be 'markdown' or 'plain'",
        ),
        (
            _part(type="image", media_type="text/x", source=SOURCE),
            "$.content[1].media_type: 'text/x' must begin with 'image/'",
        ),
        (
            _part(type="file", media_type="x/y", source={}),
            "$.content[1].source: an object with the keys 'base64', 'url', 'file_id' must have "
            "exactly one of 'base64', 'url' and 'file_id'",
        ),
        (
            _part(type="file", media_type="x/y", source={"url": "a b"}),
            "$.content[1].source.url: 'a b' must be an absolute URI",
        ),
        (
            _part(type="tool_result", tool_call_id="", content=None, is_error="true"),
            "$.content[1].is_error: 'true' must be true or false",
        ),
        (
            _part(type="structured_data", schema_id="", data="x"),
            "$.content[1].data: 'x' must be an object or an array",
        ),
        (_spoiled(extra={"a b": [float("nan")]}), "$.extra['a b'][0]: nan must be a finite"),
        (
            _spoiled(metadata={"a": "1e400"}).replace(b'"1e400"', b"1e400"),
            "$.metadata.a: inf must be a finite number that a double holds",
        ),
    ],
)
def test_an_error_names_path_value_and_rule(raw: bytes, error: str) -> None:
    assert _refusal(raw)[1].startswith(error)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\xff\xfe",
        b"\xef\xbb\xbf{}",
        b"{",
        b"{}}",
        b"{'a': 1}",
        b'{"message_id":"\\ud800"}',
        b'{"message_id":"\\udc00\\ud800"}',
        b'{"message_id":"\xed\xa0\x80"}',
        b'{"a":01}',
        b'{"a":1' + b"0" * 5000 + b"}",
        b'{"a":"' + b"\x01" + b'"}',
        b"[" * 1_000_000,
        b'{"a":' * 1_000_000,
        b"NaN",
        b"-Infinity",
        _spoiled(**{"x" * 100_000: float("inf")}),
        _spoiled(content=[{"type": "x" * 1_000_000, "y": float("inf")}]),
        _spoiled(message_id=["x" * 1_000_000]),
        _spoiled(message_id={"x" * 100_000: {}}),
        _spoiled(content=[{"type": "image"}] * 100_000),
    ],
    ids=lambda raw: repr(raw[:24]),
)
def test_hostile_bytes_give_one_short_error(raw: bytes) -> None:
    assert _refusal(raw)[0].startswith("$")
    with pytest.raises(InvalidUacs):
        read_conversation(raw)
    with pytest.raises(InvalidUacs):
        read_delta(raw)


def test_two_hundred_levels_are_read_and_more_are_refused() -> None:
    def nested(levels: int) -> bytes:
        return _spoiled(metadata={"a": 0}).replace(b"0}", b"[" * levels + b"]" * levels + b"}")

    assert write(read_message(nested(190))) == nested(190).replace(b": ", b":").replace(b", ", b",")
    assert "recursion limit" in _refusal(nested(200))[1]


@settings(max_examples=examples(300))
@given(
    st.binary(max_size=40)
    | strategies.json_values.map(lambda value: json.dumps(value).encode())
    | st.builds(
        lambda document, at, noise: (
            (raw := json.dumps(document).encode())[: at % len(raw)]
            + noise
            + raw[at % len(raw) + len(noise) :]
        ),
        strategies.messages,
        st.integers(0, 10**6),
        st.binary(min_size=1, max_size=3),
    )
)
def test_any_bytes_raise_nothing_but_invalid_uacs(raw: bytes) -> None:
    for read in (read_message, read_conversation, read_delta):
        with contextlib.suppress(InvalidUacs):
            assert write(read(raw))


def _endless() -> list[Any]:
    endless: list[Any] = []
    endless.append(endless)
    return endless


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"text": 1}, "$.text"),
        ({"text": "\ud800"}, "$.text"),
        ({"text": b"x"}, "$.text"),
        ({"text": "", "type": "image"}, "$.type"),
        ({"text": "", "format": "html"}, "$.format"),
        ({"text": "", "x": {1: 2}}, "$.x"),
        ({"text": "", "x": {"a": [object()]}}, "$.x.a[0]"),
        ({"text": "", "x": {"a": [float("nan")]}}, "$.x.a[0]"),
        ({"text": "", "x": {"\udfff": 1}}, "$.x"),
        ({"text": "", "x": {1, 2}}, "$.x"),
        ({"text": "", "x": 10**5000}, "$.x"),
        ({"text": "", "x": _endless()}, "$.x" + "[0]" * 60),
        ({"text": "", "\ud800": 1}, "$"),
        ({}, "$.text"),
    ],
)
def test_an_object_built_in_code_is_validated_like_json(fields: dict[str, Any], path: str) -> None:
    with pytest.raises(InvalidUacs) as caught:
        TextPart(**fields)

    assert caught.value.path.startswith(path)
    str(caught.value).encode()


def test_parsed_json_is_validated_like_its_bytes() -> None:
    assert Message(**VALID) == read_message(json.dumps(VALID).encode())
    spoiled: dict[str, Any] = {**VALID, "content": [{"type": "text", "text": 5}]}
    with pytest.raises(InvalidUacs, match=r"^\$\.content\[0\]\.text: 5 must be a string$"):
        Message(**spoiled)
