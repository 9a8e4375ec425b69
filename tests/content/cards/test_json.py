"""docs/card.schema.json says of a card what the reader says of it."""

from __future__ import annotations

import copy
from functools import cache
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from bridge.content.cards.json import card_from_json, card_schema, card_to_json
from bridge.content.cards.tree import Card
from bridge.errors import CodecError
from tests.content.card_strategies import cards
from tests.examples import examples

FILE = Path(__file__).parents[3] / "docs" / "card.schema.json"
DRAWN = settings(
    max_examples=examples(40),
)
ANYTHING = (None, True, 0, -1.5, "", "x", [], {}, ["x"], {"type": "prose"}, {"type": "nothing"})


@cache
def validator() -> Draft202012Validator:
    return Draft202012Validator(card_schema())


def is_valid(value: Any) -> bool:
    return validator().is_valid(value)


def is_read(value: object) -> bool:
    try:
        card_from_json(value)
    except CodecError:
        return False
    return True


def test_the_schema_file_is_up_to_date() -> None:
    assert orjson.loads(FILE.read_bytes()) == card_schema(), (
        "write it anew: uacs-bridge schema card --write docs/card.schema.json"
    )


def test_the_schema_file_is_a_json_schema() -> None:
    Draft202012Validator.check_schema(card_schema())


def test_bounds_of_cards_of_an_earlier_version_are_read() -> None:
    def rating(**bounds: int) -> Card:
        return card_from_json({"type": "card", "nodes": [{"type": "rating", "value": 3, **bounds}]})

    assert rating(most=7) == rating(max=7) != rating(max=5)


@DRAWN
@given(cards(4))
def test_a_written_card_is_valid_by_the_schema(card: Card) -> None:
    errors = [error.message for error in validator().iter_errors(card_to_json(card))]

    assert errors == []


@DRAWN
@given(cards(4), st.data())
def test_cards_that_the_reader_refuses_are_invalid_by_the_schema(
    card: Card, data: st.DataObject
) -> None:
    """Whatever is put, at any place, instead of what stood there, or beside it."""
    value = copy.deepcopy(card_to_json(card))
    places = list(_places(value))
    for _ in range(data.draw(st.integers(1, 2))):
        inside, key = data.draw(st.sampled_from(places))
        new = data.draw(st.sampled_from(ANYTHING))
        if isinstance(inside, dict) and data.draw(st.booleans()):
            inside.pop(key, None)
            key = data.draw(st.sampled_from((key, "unknown", "title", "text")))
        inside[key] = new

    if is_valid(value):
        assert is_read(value)


def _places(value: Any) -> Any:
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(items):
        yield value, key
        if isinstance(inner, dict | list):
            yield from _places(inner)


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {},
        {"nodes": "text"},
        {"nodes": [{"text": "no type"}]},
        {"nodes": [{"type": "prose", "text": "a", "colour": "red"}]},
        {"nodes": [{"type": "alert", "level": "loud", "text": "a"}]},
        {"nodes": [], "version": 2},
    ],
)
def test_other_json_is_neither_valid_nor_read(value: object) -> None:
    assert (is_valid(value), is_read(value)) == (False, False)


@pytest.mark.parametrize(
    "value",
    [
        {"nodes": []},
        {"type": "card", "version": 1, "nodes": ["**text**", {"type": "divider"}]},
        {"nodes": [{"type": "context", "items": ["small", {"type": "image", "asset": {}}]}]},
    ],
)
def test_a_valid_card_is_read(value: object) -> None:
    assert (is_valid(value), is_read(value)) == (True, True)
