"""Safe access to JSON of any shape, and merge patches between two objects (RFC 7386). Pure."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

Json = dict[str, JsonValue]


def obj(value: JsonValue) -> Json:
    """Return the value if it is an object, else an empty object."""
    return value if isinstance(value, dict) else {}


def arr(value: JsonValue) -> list[JsonValue]:
    """Return the value if it is a list, else an empty list."""
    return value if isinstance(value, list) else []


def text(value: JsonValue) -> str:
    """Return the value if it is a string, else an empty string."""
    return value if isinstance(value, str) else ""


def number(value: JsonValue) -> int | None:
    """Return the value if it is a whole number, else None."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def without(value: Mapping[str, JsonValue], *keys: str) -> Json:
    """Return a copy without these keys."""
    return {key: member for key, member in value.items() if key not in keys}


def present(**members: JsonValue) -> Json:
    """Return the members that are not None."""
    return {key: value for key, value in members.items() if value is not None}


def patch_of(base: JsonValue, original: Mapping[str, JsonValue]) -> Json:
    """Return the JSON merge patch (RFC 7386) that turns `base` into `original`.

    Members of the original that are null or an empty list mean nothing to any of the APIs: the
    patch omits them, so they are not restored."""
    before = obj(base)
    patch: Json = {}
    for key, value in original.items():
        if key in before and _equal(before[key], value):
            continue
        if isinstance(value, dict) and isinstance(before.get(key), dict):
            if inner := patch_of(before[key], value):
                patch[key] = inner
        elif key in before or value not in (None, []):
            patch[key] = value
    patch.update({key: None for key in before if key not in original})
    return patch


def patched(base: JsonValue, patch: JsonValue) -> JsonValue:
    """Apply a merge patch to `base`: the inverse of `patch_of`. New members are taken as they are,
    with their nulls."""
    if not isinstance(patch, dict) or not isinstance(base, dict):
        return patch
    result = dict(base)
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = patched(result.get(key), value)
    return result


def _equal(value: JsonValue, other: JsonValue) -> bool:
    """Compare as JSON: in Python `1 == True`, in JSON not."""
    if isinstance(value, bool) or isinstance(other, bool):
        return value is other
    if isinstance(value, dict) and isinstance(other, dict):
        return value.keys() == other.keys() and all(_equal(value[key], other[key]) for key in value)
    if isinstance(value, list) and isinstance(other, list):
        return len(value) == len(other) and all(map(_equal, value, other))
    return value == other
