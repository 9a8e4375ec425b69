"""Typed looks into JSON that may be anything: what is missing or of another kind is empty. Pure."""

from __future__ import annotations

import json
from typing import Any, cast

import orjson

Json = dict[str, Any]


def object_at(value: object, *path: str) -> Json:
    """The object at this path of keys, {} where there is none."""
    for key in path:
        value = cast("Json", value).get(key) if isinstance(value, dict) else None
    return cast("Json", value) if isinstance(value, dict) else {}


def objects_at(value: object, *path: str) -> list[Json]:
    """The objects of the list at this path; other items are left out."""
    member = object_at(value, *path[:-1]).get(path[-1])
    items = cast("list[object]", member) if isinstance(member, list) else []
    return [cast("Json", item) for item in items if isinstance(item, dict)]


def text_at(value: object, *path: str) -> str:
    """The text at this path of keys, "" where there is none."""
    for key in path:
        if not isinstance(value, dict):
            return ""
        value = cast("Json", value).get(key)
    return value if isinstance(value, str) else ""


def whole_at(value: object, *path: str) -> int | None:
    """A whole number, also where it is written as text or with an empty fraction."""
    member = object_at(value, *path[:-1]).get(path[-1])
    if isinstance(member, bool) or not isinstance(member, int | float | str):
        return None
    try:
        return int(member)
    except (ValueError, OverflowError):
        return None


def dumped(value: Json) -> bytes:
    """JSON bytes, also of what orjson refuses: numbers beyond 64 bits, lone surrogates."""
    try:
        return orjson.dumps(value)
    except TypeError:
        finite = json.loads(json.dumps(value), parse_constant=_nothing)
        return json.dumps(finite).encode()


def _nothing(_constant: str) -> None:
    """NaN and Infinity are no JSON; 1e999 is, and Python reads it as Infinity."""
