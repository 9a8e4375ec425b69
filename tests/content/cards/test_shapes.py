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
    return BOX if value.get("type") != "unknown" else {}


def losses_of(value: Any, expected: Expected = OBJECT) -> list[tuple[str, str]]:
    return [(loss.path, loss.what) for loss in shape_losses(value, expected, tables, "/x")]


def test_a_value_of_the_wrong_type_is_a_loss_with_its_text() -> None:
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
def test_empty_values_are_no_loss(nothing: Any) -> None:
    assert losses_of({"items": nothing, "title": nothing, "inner": nothing}) == []


def test_zero_and_true_are_losses() -> None:
    assert losses_of({"items": 0, "title": True}) == [("/x/items", "0"), ("/x/title", "true")]


def test_a_wrong_value_without_text_is_named_by_its_type() -> None:
    assert losses_of({"title": [[]], "items": {"a": None}}) == [
        ("/x/title", "a list"),
        ("/x/items", "an object"),
    ]


def test_the_root_value_may_have_the_wrong_type() -> None:
    assert losses_of([{"title": 7}], OBJECT) == [("/x", "7")]
    assert losses_of([{"title": 7}], OBJECTS) == [("/x/0/title", "7")]


def test_objects_of_unknown_types_are_not_checked() -> None:
    assert losses_of({"inner": {"type": "unknown", "title": 7}}) == []


def test_either_of_two_types_is_accepted() -> None:
    expected = either(OBJECT, NUMBER)

    assert losses_of(7, expected) == []
    assert losses_of({"title": "a"}, expected) == []
    assert losses_of("a", expected) == [("/x", "a")]


def test_at_most_a_hundred_wrong_values_are_listed() -> None:
    losses = shape_losses([7] * 5000, OBJECTS, tables, "/x")

    assert len(losses) == 101
    assert losses[-1] == Loss(path="/x", kind="wrong_shape", what="more than 100 places")


def test_the_text_of_a_wrong_value_is_limited() -> None:
    ((_, what),) = losses_of({"title": ["word " * 10_000] * 10_000})

    assert 1900 < len(what) <= 2000


def test_json_of_any_depth_is_checked() -> None:
    value: Any = {"title": 10**5000}
    for _ in range(100_000):
        value = {"inner": value}

    ((path, what),) = losses_of(value)

    assert path.endswith("/inner/title")
    assert what == "a number"


def test_losses_at_places_that_were_read_are_dropped() -> None:
    def wrong(path: str) -> Loss:
        return Loss(path=path, kind="wrong_shape", what="a")

    losses = [wrong("/a"), wrong("/a/1"), wrong("/b"), Loss(path="/a", kind="color", what="a")]

    assert list(unread_losses(losses, ["/a/0/text"])) == losses[1:]
