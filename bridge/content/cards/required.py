"""JSON for a platform -> what it lacks and what is wrong in it, by tables. Pure; one walk without
recursion.

The tables check only cards that are posted through the bridge. Readers of messages from a platform
accept everything, and `shapes` reports values in the wrong place.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import cast

from bridge.content.cards.json_tree import check_nesting, pointer
from bridge.content.cards.shapes import is_list, is_object, is_scalar, is_text
from bridge.errors import CodecError

_MAX_MISTAKES = 20  # mistakes of one payload
_MAX_VALUE = 60  # characters of a value in an error


@dataclass(frozen=True, slots=True)
class Requirement:
    """A value that `fits`; an error contains its `description`.

    `items` is the requirement of a list's items, `family` names the family of an object.
    """

    description: str
    fits: Callable[[object], bool]
    items: Requirement | None = None
    family: str = ""


Members = Mapping[str, Requirement]


@dataclass(frozen=True, slots=True)
class Kind:
    """The members of objects of one type: all of `needs`, at least one of `one_of`, and any of
    `may`.

    Other members are not checked. `then` is a further family to which the object belongs.
    """

    needs: Members = field(default_factory=dict[str, Requirement])
    may: Members = field(default_factory=dict[str, Requirement])
    one_of: tuple[str, ...] = ()
    then: str = ""


@dataclass(frozen=True, slots=True)
class Family:
    """Objects whose member `by` names their kind; `untyped` is the kind of objects without it.

    An object of an unknown kind is accepted if it has the member `fallback`.
    """

    description: str
    kinds: Mapping[str | int, Kind] = field(default_factory=dict[str | int, Kind])
    untyped: Kind | None = None
    by: str = "type"
    fallback: str = ""


Families = Mapping[str, Family]


def is_non_empty_text(value: object) -> bool:
    """Whether the value is text that is not empty."""
    return isinstance(value, str) and bool(value)


TEXT = Requirement("text", is_text)
NON_EMPTY = Requirement("text that is not empty", is_non_empty_text)
SCALAR = Requirement("text or a number", is_scalar)


def object_of(family: str, description: str) -> Requirement:
    """Returns the requirement of an object of a family; `description` names it in an error."""
    return Requirement(description, is_object, family=family)


def list_of(family: str, description: str) -> Requirement:
    """Returns the requirement of a list of objects of a family; `description` names one item."""
    return Requirement("a list", is_list, object_of(family, description))


def mistakes_in(
    value: object, requirement: Requirement, families: Families, at: str = ""
) -> tuple[CodecError, ...]:
    """Returns the first mistakes of a value, in its order; a null member counts as missing.

    Args:
        value: Parsed JSON.
        requirement: The requirement of the value.
        families: All families by name.
        at: The JSON pointer of the value.
    """
    try:
        check_nesting(value)
    except CodecError as error:
        return (CodecError(at, error.reason),)
    return tuple(islice(_mistakes(value, requirement, families, at), _MAX_MISTAKES))


# --- the walk -------------------------------------------------------------------------------

_Step = str | int
_Place = tuple[_Step, object, Requirement, bool]  # the last: an object around it has a fallback
_Fault = tuple[tuple[_Step, ...], str]  # the steps from the value on, and the reason


def _mistakes(
    value: object, requirement: Requirement, families: Families, at: str
) -> Iterator[CodecError]:
    way: list[_Step] = []
    stack: list[Iterator[_Place]] = [iter((("", value, requirement, False),))]
    while stack:
        place = next(stack[-1], None)
        if place is None:
            stack.pop()
            continue
        step, value, expected, is_covered = place
        way[len(stack) - 1 :] = [step]
        if not expected.fits(value):
            yield CodecError(
                pointer(at, *way[1:]), f"must be {expected.description}, not {_value_text(value)}"
            )
        elif isinstance(value, list) and expected.items is not None:
            stack.append(_items(cast("list[object]", value), expected.items, is_covered))
        elif isinstance(value, dict) and expected.family:
            members = cast("Mapping[str, object]", value)
            kinds, faults = _kinds(members, expected.family, families, is_covered)
            for steps, reason in faults:
                yield CodecError(pointer(at, *way[1:], *steps), reason)
            stack.append(_members(members, expected, families, kinds, is_covered))


def _items(
    values: Iterable[object], requirement: Requirement, is_covered: bool
) -> Iterator[_Place]:
    for index, value in enumerate(values):
        yield index, value, requirement, is_covered


def _kinds(
    members: Mapping[str, object], name: str, families: Families, is_covered: bool
) -> tuple[list[Kind], list[_Fault]]:
    """The kinds of an object in its family and the families that follow, and its faults."""
    kinds: list[Kind] = []
    faults: list[_Fault] = []
    while name:
        family = families[name]
        kind = _kind(members.get(family.by), family)
        if kind is None:
            if not is_covered and not (family.fallback and family.fallback in members):
                faults.append(_unknown(members.get(family.by), family))
            break
        kinds.append(kind)
        faults += (((), reason) for reason in _missing_members(members, kind))
        name = kind.then
    return kinds, faults


def _kind(tag: object, family: Family) -> Kind | None:
    if tag is None or not family.kinds:
        return family.untyped
    if isinstance(tag, bool) or not isinstance(tag, str | int):
        return None
    return family.kinds.get(tag)


def _unknown(tag: object, family: Family) -> _Fault:
    kinds = list(map(str, family.kinds))
    if tag is None:
        return (), f"has no {family.by!r}; {family.description} is one of {', '.join(kinds)}"
    matches = difflib.get_close_matches(str(tag)[:_MAX_VALUE], kinds, n=1)
    hint = f"did you mean {matches[0]!r}? " if matches else ""
    reason = (
        f"{_value_text(tag)} is no {family.by} of {family.description}; "
        f"{hint}known: {', '.join(kinds)}"
    )
    return (family.by,), reason


def _missing_members(members: Mapping[str, object], kind: Kind) -> Iterator[str]:
    for key, expected in kind.needs.items():
        if members.get(key) is None:
            yield f"has no {key!r}, which must be {expected.description}"
    if kind.one_of and all(members.get(key) is None for key in kind.one_of):
        yield f"needs {' or '.join(map(repr, kind.one_of))}"


def _members(
    members: Mapping[str, object],
    expected: Requirement,
    families: Families,
    kinds: Iterable[Kind],
    is_covered: bool,
) -> Iterator[_Place]:
    """The members with a requirement, in the order of the object."""
    table: dict[str, Requirement] = {}
    for kind in kinds:
        table |= {**kind.may, **kind.needs}
    fallback = families[expected.family].fallback
    is_covered = is_covered or (bool(fallback) and fallback in members)
    for key, value in members.items():
        if value is not None and (rule := table.get(key)) is not None:
            yield key, value, rule, is_covered
        elif key == fallback and isinstance(value, dict):
            yield key, cast("object", value), expected, False


def _value_text(value: object) -> str:
    """The value in a few words."""
    match value:
        case dict():
            return "an object"
        case list():
            return "a list"
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case str():
            return repr(value[:_MAX_VALUE])
        case _:
            return str(value)[:_MAX_VALUE] if isinstance(value, float) else _number(value)


def _number(value: object) -> str:
    is_short = isinstance(value, int) and abs(value) < 10**18  # long integers take time to print
    return str(value) if is_short else "a number"
