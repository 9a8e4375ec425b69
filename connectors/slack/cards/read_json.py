"""Typed reads of one JSON object: a missing member, or one of another type, is empty. Pure."""

from __future__ import annotations

import math
from typing import cast

import orjson
from pydantic import JsonValue

from bridge.content.text.urls import safe_url
from connectors.slack.json_values import Json

_MAX_EXACT = 2**53
_LISTS = ("blocks", "attachments", "files")


def string_at(value: Json, key: str) -> str:
    """The string member, "" when there is none."""
    member = value.get(key)
    return member if isinstance(member, str) else ""


def items_at(value: Json, key: str) -> list[object]:
    """The items of the list member, [] when there is none."""
    member = value.get(key)
    return cast("list[object]", member) if isinstance(member, list) else []


def unfolded(native: JsonValue) -> JsonValue:
    """The same JSON with lists in place of JSON strings, for messages and bare payloads."""
    return unfolded_message(native) if isinstance(native, dict) else native


def unfolded_message(message: Json) -> Json:
    """A message whose `blocks`, `attachments` and `files` are lists, also where a form encodes them
    as JSON strings; the same object when nothing changes."""
    lists = {key: _unfolded(folded) for key in _LISTS if type(folded := message.get(key)) is str}
    return {**message, **lists} if lists else message


def _unfolded(text: str) -> JsonValue:
    """The list in the text, else the text."""
    try:
        value = orjson.loads(text) if text.lstrip()[:1] == "[" else text
    except orjson.JSONDecodeError:
        return text
    return value


def url_at(value: Json, key: str) -> str:
    """The URL member if it can be a link, else ""."""
    url = value.get(key)
    return (safe_url(url) or "") if isinstance(url, str) else ""


def number_at(value: Json, key: str) -> float | None:
    """The finite number member, also when it is text; else None."""
    member = value.get(key)
    if isinstance(member, bool) or not isinstance(member, int | float | str):
        return None
    try:
        number = float(member)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def count_at(value: Json, key: str) -> int | None:
    """The whole number member that is not negative (a size, a width, a time); else None."""
    number = number_at(value, key)
    return int(number) if number is not None and 0 <= number < _MAX_EXACT else None
