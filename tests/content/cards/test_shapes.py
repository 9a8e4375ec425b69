"""What stands where another kind of value belongs is found, named, and never too much of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from bridge.content.cards.shapes import (
    NUMBER,
    OBJECT,
    OBJECTS,
    SCALAR,
    TEXT,
    TEXTS,
    Expected,
    Table,
    either,
    shape_losses,
    unread_losses,
)
from bridge.model import Loss

BOX: Table = {"items": OBJECTS, "title": TEXT, "count": SCALAR, "tags": TEXTS, "inner": OBJECT}


def tables(value: Mapping[str, object], _key: str) -> Table:
    return BOX if value.get("type") != "unheard" else {}


def losses_of(value: Any, expected: Expected = OBJECT) -> list[tuple[str, str]]:
    return [(loss.path, loss.what) for loss in shape_losses(value, expected, tables, "/x")]


def test_a_value_of_another_kind_is_named_with_its_words() -> None:
    box = {
        "items": "none",
        "title": ["a", {"b": "c", "d": [1.5, True, None, "e"]}],
        "count": "12",
        "tags": ["a", 7],
        "inner": {"title": {}},
        "foreign": 7,
    }

    assert losses_of(box) == [
        ("/x/items", "none"),
        ("/x/title", "a c 1.5 true e"),
        ("/x/tags/1", "7"),
    ]


@pytest.mark.parametrize("nothing", [None, "", " \n", [], {}, False])
def test_nothing_is_no_loss(nothing: Any) -> None:
    assert losses_of({"items": nothing, "title": nothing, "inner": nothing}) == []


def test_zero_and_true_are_something() -> None:
    assert losses_of({"items": 0, "title": True}) == [("/x/items", "0"), ("/x/title", "true")]


def test_what_has_no_words_is_called_what_it_is() -> None:
    assert losses_of({"title": [[]], "items": {"a": None}}) == [
        ("/x/title", "a list"),
        ("/x/items", "an object"),
    ]


def test_the_whole_may_be_wrong() -> None:
    assert losses_of([{"title": 7}], OBJECT) == [("/x", "7")]
    assert losses_of([{"title": 7}], OBJECTS) == [("/x/0/title", "7")]


def test_what_nobody_knows_is_not_looked_into() -> None:
    assert losses_of({"inner": {"type": "unheard", "title": 7}}) == []


def test_either_kind_may_stand() -> None:
    expected = either(OBJECT, NUMBER)

    assert losses_of(7, expected) == []
    assert losses_of({"title": "a"}, expected) == []
    assert losses_of("a", expected) == [("/x", "a")]


def test_at_most_a_hundred_are_named_and_the_rest_is_told() -> None:
    losses = shape_losses([7] * 5000, OBJECTS, tables, "/x")

    assert len(losses) == 101
    assert losses[-1] == Loss(path="/x", kind="wrong_shape", what="more than 100 places")


def test_words_are_no_longer_than_they_need_to_be() -> None:
    ((_, what),) = losses_of({"title": ["word " * 10_000] * 10_000})

    assert 1900 < len(what) <= 2000


def test_json_of_any_depth_is_walked() -> None:
    value: Any = {"title": 10**5000}
    for _ in range(100_000):
        value = {"inner": value}

    ((path, what),) = losses_of(value)

    assert path.endswith("/inner/title")
    assert what == "a number"


def test_what_was_read_all_the_same_is_left_out() -> None:
    def wrong(path: str) -> Loss:
        return Loss(path=path, kind="wrong_shape", what="a")

    losses = [wrong("/a"), wrong("/a/1"), wrong("/b"), Loss(path="/a", kind="color", what="a")]

    assert list(unread_losses(losses, ["/a/0/text"])) == losses[1:]
