"""Functions of adaptive expressions on lists and objects, with bounded results. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import JsonValue

from connectors.teams.cards.expression_values import (
    Plain,
    fail,
    is_same,
    list_in,
    object_in,
    text_in,
    whole_in,
)
from connectors.teams.cards.expressions import (
    as_json,
    written,
)


def _length(values: Sequence[JsonValue]) -> JsonValue:
    value = values[0]
    return len(value) if isinstance(value, str | list | dict) else 0


def _contains(values: Sequence[JsonValue]) -> JsonValue:
    holder, item_or_key = values[0], values[1]
    match holder:
        case str():
            return text_in(item_or_key) in holder
        case list():
            return any(is_same(item, item_or_key) for item in holder)
        case dict():
            return isinstance(item_or_key, str) and item_or_key in holder
        case _:
            return False


def _join(values: Sequence[JsonValue]) -> JsonValue:
    """Join a list with a separator, and optionally another one before the last item."""
    texts = [written(item) for item in list_in(values[0])]
    sign = text_in(values[1])
    last = text_in(values[2]) if len(values) > 2 else sign
    if len(texts) * max(len(sign), 1) > 1_000_000:
        raise ValueError
    if len(texts) < 2:
        return "".join(texts)
    return f"{sign.join(texts[:-1])}{last}{texts[-1]}"


def _first(values: Sequence[JsonValue]) -> JsonValue:
    value = values[0]
    return value[0] if isinstance(value, str | list) and value else None


def _last(values: Sequence[JsonValue]) -> JsonValue:
    value = values[0]
    return value[-1] if isinstance(value, str | list) and value else None


def _take(values: Sequence[JsonValue]) -> JsonValue:
    value, count = values[0], max(whole_in(values[1]), 0)
    return value[:count] if isinstance(value, str | list) else fail()


def _skip(values: Sequence[JsonValue]) -> JsonValue:
    value, count = values[0], max(whole_in(values[1]), 0)
    return value[count:] if isinstance(value, str | list) else fail()


def _sub_array(values: Sequence[JsonValue]) -> JsonValue:
    several, start = list_in(values[0]), whole_in(values[1])
    end = whole_in(values[2]) if len(values) > 2 else len(several)
    if not 0 <= start <= end <= len(several):
        raise ValueError
    return several[start:end]


def _unique(several: Sequence[JsonValue]) -> list[JsonValue]:
    """Return the items without duplicates; equal items have equal JSON."""
    by_json: dict[str, JsonValue] = {}
    for item in several:
        by_json.setdefault(as_json(item), item)
    return list(by_json.values())


def _union(values: Sequence[JsonValue]) -> JsonValue:
    return _unique([item for value in values for item in list_in(value)])


def _intersection(values: Sequence[JsonValue]) -> JsonValue:
    first, *others = (list_in(value) for value in values)
    written_others = [set(map(as_json, item)) for item in others]
    common = [item for item in first if all(as_json(item) in other for other in written_others)]
    return _unique(common)


def _flatten(values: Sequence[JsonValue]) -> JsonValue:
    """Flatten nested lists to a depth, at most 100."""
    several, depth = list_in(values[0]), whole_in(values[1]) if len(values) > 1 else 100
    for _ in range(min(depth, 100)):
        if not any(isinstance(element, list) for element in several):
            break
        several = [
            item
            for element in several
            for item in (element if isinstance(element, list) else [element])
        ]
    return several


def _indices(values: Sequence[JsonValue]) -> JsonValue:
    several = values[0]
    if isinstance(several, dict):
        return [{"index": key, "value": value} for key, value in several.items()]
    return [{"index": index, "value": value} for index, value in enumerate(list_in(several))]


def _create_object(values: Sequence[JsonValue]) -> JsonValue:
    return {written(key): value for key, value in zip(values[::2], values[1::2], strict=True)}


def _get_property(values: Sequence[JsonValue]) -> JsonValue:
    return object_in(values[0]).get(text_in(values[1]))


def _set_property(values: Sequence[JsonValue]) -> JsonValue:
    return {**object_in(values[0]), text_in(values[1]): values[2]}


def _remove_property(values: Sequence[JsonValue]) -> JsonValue:
    name = text_in(values[1])
    return {key: value for key, value in object_in(values[0]).items() if key != name}


def _merge(values: Sequence[JsonValue]) -> JsonValue:
    merged: dict[str, JsonValue] = {}
    for value in values:
        merged |= object_in(value)
    return merged


COLLECTIONS: dict[str, Plain] = {
    "count": _length,
    "contains": _contains,
    "join": _join,
    "first": _first,
    "last": _last,
    "take": _take,
    "skip": _skip,
    "subarray": _sub_array,
    "unique": lambda values: _unique(list_in(values[0])),
    "union": _union,
    "intersection": _intersection,
    "flatten": _flatten,
    "indicesandvalues": _indices,
    "createarray": lambda values: list(values),
    "createobject": _create_object,
    "getproperty": _get_property,
    "setproperty": _set_property,
    "addproperty": _set_property,
    "removeproperty": _remove_property,
    "merge": _merge,
}
