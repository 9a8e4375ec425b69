"""Any JSON is read or refused, and in bounded time."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.content.cards.json import card_from_json, card_to_json
from bridge.content.cards.rendering import Payload
from bridge.content.cards.tree import Button, Card, Container, Divider, Native, Prose, Table
from bridge.content.cards.walk import actions_of, walk
from bridge.errors import CodecError
from connectors.slack.cards import SCHEMA_IDS, read_form, read_message, read_payload
from tests.connectors.slack.card_payloads import EVERY_ATTACHMENT, EVERY_BLOCK, EVERY_FILE
from tests.examples import examples, large

WORDS = st.sampled_from(
    [
        *("type", "text", "blocks", "attachments", "files", "elements", "element", "fields"),
        *("mrkdwn", "plain_text", "section", "actions", "button", "rich_text", "container"),
        *("child_blocks", "accessory", "options", "rows", "chart", "*a* <@U1>", ":wave:", "#f00"),
    ]
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | WORDS
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(WORDS | st.text(max_size=4), inner, max_size=5)
    ),
    max_leaves=25,
)
SOME = settings(max_examples=examples(60))
WHOLE: dict[str, Any] = {
    "text": "hi",
    "blocks": EVERY_BLOCK,
    "attachments": EVERY_ATTACHMENT,
    "files": EVERY_FILE,
}


def read(native: Any) -> Card | None:
    """The card, checked for validity and for pointers into the message; None for other JSON."""
    try:
        card = read_message(native, "T1")
    except CodecError:
        return None
    written = card_to_json(card)
    assert card_to_json(card_from_json(written)) == written
    return card


def refusal(call: Callable[..., object], *arguments: Any) -> CodecError | None:
    try:
        call(*arguments)
    except CodecError as error:
        return error
    return None


def places(value: Any, at: str = "") -> set[str]:
    pointers = {at}
    items = value.items() if isinstance(value, dict) else ()
    for key, member in enumerate(value) if isinstance(value, list) else items:
        pointers |= places(member, f"{at}/{str(key).replace('~', '~0').replace('/', '~1')}")
    return pointers


@st.composite
def mutated(draw: st.DrawFn) -> Any:
    """A message with every member, some of which have other values."""
    native = {key: copy.deepcopy(value) for key, value in WHOLE.items()}
    for _ in range(draw(st.integers(1, 6))):
        holder: Any = native
        for _ in range(draw(st.integers(0, 8))):
            inner = [
                member for member in _values(holder) if isinstance(member, dict | list) and member
            ]
            if not inner:
                break
            holder = inner[draw(st.integers(0, len(inner) - 1))]
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        if keys:
            holder[keys[draw(st.integers(0, len(keys) - 1))]] = draw(JSON)
    return native


def _values(holder: Any) -> list[Any]:
    return list(holder.values()) if isinstance(holder, dict) else list(holder)


# --- anything -------------------------------------------------------------------------------


@given(JSON)
def test_any_json_is_read_or_refused(native: Any) -> None:
    read(native)


@given(st.sampled_from([*sorted(SCHEMA_IDS), "", "other"]), JSON)
def test_any_payload_is_read_or_refused_with_its_pointer(schema_id: str, data: Any) -> None:
    error = refusal(read_payload, Payload(schema_id, data, "/x"))

    assert error is None or error.pointer == "/x"


@given(JSON)
def test_any_view_is_read_or_refused(view: Any) -> None:
    error = refusal(read_form, view)

    assert error is None or "view" in error.reason


@SOME
@given(mutated())
def test_a_message_with_wrong_values_is_read_and_its_nodes_have_valid_pointers(native: Any) -> None:
    card = read(native)

    assert card is not None
    pointers = places(native)
    assert [node.at for node in walk(card.nodes) if node.at not in pointers] == []


@SOME
@given(mutated())
def test_reading_twice_gives_the_same(native: Any) -> None:
    assert read(native) == read(copy.deepcopy(native))


def test_malformed_blocks_do_not_change_how_the_others_are_read() -> None:
    native = copy.deepcopy(WHOLE)
    native["blocks"] = [{"type": "section", "text": 5}, None, 7, *EVERY_BLOCK]

    whole = read(WHOLE)
    card = read(native)

    assert whole is not None
    assert card is not None
    assert [node for node in card.nodes if not isinstance(node, Native)] == [
        node for node in whole.nodes if not isinstance(node, Native)
    ]


# --- deep nesting ---------------------------------------------------------------------------


def boxes(deep: int, *inner: Any) -> list[Any]:
    blocks = [*inner]
    for number in range(deep):
        title = {"type": "plain_text", "text": f"box {deep - number}"}
        blocks = [{"type": "container", "title": title, "child_blocks": blocks}]
    return blocks


def test_containers_nested_deeper_than_sixteen_levels_are_flattened() -> None:
    card = read({"blocks": boxes(490, {"type": "divider"})})

    assert card is not None
    nodes = list(walk(card.nodes))
    assert [type(node) for node in nodes[:16]] == [Container] * 16
    assert len([node for node in nodes if isinstance(node, Prose)]) == 490 - 16
    assert nodes[-1] == Divider()


@pytest.mark.parametrize("key", ["elements", "child_blocks", "text", "stuff", "rows", "accessory"])
@pytest.mark.parametrize("kind", ["section", "container", "rich_text", "table", "card", "unheard"])
def test_json_nested_a_thousand_times_is_a_card(kind: str, key: str) -> None:
    value: Any = {"type": "button", "text": {"type": "plain_text", "text": "press"}}
    for _ in range(496):
        value = {"type": kind, key: [value]}

    assert read_message({"blocks": [value]}) is not None
    with pytest.raises(CodecError, match="nested"):
        read_message({"blocks": [{"a": [{"a": [{"a": [value]}]}]}]})


def test_actions_deep_inside_unknown_blocks_are_found() -> None:
    value: Any = {"type": "button", "action_id": "b", "text": {"type": "plain_text", "text": "B"}}
    for _ in range(480):
        value = {"type": "unheard", "elements": [value]}

    card = read_message({"blocks": [value]})

    assert [action.id for action in actions_of(card)] == ["b"]


# --- large ----------------------------------------------------------------------------------


def text(value: str) -> Any:
    return {"type": "section", "text": {"type": "mrkdwn", "text": value}}


LARGE: dict[str, Any] = {
    "a long text": {"blocks": [text("*a* <@U1> b\n" * large(20_000))]},
    "signs": {"text": "<*_~`>:" * large(100_000)},
    "many fields": {
        "blocks": [{"type": "section", "fields": [text("*a*\nb")["text"]] * large(25_000)}],
    },
    "many blocks": {"blocks": [text("a")] * large(18_000)},
    "many things that are no blocks": {"blocks": ["a", None, {}] * large(20_000)},
    "many items at the bottom": {"blocks": boxes(450, *[{"type": "divider"}] * large(100_000))},
    "many items in an unknown block": {
        "blocks": [{"type": "unheard", "k" * large(100_000): [{"type": "button"}] * large(50_000)}]
    },
    "many options": {
        "blocks": [
            {
                "type": "actions",
                "elements": [
                    {
                        "type": "multi_static_select",
                        "options": [{"value": f"{n}"} for n in range(20_000)],
                        "initial_options": [{"value": f"{n}"} for n in range(20_000)],
                    }
                ],
            }
        ]
    },
    "many cells": {"blocks": [{"type": "table", "rows": [[{"type": "raw_text"}] * large(50_000)]}]},
    "many attachments": {"attachments": [{"text": "a", "mrkdwn_in": ["text"]}] * large(18_000)},
    "many names of formatted fields": {
        "attachments": [{"mrkdwn_in": ["x"] * large(100_000), "fields": [{"value": "b"}] * 5_000}]
    },
    "many lines of plain text": {
        "blocks": [{"type": "header", "text": {"type": "plain_text", "text": "\n" * 1_000_000}}]
    },
    "a frame without an end": {"attachments": [{"video_html": "<iframe src=" * large(80_000)}]},
    "a markdown block": {
        "blocks": [{"type": "markdown", "text": "**a** <@U1>\n\n> q\n" * large(10_000)}]
    },
}  # fmt: skip


@pytest.mark.parametrize("native", LARGE.values(), ids=LARGE)
def test_large_input_takes_seconds_at_most(native: Any) -> None:
    begun = time.process_time()
    card = read_message(native, "T1")

    assert isinstance(card, Card)
    assert time.process_time() - begun < 20


def test_a_table_of_three_thousand_rows_keeps_every_cell() -> None:
    rows = [[{"type": "raw_text", "text": f"{r}.{c}"} for c in range(20)] for r in range(3_000)]

    native: Any = {"blocks": [{"type": "table", "rows": rows}]}
    card = read_message(native)

    (table,) = card.nodes
    assert isinstance(table, Table)
    assert len(table.rows) == 3_000
    assert all(len(row) == 20 for row in table.rows)


def test_thousands_of_buttons_keep_their_names() -> None:
    elements = [
        {"type": "button", "action_id": f"b{n}", "text": {"type": "plain_text", "text": "B"}}
        for n in range(40_000)
    ]

    native: Any = {"blocks": [{"type": "actions", "elements": elements}]}
    card = read_message(native)

    buttons = list(actions_of(card))
    assert all(isinstance(button, Button) for button in buttons)
    assert [button.id for button in buttons] == [f"b{n}" for n in range(40_000)]
