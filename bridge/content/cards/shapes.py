"""JSON in which something stands where its platform has another kind of value -> a Loss for each
place, with its words. Pure; one walk without recursion."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import cast

from bridge.content.cards.json_tree import pointer
from bridge.model import Loss

KIND = "wrong_shape"

_MOST = 100
_LONGEST = 2000  # characters of what stands there
_LOOKED_AT = 1000  # values of what stands there


@dataclass(frozen=True, slots=True)
class Expected:
    """What may stand somewhere: a value that `fits`; where it is a list, `items` in it."""

    fits: Callable[[object], bool]
    items: Expected | None = None


Table = Mapping[str, Expected]
Tables = Callable[[Mapping[str, object], str], Table]
"""(an object, the key at which it stands) -> what its members may be; others may be anything."""


def is_anything(_value: object) -> bool:
    return True


def is_text(value: object) -> bool:
    return isinstance(value, str)


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_said(value: object) -> bool:
    """Text, or a number, which is as good."""
    return is_text(value) or is_number(value)


def is_object(value: object) -> bool:
    return isinstance(value, dict)


def is_list(value: object) -> bool:
    return isinstance(value, list)


TEXT = Expected(is_text)
NUMBER = Expected(is_number)
SAID = Expected(is_said)
OBJECT = Expected(is_object)
OBJECTS = Expected(is_list, OBJECT)
TEXTS = Expected(is_list, TEXT)


def either(*several: Expected) -> Expected:
    """What fits one of them."""
    items = next((one.items for one in several if one.items is not None), None)
    return Expected(lambda value: any(one.fits(value) for one in several), items)


def misshapen(
    value: object, expected: Expected, tables: Tables, at: str = "", key: str = ""
) -> tuple[Loss, ...]:
    """Of a value that stands at the pointer `at`, at the `key` of an object. At most a hundred,
    and one more that says so. What is null or empty is no loss."""
    found = list(islice(_places(value, expected, tables, key), _MOST + 1))
    losses = [
        Loss(path=pointer(at, *way), kind=KIND, what=_words(one)) for way, one in found[:_MOST]
    ]
    if len(found) > _MOST:
        losses.append(Loss(path=at, kind=KIND, what=f"more than {_MOST} places"))
    return tuple(losses)


def without_read(losses: Iterable[Loss], places: Iterable[str]) -> Iterator[Loss]:
    """The losses but those of values that were read all the same: a node stands at their place,
    or within it."""
    known = set[str]()
    for place in places:
        while place and place not in known:
            known.add(place)
            place = place.rpartition("/")[0]
    return (loss for loss in losses if loss.kind != KIND or loss.path not in known)


# --- the walk -------------------------------------------------------------------------------

_Step = str | int
_Member = tuple[_Step, object, Expected, str]


def _places(
    value: object, expected: Expected, tables: Tables, key: str
) -> Iterator[tuple[list[_Step], object]]:
    way: list[_Step] = []
    stack: list[Iterator[_Member]] = [iter(((key, value, expected, key),))]
    while stack:
        member = next(stack[-1], None)
        if member is None:
            stack.pop()
            continue
        step, one, wanted, name = member
        way[len(stack) - 1 :] = [step]
        if _is_nothing(one):
            continue
        if not wanted.fits(one):
            yield way[1:], one
        elif isinstance(one, list) and wanted.items is not None:
            stack.append(_items(cast("list[object]", one), wanted.items, name))
        elif isinstance(one, dict):
            held = cast("dict[str, object]", one)
            stack.append(_members(held, tables(held, name)))


def _items(values: list[object], expected: Expected, key: str) -> Iterator[_Member]:
    for index, one in enumerate(values):
        yield index, one, expected, key


def _members(value: Mapping[str, object], table: Table) -> Iterator[_Member]:
    for key, one in value.items():
        if (expected := table.get(key)) is not None:
            yield key, one, expected, key


def _is_nothing(value: object) -> bool:
    if isinstance(value, str):
        return not value.strip()
    return value is None or value is False or value in ([], {})


# --- words ----------------------------------------------------------------------------------


def _words(value: object) -> str:
    """The texts and numbers of it, in order; else what it is."""
    words = list(islice(_leaves(value), _LOOKED_AT))
    what = "a list" if isinstance(value, list) else "an object"
    return " ".join(words)[:_LONGEST].strip() or what


def _leaves(value: object) -> Iterator[str]:
    stack: list[Iterator[object]] = [iter((value,))]
    while stack:
        one = next(stack[-1], _END)
        if one is _END:
            stack.pop()
        elif isinstance(one, dict):
            stack.append(iter(cast("dict[str, object]", one).values()))
        elif isinstance(one, list):
            stack.append(iter(cast("list[object]", one)))
        elif one is not None:
            yield _leaf(one)


_END = object()
_MOST_DIGITS = 10**18


def _leaf(value: object) -> str:
    if isinstance(value, str):
        return value[:_LONGEST]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value).lower()
    return f"{value:.15g}" if isinstance(value, float) or abs(value) < _MOST_DIGITS else "a number"
