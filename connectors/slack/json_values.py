"""Typed reads of untrusted JSON: a missing member, or one of another type, is empty. Pure."""

from __future__ import annotations

import json
from typing import Any, cast

import orjson

Json = dict[str, Any]


def object_at(value: object, *path: str) -> Json:
    """The object at this path of keys, {} when there is none."""
    for key in path:
        value = cast("Json", value).get(key) if isinstance(value, dict) else None
    return cast("Json", value) if isinstance(value, dict) else {}


def objects_at(value: object, *path: str) -> list[Json]:
    """The objects of the list at this path of keys; other items are skipped."""
    member = object_at(value, *path[:-1]).get(path[-1])
    items = cast("list[object]", member) if isinstance(member, list) else []
    return [cast("Json", item) for item in items if isinstance(item, dict)]


def text_at(value: object, *path: str) -> str:
    """The text at this path of keys, "" when there is none."""
    for key in path:
        if not isinstance(value, dict):
            return ""
        value = cast("Json", value).get(key)
    return value if isinstance(value, str) else ""


def whole_at(value: object, *path: str) -> int | None:
    """The whole number at this path of keys, also from text or with an empty fraction; None when
    there is none."""
    member = object_at(value, *path[:-1]).get(path[-1])
    if isinstance(member, bool) or not isinstance(member, int | float | str):
        return None
    try:
        return int(member)
    except (ValueError, OverflowError):
        return None


def dumped(value: Json) -> bytes:
    """JSON bytes, also for values that orjson refuses: numbers beyond 64 bits, lone surrogates."""
    try:
        return orjson.dumps(value)
    except TypeError:
        finite = json.loads(json.dumps(value), parse_constant=_nothing)
        return json.dumps(finite).encode()


def _nothing(_constant: str) -> None:
    """None for NaN and Infinity, which are not JSON; 1e999 is JSON, and Python reads it as
    Infinity."""
