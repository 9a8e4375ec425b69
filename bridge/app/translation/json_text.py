"""JSON bytes <-> values of any nesting that codecs accept. Invalid JSON raises CodecError."""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import isfinite
from typing import NoReturn, cast

import orjson
from pydantic import JsonValue

from bridge.content.cards.json_tree import MAX_NESTING, check_nesting, pointer
from bridge.errors import CodecError

_DEEPER = MAX_NESTING + 8  # levels of the envelope around a payload


def read_json(raw: bytes) -> JsonValue:
    """The value of UTF-8 JSON, with exact integers.

    Raises:
        CodecError: The bytes are not valid JSON, or contain NaN, an infinity or a lone surrogate.
    """
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CodecError("", f"is not UTF-8: byte {error.start} is wrong") from None
    value = _parsed(text)
    check_json(value, _DEEPER)
    return value


def _parsed(text: str) -> JsonValue:
    try:
        return json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        return _parsed_deep(text)
    except ValueError as error:  # JSONDecodeError, or an integer of more than 4,300 digits
        raise CodecError("", f"is not JSON: {error}") from None


def _parsed_deep(text: str) -> JsonValue:
    """Parse with orjson: the standard library fails before 1,000 levels of nesting."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise CodecError("", f"is not JSON, or nested too deep: {error}") from None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def check_json(value: object, max_depth: int = MAX_NESTING) -> None:
    """Check that a value can be written as JSON.

    Raises:
        CodecError: JSON cannot hold a value, or there are more than `max_depth` levels.
    """
    check_nesting(value, max_depth)
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, TypeError, RecursionError):
        _refuse_first_fault(value)


def _refuse_first_fault(value: object) -> None:
    """Raise CodecError for the first value that JSON cannot hold; walks without recursion."""
    way: list[str | int] = [""]
    stack: list[Iterator[tuple[str | int, object]]] = [iter([("", value)])]
    while stack:
        pair = next(stack[-1], None)
        if pair is None:
            stack.pop()
            way.pop()
            continue
        way[-1], value = pair
        if reason := _fault(way[-1]) or _fault(value):
            raise CodecError(pointer("", *way[1:]), reason)
        if isinstance(value, dict | list):
            way.append("")
            stack.append(_items(value))


def _items(value: object) -> Iterator[tuple[str | int, object]]:
    match value:
        case dict():
            return iter(cast("dict[str, object]", value).items())
        case _:
            return enumerate(cast("list[object]", value))


def _fault(value: object) -> str:
    match value:
        case None | bool() | int() | dict() | list():
            return ""
        case float():
            return "" if isfinite(value) else "is a number that JSON cannot hold"
        case str():
            return "" if _is_unicode(value) else "has a lone surrogate, which is no character"
        case _:
            return f"is no JSON, but {type(value).__name__}"


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def write_json(value: JsonValue) -> bytes:
    """Compact UTF-8 JSON of a value of any nesting, with keys in their order."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except RecursionError:
        return "".join(_tokens(value)).encode()


class _Raw(str):
    """Text of the JSON document on the stack, as opposed to a string value."""

    __slots__ = ()


def _tokens(value: JsonValue) -> Iterator[str]:
    stack: list[JsonValue] = [value]
    while stack:
        value = stack.pop()
        match value:
            case _Raw():
                yield value
            case dict():
                stack.append(_Raw("}"))
                for index, (key, item) in reversed(list(enumerate(value.items()))):
                    name = json.dumps(key, ensure_ascii=False)
                    stack += [item, _Raw(f"{',' if index else ''}{name}:")]
                yield "{"
            case list():
                stack.append(_Raw("]"))
                for index, item in reversed(list(enumerate(value))):
                    stack += [item, _Raw("," if index else "")]
                yield "["
            case _:
                yield json.dumps(value, ensure_ascii=False)
