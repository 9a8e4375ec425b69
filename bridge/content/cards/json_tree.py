"""Properties of any JSON before it is read: its depth, and the value at a place. Pure; without
recursion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast

from pydantic import JsonValue

from bridge.errors import CodecError

MAX_NESTING = 1000
_LEAVES: frozenset[type] = frozenset((str, int, float, bool, type(None)))


def check_nesting(value: object, max_depth: int = MAX_NESTING) -> None:
    """Checks the depth of any JSON.

    Args:
        value: Parsed JSON.
        max_depth: How many lists and objects may be inside one another.

    Raises:
        CodecError: The value is nested more deeply.
    """
    level: list[object] = [value]
    for _ in range(max_depth + 1):
        level = [
            member
            for members in map(_members, level)
            for member in members
            if type(member) not in _LEAVES
        ]
        if not level:
            return
    raise CodecError("", f"is nested more than {max_depth} levels deep; make it flatter")


def pointer(at: str, *steps: str | int) -> str:
    """Returns the JSON pointer `at`, some steps further down (RFC 6901)."""
    for step in steps:
        text = step if isinstance(step, int) else step.replace("~", "~0").replace("/", "~1")
        at = f"{at}/{text}"
    return at


def at_pointer(value: JsonValue, place: str) -> JsonValue:
    """Returns the value at this JSON pointer; None if there is none."""
    for step in place.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict):
            value = value.get(name)
        elif isinstance(value, list) and name.isdigit() and int(name) < len(value):
            value = value[int(name)]
        else:
            return None
    return value


def _members(value: object) -> Iterable[object]:
    """The values directly within a list or an object."""
    if type(value) is dict:  # as nearly all are; isinstance of Mapping takes ten times longer
        return cast("dict[str, object]", value).values()
    if isinstance(value, list):
        return cast("list[object]", value)
    return cast("Mapping[str, object]", value).values() if isinstance(value, Mapping) else ()


Json = Mapping[str, JsonValue]
