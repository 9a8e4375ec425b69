"""JSON with values of another kind than its platform has there -> a Loss for each, with its text.
Pure; one walk without recursion."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import cast

from bridge.content.cards.json_tree import pointer
from bridge.model import Loss

KIND = "wrong_shape"

_MAX_LOSSES = 100
_MAX_CHARACTERS = 2000  # characters of a Loss
_MAX_VALUES = 1000  # values whose text a Loss quotes


@dataclass(frozen=True, slots=True)
class Expected:
    """A value that may be at some place: one that `fits`; `items` describes the items of a list."""

    fits: Callable[[object], bool]
    items: Expected | None = None


Table = Mapping[str, Expected]
Tables = Callable[[Mapping[str, object], str], Table]
"""(an object, the key at which it stands) -> what its members may be; others may be anything."""


def is_anything(_value: object) -> bool:
    """Accepts any value."""
    return True


def is_text(value: object) -> bool:
    """Whether the value is a string."""
    return isinstance(value, str)


def is_number(value: object) -> bool:
    """Whether the value is a number, which a boolean is not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_scalar(value: object) -> bool:
    """Whether the value is text or a number."""
    return is_text(value) or is_number(value)


def is_object(value: object) -> bool:
    """Whether the value is an object."""
    return isinstance(value, dict)


def is_list(value: object) -> bool:
    """Whether the value is a list."""
    return isinstance(value, list)


TEXT = Expected(is_text)
NUMBER = Expected(is_number)
SCALAR = Expected(is_scalar)
OBJECT = Expected(is_object)
OBJECTS = Expected(is_list, OBJECT)
TEXTS = Expected(is_list, TEXT)


def either(*alternatives: Expected) -> Expected:
    """Returns an expectation that a value meets if it meets one of the alternatives."""
    items = next(
        (alternative.items for alternative in alternatives if alternative.items is not None), None
    )
    return Expected(
        lambda value: any(alternative.fits(value) for alternative in alternatives), items
    )


def shape_losses(
    value: object, expected: Expected, tables: Tables, at: str = "", key: str = ""
) -> tuple[Loss, ...]:
    """Returns a Loss for each value of an unexpected kind; null and empty values are no loss.

    Args:
        value: Parsed JSON.
        expected: What the value itself may be.
        tables: Returns what the members of an object may be.
        at: The JSON pointer of the value.
        key: The member at which the value is.

    Returns:
        At most 100 losses, and one more that says that there are others.
    """
    places = list(islice(_wrong_values(value, expected, tables, key), _MAX_LOSSES + 1))
    losses = [
        Loss(path=pointer(at, *way), kind=KIND, what=_value_text(wrong_value))
        for way, wrong_value in places[:_MAX_LOSSES]
    ]
    if len(places) > _MAX_LOSSES:
        losses.append(Loss(path=at, kind=KIND, what=f"more than {_MAX_LOSSES} places"))
    return tuple(losses)


def unread_losses(losses: Iterable[Loss], places: Iterable[str]) -> Iterator[Loss]:
    """Returns the losses without those of values that were read all the same.

    Args:
        losses: What `shape_losses` returned.
        places: The JSON pointers of all nodes of the card; a value with a node at its place, or
            inside it, was read.
    """
    read_places = set[str]()
    for place in places:
        while place and place not in read_places:
            read_places.add(place)
            place = place.rpartition("/")[0]
    return (loss for loss in losses if loss.kind != KIND or loss.path not in read_places)


# --- the walk -------------------------------------------------------------------------------

_Step = str | int
_Member = tuple[_Step, object, Expected, str]


def _wrong_values(
    value: object, expected: Expected, tables: Tables, key: str
) -> Iterator[tuple[list[_Step], object]]:
    way: list[_Step] = []
    stack: list[Iterator[_Member]] = [iter(((key, value, expected, key),))]
    while stack:
        member = next(stack[-1], None)
        if member is None:
            stack.pop()
            continue
        step, item, rule, name = member
        way[len(stack) - 1 :] = [step]
        if _is_nothing(item):
            continue
        if not rule.fits(item):
            yield way[1:], item
        elif isinstance(item, list) and rule.items is not None:
            stack.append(_items(cast("list[object]", item), rule.items, name))
        elif isinstance(item, dict):
            members = cast("dict[str, object]", item)
            stack.append(_members(members, tables(members, name)))


def _items(values: list[object], expected: Expected, key: str) -> Iterator[_Member]:
    for index, item in enumerate(values):
        yield index, item, expected, key


def _members(value: Mapping[str, object], table: Table) -> Iterator[_Member]:
    for key, item in value.items():
        if (expected := table.get(key)) is not None:
            yield key, item, expected, key


def _is_nothing(value: object) -> bool:
    if isinstance(value, str):
        return not value.strip()
    return value is None or value is False or value in ([], {})


# --- words ----------------------------------------------------------------------------------


def _value_text(value: object) -> str:
    """The texts and numbers of the value, in order; else its kind."""
    words = list(islice(_leaves(value), _MAX_VALUES))
    what = "a list" if isinstance(value, list) else "an object"
    return " ".join(words)[:_MAX_CHARACTERS].strip() or what


def _leaves(value: object) -> Iterator[str]:
    stack: list[Iterator[object]] = [iter((value,))]
    while stack:
        item = next(stack[-1], _END)
        if item is _END:
            stack.pop()
        elif isinstance(item, dict):
            stack.append(iter(cast("dict[str, object]", item).values()))
        elif isinstance(item, list):
            stack.append(iter(cast("list[object]", item)))
        elif item is not None:
            yield _leaf(item)


_END = object()
_MAX_INTEGER = 10**18


def _leaf(value: object) -> str:
    if isinstance(value, str):
        return value[:_MAX_CHARACTERS]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value).lower()
    return f"{value:.15g}" if isinstance(value, float) or abs(value) < _MAX_INTEGER else "a number"
