"""Questions about JSON of any shape, and what one object has beyond another. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

Json = dict[str, JsonValue]


def obj(value: JsonValue) -> Json:
    """The object, or an empty one where this is none."""
    return value if isinstance(value, dict) else {}


def arr(value: JsonValue) -> list[JsonValue]:
    """The list, or an empty one where this is none."""
    return value if isinstance(value, list) else []


def text(value: JsonValue) -> str:
    """The string, or an empty one where this is none."""
    return value if isinstance(value, str) else ""


def number(value: JsonValue) -> int | None:
    """The whole number, or None."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def without(value: Mapping[str, JsonValue], *keys: str) -> Json:
    """A copy that lacks these keys."""
    return {key: member for key, member in value.items() if key not in keys}


def present(**members: JsonValue) -> Json:
    """Return the members that are not None."""
    return {key: value for key, value in members.items() if value is not None}


def patch_of(base: JsonValue, original: Mapping[str, JsonValue]) -> Json:
    """What turns `base` into `original`, as a JSON merge patch (RFC 7386).

    Members of the original that are null or an empty list say nothing to any of the APIs: they are
    left out, and so are not put back.
    """
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
    """The inverse: `base` with the patch. What is new is taken as it is, with its nulls."""
    if not isinstance(patch, dict) or not isinstance(base, dict):
        return patch
    result = dict(base)
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = patched(result.get(key), value)
    return result


def _equal(one: JsonValue, other: JsonValue) -> bool:
    """As JSON: Python takes 1 and true for the same."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_equal(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_equal, one, other))
    return one == other
