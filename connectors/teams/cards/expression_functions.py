"""The published functions of adaptive expressions without clock, randomness and network.

Source: learn.microsoft.com, "Adaptive expressions prebuilt functions". `isMatch` is left out,
because a hostile pattern can block. Names are in lower case.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import cast
from urllib.parse import quote, unquote

from pydantic import JsonValue

from connectors.teams.cards.expression_choices import SPECIALS
from connectors.teams.cards.expression_collections import COLLECTIONS
from connectors.teams.cards.expression_dates import moment_from
from connectors.teams.cards.expression_moments import MOMENTS
from connectors.teams.cards.expression_texts import TEXTS
from connectors.teams.cards.expression_values import (
    Number,
    Plain,
    compare,
    fail,
    finite,
    is_empty,
    is_same,
    number_in,
    text_in,
    whole_in,
)
from connectors.teams.cards.expressions import (
    Function,
    written,
)
from connectors.teams.cards.json_values import number_of

__all__ = ["FUNCTIONS", "SPECIALS"]

_EXACT = 2**53

# --- numbers --------------------------------------------------------------------------------


def _add(values: Sequence[JsonValue]) -> JsonValue:
    """Add numbers; concatenate if a value is text."""
    if any(isinstance(value, str) or value is None for value in values):
        return "".join(map(written, values))
    return finite(sum(map(number_in, values)))


def _divide(left: Number, right: Number) -> Number:
    """Divide; integers give an integer, as in .NET."""
    if isinstance(left, int) and isinstance(right, int):
        whole = abs(left) // abs(right)
        return whole if (left < 0) == (right < 0) else -whole
    return left / right


def _fold_all(
    fold: Callable[[Number, Number], Number],
) -> Callable[[Sequence[JsonValue]], JsonValue]:
    def folded(values: Sequence[JsonValue]) -> JsonValue:
        return finite(reduce(lambda a, b: finite(fold(a, b)), map(number_in, values)))

    return folded


def _numbers(values: Sequence[JsonValue]) -> list[Number]:
    """Return the numbers of lists and of plain arguments."""
    flat: list[Number] = []
    for value in values:
        flat += map(number_in, value) if isinstance(value, list) else [number_in(value)]
    return flat


def _power(values: Sequence[JsonValue]) -> JsonValue:
    left, right = map(number_in, values[:2])
    result = math.pow(left, right)
    whole = isinstance(left, int) and isinstance(right, int) and result.is_integer()
    return int(result) if whole and abs(result) < _EXACT else finite(result)


def _round(values: Sequence[JsonValue]) -> JsonValue:
    digits = whole_in(values[1]) if len(values) > 1 else 0
    if not 0 <= digits <= 15:
        raise ValueError
    scale = 10**digits
    magnitude = math.floor(abs(number_in(values[0])) * scale + 0.5) / scale
    signed = math.copysign(magnitude, number_in(values[0]))
    return finite(signed) if digits else int(signed)


def _format_number(values: Sequence[JsonValue]) -> JsonValue:
    digits = whole_in(values[1]) if len(values) > 1 else 2
    value = number_of(values[0])
    if value is None or not 0 <= digits <= 20:
        raise ValueError
    return f"{value:,.{digits}f}"


def _range(values: Sequence[JsonValue]) -> JsonValue:
    start, count = whole_in(values[0]), whole_in(values[1])
    if not 0 <= count <= 10_000:
        raise ValueError
    return cast("JsonValue", list(range(start, start + count)))


# --- conversions ----------------------------------------------------------------------------


def _json(values: Sequence[JsonValue]) -> JsonValue:
    text = text_in(values[0])
    if len(text) > 100_000:
        raise ValueError
    return json.loads(text, parse_constant=lambda _: fail())


def _whole(values: Sequence[JsonValue]) -> JsonValue:
    value = number_of(values[0])
    if value is None:
        raise ValueError
    return int(value)


def _float(values: Sequence[JsonValue]) -> JsonValue:
    value = number_of(values[0])
    if value is None:
        raise ValueError
    return value


def _bool(values: Sequence[JsonValue]) -> JsonValue:
    value = values[0]
    if isinstance(value, str):
        if value.lower() not in ("true", "false", "1", "0"):
            raise ValueError
        return value.lower() in ("true", "1")
    return value not in (None, 0, False)


def _base64(values: Sequence[JsonValue]) -> JsonValue:
    return base64.b64encode(text_in(values[0]).encode()).decode()


def _from_base64(values: Sequence[JsonValue]) -> JsonValue:
    return base64.b64decode(text_in(values[0]), validate=True).decode()


def _data_uri(values: Sequence[JsonValue]) -> JsonValue:
    return f"data:text/plain;charset=utf-8;base64,{_base64(values)}"


def _from_data_uri(values: Sequence[JsonValue]) -> JsonValue:
    _, _, data = text_in(values[0]).partition(",")
    return base64.b64decode(data, validate=True).decode()


def _is_whole(value: JsonValue) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isinstance(value, int) or value.is_integer()


def _is_moment(value: JsonValue) -> bool:
    try:
        moment_from(value)
    except ValueError:
        return False
    return True


# --- the table ------------------------------------------------------------------------------


_OTHERS: dict[str, Plain] = {
    "equals": lambda values: is_same(values[0], values[1]),
    "notequals": lambda values: not is_same(values[0], values[1]),
    "less": lambda values: compare(values[0], values[1]) < 0,
    "lessorequals": lambda values: compare(values[0], values[1]) <= 0,
    "greater": lambda values: compare(values[0], values[1]) > 0,
    "greaterorequals": lambda values: compare(values[0], values[1]) >= 0,
    "empty": lambda values: is_empty(values[0]),
    "add": _add,
    "sub": _fold_all(lambda a, b: a - b),
    "mul": _fold_all(lambda a, b: a * b),
    "div": _fold_all(_divide),
    "mod": _fold_all(lambda a, b: math.fmod(a, b) if isinstance(a, float) else a % b),
    "exp": _power,
    "min": lambda values: min(_numbers(values)),
    "max": lambda values: max(_numbers(values)),
    "sum": lambda values: finite(sum(_numbers(values))),
    "average": lambda values: finite(sum(_numbers(values)) / len(_numbers(values))),
    "floor": lambda values: math.floor(number_in(values[0])),
    "ceiling": lambda values: math.ceil(number_in(values[0])),
    "round": _round,
    "abs": lambda values: abs(number_in(values[0])),
    "sqrt": lambda values: math.sqrt(number_in(values[0])),
    "range": _range,
    "formatnumber": _format_number,
    "json": _json,
    "string": lambda values: written(values[0]),
    "int": _whole,
    "float": _float,
    "bool": _bool,
    "base64": _base64,
    "base64tostring": _from_base64,
    "datauri": _data_uri,
    "datauritostring": _from_data_uri,
    "uricomponent": lambda values: quote(text_in(values[0]), safe="-_.!~*'()"),
    "uricomponenttostring": lambda values: unquote(text_in(values[0])),
    "isstring": lambda values: isinstance(values[0], str),
    "isinteger": lambda values: _is_whole(values[0]),
    "isfloat": lambda values: isinstance(values[0], float) and not _is_whole(values[0]),
    "isarray": lambda values: isinstance(values[0], list),
    "isobject": lambda values: isinstance(values[0], dict),
    "isboolean": lambda values: isinstance(values[0], bool),
    "isdatetime": lambda values: _is_moment(values[0]),
}


def _with_scope(plain: Plain) -> Function:
    return lambda _scope, values: plain(values)


_ALL = {**TEXTS, **COLLECTIONS, **MOMENTS, **_OTHERS}
FUNCTIONS: dict[str, Function] = {name: _with_scope(plain) for name, plain in _ALL.items()}
