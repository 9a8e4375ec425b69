"""Free JSON inside UACS: metadata, data, arguments, schema and extra fields.

The input is a value from the JSON reader, or any Python value. The output is the same JSON value,
owned by the document. NaN, infinities and values that are not JSON are refused with their path.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Annotated, cast

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, JsonValue
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from bridge.uacs.invalid import json_step, refused

MAX_DEPTH = 128
"""Levels of lists and objects in a value built in code; the reader takes 200 in a document."""

MAX_DIGITS = 4300
"""Digits of an integer: the limit of CPython's own text conversion, and of the reader."""

_MAX_BITS = int(MAX_DIGITS * 3.32)
_READER_DEPTH = 200


class _NotJson(Exception):  # a state, as in bridge.errors
    """A value that JSON cannot represent; the path grows while the walk unwinds."""

    def __init__(self, value: object, rule: str) -> None:
        self.value = value
        self.rule = rule
        self.at = ""
        super().__init__(rule)


def owned_json(value: object, depth: int = 0) -> JsonValue:
    """Returns a deep copy made only of dict, list, str, int, float, bool and None.

    Args:
        value: Any Python value.
        depth: How many levels of lists and objects are around it.

    Raises:
        _NotJson: The value, or one inside it, is not JSON; a validator turns this into InvalidUacs.
    """
    match value:
        case None | bool():
            return value
        case str():
            return _owned_text(value)
        case int():
            return _owned_int(value)
        case float():
            return _owned_float(value)
        case Mapping():
            return _owned_object(cast("Mapping[object, object]", value), depth)
        case list() | tuple():
            return _owned_array(cast("Sequence[object]", value), depth)
        case _:
            raise _NotJson(value, f"must be JSON, not {type(value).__name__}")


def _owned_text(value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise _NotJson(value, "must be Unicode without lone surrogates") from None
    return str.__str__(value)


def _owned_int(value: int) -> int:
    if value.bit_length() > _MAX_BITS:
        raise _NotJson(value, f"must have fewer than {MAX_DIGITS} digits")
    return int(value)


def _owned_float(value: float) -> float:
    if not isfinite(value):
        raise _NotJson(value, "must be a finite number that a double holds")
    return float(value)


def _owned_object(value: Mapping[object, object], depth: int) -> JsonValue:
    _check_depth(value, depth)
    owned: dict[str, JsonValue] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise _NotJson(key, "must be a string, as every key of a JSON object")
        try:
            owned[_owned_text(key)] = owned_json(item, depth + 1)
        except _NotJson as error:
            error.at = json_step(key) + error.at
            raise
    return owned


def _owned_array(value: Sequence[object], depth: int) -> JsonValue:
    _check_depth(value, depth)
    owned: list[JsonValue] = []
    for index, item in enumerate(value):
        try:
            owned.append(owned_json(item, depth + 1))
        except _NotJson as error:
            error.at = json_step(index) + error.at
            raise
    return owned


def _check_depth(value: object, depth: int) -> None:
    if depth >= MAX_DEPTH:
        raise _NotJson(value, f"must be nested at most {MAX_DEPTH} levels deep")


# The last bytes of infinity and of NaN as marshal writes them (IEEE 754, little endian).
_INFINITY, _NAN = b"\0\0\0\0\0\0\xf0", b"\0\0\0\0\0\0\xf8"


def finite_json(value: JsonValue) -> JsonValue:
    """Refuses NaN, infinities and overflowing numbers, which pydantic's JSON parser accepts.

    One pass of marshal in C finds almost all values free of them (10 us for 7 KB; a walk in Python
    takes 28 us); the function walks only the others. The first test of each pair is one memchr.
    """
    if isinstance(value, str):
        return value
    image = marshal.dumps(value)
    if (b"\xf0" in image and _INFINITY in image) or (b"\xf8" in image and _NAN in image):
        return owned_json(value, depth=MAX_DEPTH - _READER_DEPTH)
    return value


@dataclass(frozen=True)
class _FreeSchema:
    """JSON whose top level is one of `types`; an empty tuple allows any JSON."""

    types: tuple[type, ...] = ()
    words: str = ""
    keywords: tuple[str, ...] = ()

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        del source, handler
        return core_schema.json_or_python_schema(self._after(finite_json), self._after(owned_json))

    def _after(self, check: Callable[[JsonValue], JsonValue]) -> CoreSchema:
        def checked(value: JsonValue) -> JsonValue:
            try:
                result = check(value)
            except _NotJson as error:
                raise refused(error.value, error.rule, error.at) from None
            if self.types and not isinstance(result, self.types):
                raise refused(result, self.words)
            return result

        return core_schema.no_info_after_validator_function(checked, core_schema.any_schema())

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        del schema, handler
        if len(self.keywords) < 2:
            return {"type": self.keywords[0]} if self.keywords else {}
        return {"oneOf": [{"type": keyword} for keyword in self.keywords]}


JsonAny = Annotated[JsonValue, _FreeSchema()]
JsonObject = Annotated[
    Mapping[str, JsonValue], _FreeSchema((dict,), "must be an object", ("object",))
]
JsonTree = Annotated[
    Mapping[str, JsonValue] | Sequence[JsonValue],
    _FreeSchema((dict, list), "must be an object or an array", ("object", "array")),
]
