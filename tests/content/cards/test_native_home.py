"""What is taken out of a native message and put back again makes the same message."""

from __future__ import annotations

from typing import cast

from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from bridge.content.cards.native_home import at_place, with_payloads, without_payloads

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("a~/0", max_size=3), inner),
    max_leaves=20,
)


def test_payloads_are_removed_and_restored() -> None:
    native: JsonValue = {"text": "t", "a/b": [{"content": [1]}, {"content": {}}]}
    places = ["/a~1b/0/content", "/a~1b/1/content"]

    rest = without_payloads(native, places)

    assert rest == {"text": "t", "a/b": [{"content": None}, {"content": None}]}
    assert with_payloads(rest, {place: at_place(native, place) for place in places}) == native


def test_a_bare_payload_is_the_whole_message() -> None:
    assert without_payloads([1], [""]) is None
    assert with_payloads(None, {"": [1]}) == [1]


def test_missing_places_change_nothing() -> None:
    assert with_payloads({"a": [1]}, {"/b/0": 1, "/a/7": 1, "/a/x": 1}) == {"a": [1]}
    assert at_place({"a": [1]}, "/a/7") is None


@given(JSON, st.lists(st.lists(st.sampled_from(["a", "~", "/", "0", "1", ""]), max_size=3)))
def test_any_message_is_restored_from_any_places(native: object, steps: list[list[str]]) -> None:
    whole = cast("JsonValue", native)
    places = [
        "".join(f"/{s.replace('~', '~0').replace('/', '~1')}" for s in step) for step in steps
    ]
    payloads = {place: at_place(whole, place) for place in places}

    rest = without_payloads(whole, places)

    assert with_payloads(rest, dict(sorted(payloads.items()))) == whole
