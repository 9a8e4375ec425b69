"""The bridge's additions to UACS: typed, forgiving, and one side of each fallback."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.content.messages.metadata import (
    BridgeMetadata,
    PartDetails,
    read_bridge_metadata,
    select_parts,
    with_bridge_metadata,
)
from bridge.uacs import Actor, Message, StructuredDataPart, TextPart, read_message, write
from tests.examples import examples

BLOCKS = "application/vnd.slack.blocks+json"
CARD = "application/vnd.uacs.card+json"


def _payload(schema_id: str) -> StructuredDataPart:
    return StructuredDataPart(schema_id=schema_id, data=[])


def _message(additions: Any = None, *content: Any) -> Message:
    return Message(
        message_id="m",
        timestamp="2026-11-21T12:00:00Z",
        actor=Actor(id="a", role="human"),
        content=content or (_payload(BLOCKS), TextPart(text="one"), TextPart(text="two")),
        metadata=None if additions is None else {"uacs_bridge": additions, "other": 1},
    )


def _selected(message: Message, *schema_ids: str) -> list[int]:
    return [index for index, _ in select_parts(message, set(schema_ids))]


def test_additions_survive_a_round_trip_beside_other_metadata() -> None:
    additions = BridgeMetadata(
        fallbacks={"0": (1, 2)},
        parts={"2": PartDetails(name="a.png", size=12, duration_s=1.5, spoiler=True)},
        state={"edited": "2026-11-21T12:00:00Z"},
    )

    message = with_bridge_metadata(_message({"parts": {}}), additions)

    assert read_bridge_metadata(read_message(write(message))) == (additions, [])
    assert message.metadata == {
        "uacs_bridge": {
            "version": 1,
            "fallbacks": {"0": [1, 2]},
            "parts": {"2": {"name": "a.png", "size": 12, "duration_s": 1.5, "spoiler": True}},
            "state": {"edited": "2026-11-21T12:00:00Z"},
        },
        "other": 1,
    }


def test_without_additions_every_part_is_selected() -> None:
    assert read_bridge_metadata(_message()) == (BridgeMetadata(), [])
    assert _selected(_message(), BLOCKS) == [0, 1, 2]


@pytest.mark.parametrize(
    ("additions", "fragment"),
    [
        ([], "no object"),
        ({"version": 2, "fallbacks": {"0": [1]}}, "version"),
        ({"version": True}, "version"),
        ({"fallbacks": []}, "fallbacks"),
        ({"fallbacks": {"0": [3]}}, "fallbacks.0"),
        ({"fallbacks": {"1": [0]}}, "fallbacks.1"),
        ({"fallbacks": {"0": [0]}}, "fallbacks.0"),
        ({"fallbacks": {"0": ["1"]}}, "fallbacks.0"),
        ({"fallbacks": {"0": [1.0]}}, "fallbacks.0"),
        ({"fallbacks": {"x": [1]}}, "fallbacks.x"),
        ({"fallbacks": {"99999999999999999999": [1]}}, "fallbacks.9"),
        ({"parts": {"0": {"size": -1}}}, "parts.0.size"),
        ({"parts": {"0": {"name": 5}}}, "parts.0.name"),
        ({"parts": {"0": {"spoiler": 1}}}, "parts.0.spoiler"),
    ],
)
def test_a_malformed_addition_is_ignored_with_a_warning_but_stays_stored(
    additions: Any, fragment: str
) -> None:
    message = _message(additions)

    additions_read, warnings = read_bridge_metadata(message)

    assert (additions_read.fallbacks, additions_read.parts) == ({}, {})
    assert [fragment in warning for warning in warnings] == [True]
    assert _selected(message, BLOCKS) == [0, 1, 2]
    assert read_message(write(message)).metadata == message.metadata


def test_one_malformed_addition_does_not_remove_the_others() -> None:
    additions_read, warnings = read_bridge_metadata(
        _message({"fallbacks": {"0": [1], "7": [8]}, "parts": {"1": {"alt": "x"}}, "new": 10**30})
    )

    assert additions_read.fallbacks == {"0": (1,)}
    assert additions_read.parts == {"1": PartDetails(alt="x")}
    assert additions_read.model_extra == {"new": 10**30}
    assert len(warnings) == 1


def test_an_accepted_payload_replaces_its_fallback() -> None:
    message = _message({"fallbacks": {"0": [1, 2]}})

    assert _selected(message, BLOCKS) == [0]
    assert _selected(message) == [1, 2]
    assert [i for i, _ in select_parts(message, lambda part: part.type != "text")] == [0]


def test_a_fallback_may_be_a_payload_with_a_fallback_of_its_own() -> None:
    content = (_payload(BLOCKS), _payload(CARD), TextPart(text="one"), TextPart(text="after"))
    message = _message({"fallbacks": {"0": [1], "1": [2]}}, *content)

    assert _selected(message, BLOCKS, CARD) == [0, 3]
    assert _selected(message, CARD) == [1, 3]
    assert _selected(message) == [2, 3]


def test_a_shared_fallback_is_selected_when_one_payload_needs_it() -> None:
    content = (_payload(BLOCKS), _payload(CARD), TextPart(text="one"))
    message = _message({"fallbacks": {"0": [2], "1": [2]}}, *content)

    assert _selected(message, BLOCKS, CARD) == [0, 1]
    assert _selected(message, CARD) == [1, 2]
    assert _selected(message) == [2]


def test_a_payload_without_fallback_is_always_selected() -> None:
    assert _selected(_message({"fallbacks": {"0": []}})) == [0, 1, 2]


_junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(0, 9) | st.sampled_from("01x"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "0",
                    "1",
                    "2",
                    "-1",
                    "00",
                    "fallbacks",
                    "parts",
                    "version",
                    "state",
                    "name",
                    "size",
                ]
            ),
            inner,
            max_size=3,
        )
    ),
    max_leaves=10,
)


@settings(max_examples=examples(150))
@given(_junk)
def test_no_malformed_additions_raise(additions: Any) -> None:
    message = _message(additions)

    additions, _ = read_bridge_metadata(message)
    selected = select_parts(message, {BLOCKS})

    assert selected
    assert read_bridge_metadata(with_bridge_metadata(message, additions))[0] == additions
