"""The values that an input of a card accepts, and why it refuses others. Pure; linear in the
value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time

from pydantic import JsonValue

from bridge.content.cards.tree import (
    Choice,
    DateInput,
    Input,
    NumberInput,
    Picker,
    TextInput,
    Toggle,
)
from bridge.content.text.patterns import pattern_of
from bridge.errors import InvalidData

_EMAIL = re.compile(r"[^\s@]+@[^\s@]+")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+|[^\s.]+\.\S+")
_TEL = re.compile(r"(?=\D*\d)[^\n]+")
_FORMATS = {
    "email": (_EMAIL, "must be an e-mail address"),
    "url": (_URL, "must be an address of the web"),
    "tel": (_TEL, "must be a telephone number"),
}
_MOMENTS = {
    "date": "must be a date (YYYY-MM-DD)",
    "time": "must be a time (HH:MM)",
    "datetime": "must be a date and time (YYYY-MM-DD HH:MM)",
}


def is_empty(value: JsonValue) -> bool:
    """Whether nothing was filled in; `value` is as the card's author receives it."""
    return value in (None, [], False) or (isinstance(value, str) and not value.strip())


def missing_reason(field: Input) -> str:
    """Returns the message for a required input that is empty."""
    match field:
        case Toggle():
            return "must be ticked"
        case Choice() | Picker():
            return "must be chosen"
        case _:
            return "must be filled in"


def refusal_reason(field: Input, value: JsonValue) -> str:
    """Returns why the input refuses a value that is not empty; an empty string if it accepts it."""
    return next(_reasons(field, value), "")


def _reasons(field: Input, value: JsonValue) -> Iterator[str]:
    match field:
        case TextInput() if isinstance(value, str):
            yield from _text_reasons(field, value)
        case NumberInput():
            yield from _number_reasons(field, value)
        case DateInput() if isinstance(value, str):
            yield from _moment_reasons(field, value.strip())
        case Choice(many=True) | Picker(many=True) if isinstance(value, list):
            yield from _bounds(
                len(value), field.min, field.max, "takes {} or more", "takes {} or fewer"
            )
        case _:
            return


def _text_reasons(field: TextInput, value: str) -> Iterator[str]:
    """Platforms count characters or UTF-16 units: a length that is right in one of them is
    right."""
    units = len(value.encode("utf-16-le", "surrogatepass")) // 2
    yield from _bounds(units, field.min, None, "must have {} or more characters", "")
    yield from _bounds(len(value), None, field.max, "", "must have {} or fewer characters")
    if field.format in _FORMATS:
        form, reason = _FORMATS[field.format]
        if not form.fullmatch(value.strip()):
            yield reason
    if field.pattern and not _matches_pattern(field.pattern, value):
        yield "has not the form that is asked for"


def _matches_pattern(pattern: str, value: str) -> bool:
    """A pattern that RE2 does not support (look-around, back-references) refuses nothing."""
    try:
        return pattern_of(pattern).is_in(value)
    except InvalidData:
        return True


def _number_reasons(field: NumberInput, value: JsonValue) -> Iterator[str]:
    if isinstance(value, bool) or not isinstance(value, int | float):
        yield "must be a number"
        return
    if not field.decimals and value != int(value):
        yield "must be a whole number"
    yield from _bounds(value, field.min, field.max, "must be {} or more", "must be {} or less")


def _bounds(
    value: float, minimum: float | None, maximum: float | None, too_small: str, too_large: str
) -> Iterator[str]:
    if minimum is not None and value < minimum:
        yield too_small.format(f"{minimum:g}")
    if maximum is not None and value > maximum:
        yield too_large.format(f"{maximum:g}")


def _moment_reasons(field: DateInput, value: str) -> Iterator[str]:
    moment = _moment(field, value)
    if moment is None:
        yield _MOMENTS[field.of]
        return
    minimum, maximum = _moment(field, field.min), _moment(field, field.max)
    if minimum is not None and moment < minimum:
        yield f"must be {_bound_text(field, field.min)} or later"
    if maximum is not None and moment > maximum:
        yield f"must be {_bound_text(field, field.max)} or earlier"


def _moment(field: DateInput, value: str) -> float | None:
    """A number that compares with others of its kind; None for a value that is no date or time."""
    try:
        match field.of:
            case "date":
                return date.fromisoformat(value).toordinal()
            case "time":
                at = time.fromisoformat(value)
                return at.hour * 3600 + at.minute * 60 + at.second
            case "datetime" if value.isascii() and value.isdigit():
                return int(value[:15])
            case "datetime":
                at = datetime.fromisoformat(value)
                return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def _bound_text(field: DateInput, bound: str) -> str:
    if field.of == "datetime" and (seconds := _moment(field, bound)) is not None:
        try:
            return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")
        except (ValueError, OverflowError, OSError):
            return bound
    return bound
