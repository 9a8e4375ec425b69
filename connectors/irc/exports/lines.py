"""One line of a log -> what happened, by whom and when.

The shapes are those of irssi, WeeChat, ZNC, XChat/HexChat and supybot. A date that a line has not
comes from the lines before it (`--- Day changed`) or from the name of the file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Literal

from connectors.irc.wire import decoded

Kind = Literal["message", "action", "notice", "event"]
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_CLOCK = r"(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d))?(?:[.,]\d+)?(?: ?[AaPp][Mm])?"
_TIMES = tuple(
    re.compile(rf"\s*{shape}")
    for shape in (
        rf"\[?(?P<year>\d{{4}})-(?P<month>\d\d)-(?P<day>\d\d)[T ]{_CLOCK}\]?",
        rf"\[?(?P<day>\d{{1,2}})[- ](?P<name>[A-Za-z]{{3}})[- ](?P<year>\d{{4}}) {_CLOCK}\]?",
        rf"\[?(?P<name>[A-Za-z]{{3}}) (?P<day>\d{{1,2}}) {_CLOCK}\]?",
        rf"\[?(?P<day>\d{{1,2}}) (?P<name>[A-Za-z]{{3}}) {_CLOCK}\]?",
        rf"\[{_CLOCK}\]",
        _CLOCK,
    )
)
_SCROLLBACK = re.compile(r"T (?P<epoch>\d{1,10}) (?P<rest>.*)")  # XChat's, full of formatting codes
_CODES = re.compile(r"\x03(?:\d{1,2}(?:,\d{1,2})?)?|[\x00-\x02\x04-\x08\x0b-\x1f]")
_EPOCH = re.compile(r"\s*(\d{9,10})(?=\s)")
_WHO = r"[~&@%+!*.]?(?P<nick>[^\s<>!]+)(?:![^\s>]*)?"
_MESSAGE = re.compile(rf"<\s?{_WHO}>[ \t]?(?P<text>.*)")
_ACTION = re.compile(r"\*\s+(?P<nick>[^\s*]+)(?:\s+(?P<text>.*))?$")
_NOTICE = re.compile(r"-(?P<nick>[^\s:!-][^\s:!]*)(?:![^:\s]*)?(?::[^\s-]+)?-\s(?P<text>.*)")
_EVENT = re.compile(r"(?:-!-|\*{3}|-->|<--|---|--)(?:\s+|\t)(?P<text>.*)")
_WEECHAT = re.compile(r"\t?(?P<prefix>[^\t]*)\t(?P<text>.*)")
_OPENED = re.compile(
    r"\s*(?:---|\*{4}) (?:Log (?:opened|closed)|Day changed|BEGIN LOGGING AT|END LOGGING AT)\s+"
    r"(?P<rest>.*)$",
    re.IGNORECASE,
)
_DATE = re.compile(
    r"(?:[A-Za-z]{3},? )?(?P<name>[A-Za-z]{3}) (?P<day>\d{1,2})(?: [\d:]+)? (?P<year>\d{4})"
)
_LATEST_YEAR = 9998


@dataclass(frozen=True)
class LogLine:
    """What a line says; `at` is the local time, without an offset unless the line has seconds since
    1970; `nick` is empty for an event."""

    kind: Kind
    at: datetime
    nick: str
    text: str


@dataclass(frozen=True)
class DateLine:
    """A line of the program that logs, which at most says the day."""


class LogLines:
    """Reads the lines of one log in their order; `day` is that of its name."""

    def __init__(self, day: date | None) -> None:
        self._day = day

    def read(self, line: bytes) -> LogLine | DateLine | None:
        """Return what the line says; None if its shape or its time is not understood."""
        text = decoded(line).rstrip("\r\n").lstrip("\ufeff")
        if opened := _OPENED.match(text):
            self._take_date(opened["rest"])
            return DateLine()
        if scrollback := _SCROLLBACK.match(text):
            return _of_scrollback(scrollback)
        for shape in _TIMES:
            if found := shape.match(text):
                at = self._time(found)
                return None if at is None else _happened(at, text[found.end() :])
        if found := _EPOCH.match(text):
            return _happened(datetime.fromtimestamp(int(found[1]), UTC), text[found.end() :])
        return None

    def _take_date(self, text: str) -> None:
        found = _DATE.search(text)
        if found and (month := _month(found["name"])):
            try:
                self._day = date(int(found["year"]), month, int(found["day"]))
            except ValueError:
                return

    def _time(self, found: re.Match[str]) -> datetime | None:
        parts = found.groupdict()
        clock = _clock(parts, found.group())
        day = self._date(parts)
        if clock is None or day is None or not 1 < day.year < _LATEST_YEAR:
            return None
        return datetime.combine(day, clock)

    def _date(self, parts: dict[str, str | None]) -> date | None:
        if not (day := parts.get("day")):
            return self._day
        month = int(parts.get("month") or 0) or _month(parts.get("name") or "")
        year = int(parts.get("year") or 0) or (self._day.year if self._day else 0)
        try:
            return date(year, month, int(day))
        except ValueError:
            return None


def _clock(parts: dict[str, str | None], whole: str) -> time | None:
    hour = int(parts["hour"] or 0)
    if whole.rstrip("] ").lower().endswith(("am", "pm")):
        hour = hour % 12 + (12 if "p" in whole[-4:].lower() else 0)
    try:
        return time(hour, int(parts["minute"] or 0), int(parts["second"] or 0))
    except ValueError:
        return None


def _month(name: str) -> int:
    """From 1; 0 for a word that is no month in English."""
    lowered = name.lower()
    return _MONTHS.index(lowered) + 1 if lowered in _MONTHS else 0


def _happened(at: datetime, rest: str) -> LogLine | None:
    if weechat := _WEECHAT.match(rest):
        return _of_weechat(at, weechat["prefix"].strip(), weechat["text"])
    rest = rest.lstrip(" \t")
    if found := _MESSAGE.match(rest):
        return LogLine("message", at, found["nick"], found["text"])
    if found := _EVENT.match(rest):
        return LogLine("event", at, "", found["text"])
    if found := _ACTION.match(rest):
        return LogLine("action", at, found["nick"], found["text"] or "")
    if found := _NOTICE.match(rest):
        return LogLine("notice", at, found["nick"], found["text"])
    return None


def _of_scrollback(found: re.Match[str]) -> LogLine | None:
    at = datetime.fromtimestamp(int(found["epoch"]), UTC)
    prefix, tab, text = _CODES.sub("", found["rest"]).partition("\t")
    if tab and prefix.strip() == "*":
        return LogLine("event", at, "", text)
    return _happened(at, f"{prefix} {text}" if tab else prefix)


def _of_weechat(at: datetime, prefix: str, text: str) -> LogLine | None:
    if prefix in ("-->", "<--", "--", "---", "=!="):
        notice = re.match(r"Notice\((?P<nick>[^)]+)\)(?: -> [^:]+)?: (?P<text>.*)", text)
        if notice:
            return LogLine("notice", at, notice["nick"], notice["text"])
        return LogLine("event", at, "", text)
    if prefix == "*":
        nick, _, words = text.partition(" ")
        return LogLine("action", at, nick, words)
    nick = prefix.strip("<>").lstrip("~&@%+!")
    return LogLine("message", at, nick, text) if nick else None
