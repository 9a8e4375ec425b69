"""Functions of adaptive expressions on moments; none asks a clock. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from pydantic import JsonValue

from connectors.teams.cards.expression_dates import (
    from_epoch,
    from_ticks,
    moment_from,
    shifted,
    ticks_of,
    written_moment,
)
from connectors.teams.cards.expression_values import (
    Plain,
    number_in,
    text_in,
)


def _form(values: Sequence[JsonValue], place: int) -> str:
    return text_in(values[place]) if len(values) > place else ""


def _format_moment(values: Sequence[JsonValue]) -> JsonValue:
    return written_moment(moment_from(values[0]), _form(values, 1))


def _format_epoch(values: Sequence[JsonValue]) -> JsonValue:
    return written_moment(from_epoch(number_in(values[0])), _form(values, 1))


def _format_ticks(values: Sequence[JsonValue]) -> JsonValue:
    return written_moment(from_ticks(number_in(values[0])), _form(values, 1))


def _later(unit: str) -> Callable[[Sequence[JsonValue]], JsonValue]:
    def later(values: Sequence[JsonValue]) -> JsonValue:
        moment = shifted(moment_from(values[0]), number_in(values[1]), unit)
        return written_moment(moment, _form(values, 2))

    return later


def _add_to_time(values: Sequence[JsonValue]) -> JsonValue:
    moment = shifted(moment_from(values[0]), number_in(values[1]), text_in(values[2]))
    return written_moment(moment, _form(values, 3))


def _subtract_from_time(values: Sequence[JsonValue]) -> JsonValue:
    moment = shifted(moment_from(values[0]), -number_in(values[1]), text_in(values[2]))
    return written_moment(moment, _form(values, 3))


def _start_of(**zero: int) -> Callable[[Sequence[JsonValue]], JsonValue]:
    def start(values: Sequence[JsonValue]) -> JsonValue:
        return written_moment(_replaced(moment_from(values[0]), zero), _form(values, 1))

    return start


def _replaced(moment: datetime, parts: dict[str, int]) -> datetime:
    return datetime(
        moment.year,
        moment.month,
        parts.get("day", moment.day),
        parts.get("hour", moment.hour),
        0,
        tzinfo=moment.tzinfo,
    )


def _of_moment(read: Callable[[datetime], JsonValue]) -> Callable[[Sequence[JsonValue]], JsonValue]:
    return lambda values: read(moment_from(values[0]))


def _difference(values: Sequence[JsonValue]) -> JsonValue:
    return ticks_of(moment_from(values[0])) - ticks_of(moment_from(values[1]))


def _date(moment: datetime) -> JsonValue:
    return f"{moment.month}/{moment.day:02d}/{moment.year:04d}"


def _time_of_day(moment: datetime) -> JsonValue:
    parts = ((0, "midnight"), (12, "morning"), (13, "noon"), (18, "afternoon"), (22, "evening"))
    if moment.hour == 0 and moment.minute == 0:
        return "midnight"
    if moment.hour == 12 and moment.minute == 0:
        return "noon"
    before = (
        name for hour, name in parts if name not in ("midnight", "noon") and moment.hour < hour
    )
    return next(before, "night")


MOMENTS: dict[str, Plain] = {
    "formatdatetime": _format_moment,
    "formatepoch": _format_epoch,
    "formatticks": _format_ticks,
    "adddays": _later("day"),
    "addhours": _later("hour"),
    "addminutes": _later("minute"),
    "addseconds": _later("second"),
    "addtotime": _add_to_time,
    "subtractfromtime": _subtract_from_time,
    "startofday": _start_of(hour=0),
    "startofhour": _start_of(),
    "startofmonth": _start_of(day=1, hour=0),
    "dayofmonth": _of_moment(lambda moment: moment.day),
    "dayofweek": _of_moment(lambda moment: moment.isoweekday() % 7),
    "dayofyear": _of_moment(lambda moment: moment.timetuple().tm_yday),
    "month": _of_moment(lambda moment: moment.month),
    "year": _of_moment(lambda moment: moment.year),
    "date": _of_moment(_date),
    "gettimeofday": _of_moment(_time_of_day),
    "ticks": _of_moment(ticks_of),
    "tickstodays": lambda values: number_in(values[0]) / 864_000_000_000,
    "tickstohours": lambda values: number_in(values[0]) / 36_000_000_000,
    "tickstominutes": lambda values: number_in(values[0]) / 600_000_000,
    "datetimediff": _difference,
}
