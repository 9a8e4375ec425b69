"""Moments in adaptive expressions: parsing, and formatting with .NET format strings. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from pydantic import JsonValue

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST = datetime(1, 1, 1, tzinfo=UTC)
_TICKS = 10_000_000  # in a second, from the first of January of the year 1
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August"),
    *("September", "October", "November", "December"),
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_STANDARD = "yyyy-MM-ddTHH:mm:ss.fffZ"
_NAMED = {
    "d": "M/d/yyyy",
    "D": "dddd, MMMM d, yyyy",
    "f": "dddd, MMMM d, yyyy h:mm tt",
    "F": "dddd, MMMM d, yyyy h:mm:ss tt",
    "g": "M/d/yyyy h:mm tt",
    "G": "M/d/yyyy h:mm:ss tt",
    "m": "MMMM d",
    "M": "MMMM d",
    "o": "yyyy-MM-ddTHH:mm:ss.fffZ",
    "O": "yyyy-MM-ddTHH:mm:ss.fffZ",
    "r": "ddd, dd MMM yyyy HH:mm:ss 'GMT'",
    "R": "ddd, dd MMM yyyy HH:mm:ss 'GMT'",
    "s": "yyyy-MM-ddTHH:mm:ss",
    "t": "h:mm tt",
    "T": "h:mm:ss tt",
    "u": "yyyy-MM-dd HH:mm:ssZ",
    "y": "MMMM yyyy",
    "Y": "MMMM yyyy",
}
_PART = re.compile(
    r"y{1,5}|Y{1,5}|M{1,4}|d{1,4}|D{1,4}|H{1,2}|h{1,2}|m{1,2}|s{1,2}|f{1,7}|F{1,7}|t{1,2}|z{1,3}|K|Z"
    r"|'([^']*)'|\"([^\"]*)\"|\\(.)",
    re.DOTALL,
)


def moment_from(value: JsonValue) -> datetime:
    """Return a moment of ISO 8601, in UTC without a zone. Raises ValueError for other values."""
    if not isinstance(value, str) or len(value) > 40 or len(value) < 8:
        raise ValueError
    moment = datetime.fromisoformat(value.strip())
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def from_epoch(seconds: float) -> datetime:
    return _EPOCH + timedelta(seconds=seconds)


def from_ticks(ticks: float) -> datetime:
    return _FIRST + timedelta(microseconds=int(ticks) // 10)


def ticks_of(moment: datetime) -> int:
    passed = moment - _FIRST
    return (passed.days * 86_400 + passed.seconds) * _TICKS + passed.microseconds * 10


def written_moment(moment: datetime, form: str = "") -> str:
    """Return the moment in a .NET format, in English. Raises ValueError if `form` is too long."""
    form = _NAMED.get(form, form) or _STANDARD
    if len(form) > 100:
        raise ValueError
    return _PART.sub(lambda part: _part(part, moment), form)


def _part(part: re.Match[str], moment: datetime) -> str:
    if part[0][0] in "'\"\\":
        return part[1] or part[2] or part[3] or ""
    sign, count = part[0][0], len(part[0])
    return _PARTS[sign](moment, count)


def _year(moment: datetime, count: int) -> str:
    return f"{moment.year % 100:02d}" if count <= 2 else f"{moment.year:04d}"


def _month(moment: datetime, count: int) -> str:
    name = _MONTHS[moment.month - 1]
    return _named_or_number(name, moment.month, count)


def _day(moment: datetime, count: int) -> str:
    return _named_or_number(_DAYS[moment.weekday()], moment.day, count)


def _named_or_number(name: str, number: int, count: int) -> str:
    match count:
        case 4:
            return name
        case 3:
            return name[:3]
        case _:
            return f"{number:0{count}d}"


def _hour(moment: datetime, count: int) -> str:
    return f"{(moment.hour - 1) % 12 + 1:0{count}d}"


def _fraction(moment: datetime, count: int) -> str:
    return f"{moment.microsecond:06d}0"[:count]


def _half(moment: datetime, count: int) -> str:
    return ("AM" if moment.hour < 12 else "PM")[:count]


_PARTS: dict[str, Callable[[datetime, int], str]] = {
    "y": _year,
    "Y": _year,
    "M": _month,
    "d": _day,
    "D": _day,
    "H": lambda moment, count: f"{moment.hour:0{count}d}",
    "h": _hour,
    "m": lambda moment, count: f"{moment.minute:0{count}d}",
    "s": lambda moment, count: f"{moment.second:0{count}d}",
    "f": _fraction,
    "F": _fraction,
    "t": _half,
    "z": lambda _moment, _count: "+00:00",
    "K": lambda _moment, _count: "Z",
    "Z": lambda _moment, _count: "Z",
}


def shifted(moment: datetime, count: float, unit: str) -> datetime:
    """Return the moment `count` units later.

    Raises ValueError for an unknown unit, OverflowError for a year out of range.
    """
    match unit.lower().removesuffix("s"):
        case "second":
            return moment + timedelta(seconds=count)
        case "minute":
            return moment + timedelta(minutes=count)
        case "hour":
            return moment + timedelta(hours=count)
        case "day":
            return moment + timedelta(days=count)
        case "week":
            return moment + timedelta(weeks=count)
        case "month":
            return _months_later(moment, int(count))
        case "year":
            return _months_later(moment, int(count) * 12)
        case _:
            raise ValueError


def _months_later(moment: datetime, count: int) -> datetime:
    year, month = divmod(moment.year * 12 + moment.month - 1 + count, 12)
    for day in range(moment.day, 27, -1):
        try:
            return moment.replace(year=year, month=month + 1, day=day)
        except ValueError:
            continue  # a shorter month
    return moment.replace(year=year, month=month + 1)
