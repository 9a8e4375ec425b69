"""A native message without its payloads, and put together again, byte for byte. Pure.

The bridge keeps the rest of a native message in the metadata of the UACS message, so that a message
that returns to its own platform returns unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pydantic import JsonValue


def without_payloads(native: JsonValue, places: Iterable[str]) -> JsonValue:
    """Returns the message with null in place of its payloads; the result shares everything else.

    Args:
        native: A native message.
        places: The JSON pointers of its payloads.
    """
    rest = native
    for place in places:
        rest = _replaced(rest, _steps(place), None)
    return rest


def with_payloads(rest: JsonValue, payloads: Mapping[str, JsonValue]) -> JsonValue:
    """Returns the message with its payloads again; places that no longer exist change nothing.

    Args:
        rest: What `without_payloads` returned.
        payloads: The payloads by JSON pointer.
    """
    native = rest
    for place, payload in payloads.items():
        native = _replaced(native, _steps(place), payload)
    return native


def at_place(native: JsonValue, place: str) -> JsonValue:
    """Returns the value at a JSON pointer; None if there is none."""
    value = native
    for step in _steps(place):
        value = _step(value, step)
    return value


def _steps(place: str) -> list[str]:
    return [step.replace("~1", "/").replace("~0", "~") for step in place.split("/")[1:]]


def _step(value: JsonValue, step: str) -> JsonValue:
    match value:
        case dict():
            return value.get(step)
        case list() if step.isascii() and step.isdigit() and int(step) < len(value):
            return value[int(step)]
        case _:
            return None


def _replaced(value: JsonValue, steps: list[str], new: JsonValue) -> JsonValue:
    """The value with `new` at that place: only the containers on the way are copied."""
    if not steps:
        return new
    first, *rest = steps
    match value:
        case dict() if first in value:
            return {**value, first: _replaced(value[first], rest, new)}
        case list() if first.isascii() and first.isdigit() and int(first) < len(value):
            index = int(first)
            return [*value[:index], _replaced(value[index], rest, new), *value[index + 1 :]]
        case _:
            return value
