"""What an input of a card takes, and why a value is wrong. Pure; linear in the value."""

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
    """Whether nothing was filled in, of a value as its author receives it."""
    return value in (None, [], False) or (isinstance(value, str) and not value.strip())


def why_missing(asked: Input) -> str:
    """What is said of an input that must be filled in, and is not."""
    match asked:
        case Toggle():
            return "must be ticked"
        case Choice() | Picker():
            return "must be chosen"
        case _:
            return "must be filled in"


def why_wrong(asked: Input, value: JsonValue) -> str:
    """Why the input does not take a value that is not empty; nothing where it does."""
    return next(_reasons(asked, value), "")


def _reasons(asked: Input, value: JsonValue) -> Iterator[str]:
    match asked:
        case TextInput() if isinstance(value, str):
            yield from _text_reasons(asked, value)
        case NumberInput():
            yield from _number_reasons(asked, value)
        case DateInput() if isinstance(value, str):
            yield from _moment_reasons(asked, value.strip())
        case Choice(many=True) | Picker(many=True) if isinstance(value, list):
            yield from _bounds(
                len(value), asked.least, asked.most, "takes {} or more", "takes {} or fewer"
            )
        case _:
            return


def _text_reasons(asked: TextInput, value: str) -> Iterator[str]:
    """Platforms count characters or UTF-16 units: what is right by one way of counting is right."""
    units = len(value.encode("utf-16-le", "surrogatepass")) // 2
    yield from _bounds(units, asked.least, None, "must have {} or more characters", "")
    yield from _bounds(len(value), None, asked.most, "", "must have {} or fewer characters")
    if asked.format in _FORMATS:
        form, reason = _FORMATS[asked.format]
        if not form.fullmatch(value.strip()):
            yield reason
    if asked.pattern and not _is_found(asked.pattern, value):
        yield "has not the form that is asked for"


def _is_found(pattern: str, value: str) -> bool:
    """What is no pattern in linear time (look-arounds, back-references) rules nothing out."""
    try:
        return pattern_of(pattern).is_in(value)
    except InvalidData:
        return True


def _number_reasons(asked: NumberInput, value: JsonValue) -> Iterator[str]:
    if isinstance(value, bool) or not isinstance(value, int | float):
        yield "must be a number"
        return
    if not asked.decimals and value != int(value):
        yield "must be a whole number"
    yield from _bounds(value, asked.least, asked.most, "must be {} or more", "must be {} or less")


def _bounds(
    value: float, least: float | None, most: float | None, too_small: str, too_large: str
) -> Iterator[str]:
    if least is not None and value < least:
        yield too_small.format(f"{least:g}")
    if most is not None and value > most:
        yield too_large.format(f"{most:g}")


def _moment_reasons(asked: DateInput, value: str) -> Iterator[str]:
    moment = _moment(asked, value)
    if moment is None:
        yield _MOMENTS[asked.of]
        return
    least, most = _moment(asked, asked.least), _moment(asked, asked.most)
    if least is not None and moment < least:
        yield f"must be {_shown(asked, asked.least)} or later"
    if most is not None and moment > most:
        yield f"must be {_shown(asked, asked.most)} or earlier"


def _moment(asked: DateInput, value: str) -> float | None:
    """Something that can be compared with others of its kind; None for what is none."""
    try:
        match asked.of:
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


def _shown(asked: DateInput, bound: str) -> str:
    if asked.of == "datetime" and (seconds := _moment(asked, bound)) is not None:
        try:
            return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")
        except (ValueError, OverflowError, OSError):
            return bound
    return bound
