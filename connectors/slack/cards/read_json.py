"""Typed looks into one JSON object: what is missing or of another kind is empty. Pure."""

from __future__ import annotations

import math
from typing import cast

from bridge.content.urls import safe_url
from connectors.slack.json_values import Json

_MOST = 2**53


def string_at(value: Json, key: str) -> str:
    found = value.get(key)
    return found if isinstance(found, str) else ""


def items_at(value: Json, key: str) -> list[object]:
    found = value.get(key)
    return cast("list[object]", found) if isinstance(found, list) else []


def url_at(value: Json, key: str) -> str:
    """An address that may be a link, else nothing."""
    url = value.get(key)
    return (safe_url(url) or "") if isinstance(url, str) else ""


def number_at(value: Json, key: str) -> float | None:
    """A finite number, also where it is written as text."""
    found = value.get(key)
    if isinstance(found, bool) or not isinstance(found, int | float | str):
        return None
    try:
        number = float(found)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def count_at(value: Json, key: str) -> int | None:
    """A whole number that is not negative: a size, a width, a moment."""
    number = number_at(value, key)
    return int(number) if number is not None and 0 <= number < _MOST else None
