"""Type checks and comparisons for functions of adaptive expressions. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from pydantic import JsonValue

Number = int | float
Plain = Callable[[Sequence[JsonValue]], JsonValue]
"""A function of its arguments' values; an exception means that it has no value for them."""

_LARGE = 2**53


def number_in(value: JsonValue) -> Number:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError
    return value


def finite(value: Number) -> Number:
    """Return a finite number, as float beyond 2^53. Raises ValueError if it is infinite."""
    if isinstance(value, int) and abs(value) > _LARGE:
        value = float(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError
    return value


def text_in(value: JsonValue) -> str:
    """Return text; null is empty text. Raises TypeError for other values."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise TypeError
    return value


def list_in(value: JsonValue) -> list[JsonValue]:
    if not isinstance(value, list):
        raise TypeError
    return value


def object_in(value: JsonValue) -> dict[str, JsonValue]:
    if not isinstance(value, dict):
        raise TypeError
    return value


def whole_in(value: JsonValue) -> int:
    amount = number_in(value)
    if amount != int(amount):
        raise ValueError
    return int(amount)


def is_true(value: JsonValue) -> bool:
    """Return whether the value is neither false nor null."""
    return value is not None and value is not False


def is_empty(value: JsonValue) -> bool:
    return value is None or value in ("", [], {})


def is_same(left: JsonValue, right: JsonValue) -> bool:
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    return left == right


def compare(left: JsonValue, right: JsonValue) -> int:
    if isinstance(left, str) and isinstance(right, str):
        return (left > right) - (left < right)
    a, b = number_in(left), number_in(right)
    return (a > b) - (a < b)


def fail() -> JsonValue:
    """Raise TypeError, in places that need an expression."""
    raise TypeError
