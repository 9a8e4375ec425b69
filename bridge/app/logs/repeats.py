"""Repeated warnings and errors -> the first in full, then one line a minute with their count.

Otherwise a loop of failures, or a person who can make the bridge refuse requests, could fill the
disk. Events are the same if name, level, subject and cause are the same.
"""

from __future__ import annotations

import asyncio
import re
import sys
import threading
import time
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, cast

import structlog

WINDOW = 60.0  # seconds in which equal events are logged once
MOST_CAUSES = (
    50  # causes of one event that are counted separately; further ones are counted together
)
MOST_EVENTS = 500
LOOK = 5.0  # seconds between two checks for counts that are due
_COUNTED = ("warning", "error", "critical")
# The subject of an event: events of different subjects are different problems.
SUBJECTS = (
    "logger", "account", "agent", "server", "room", "channel", "lane", "platform", "path", "part",
    "tool", "endpoint",
)  # fmt: skip
CAUSE_TEXTS = ("error", "reason", "why", "problem")
CAUSE_CODES = ("code", "kind", "status")
# Quoted values, ids and numbers, except a number that may be an HTTP status: that is another cause.
_NEW_EACH_TIME = re.compile(
    r"'[^'\n]{0,400}'|\"[^\"\n]{0,400}\"|<[^<>\n]{0,400}>|\b[0-9a-fA-F-]{8,}\b"
    r"|(?<!\d)(?![1-5]\d\d(?!\d))\d+(?:\.\d+)?"
)
_LONGEST = 300  # characters of a text that are compared
_SUMMARY = "repeated"

Event = MutableMapping[str, Any]
Key = tuple[object, ...]


@dataclass
class _Logged:
    """A logged event: its repeats since the time `since` (monotonic seconds), and the last
    repeat."""

    since: float
    count: int
    last: Mapping[str, Any]
    method: str


class Repeats:
    """A structlog processor that drops and counts repeats of events from the last minute."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._logged: dict[Key, _Logged] = {}
        self._causes: dict[Key, set[Key]] = {}
        self._lock = threading.Lock()

    def __call__(self, _logger: object, name: str, event: Event) -> Event:
        if _SUMMARY in event or event.get("level") not in _COUNTED:
            return event
        self.tell()
        with self._lock:
            key = self._key(event)
            logged = self._logged.get(key)
            if logged is None:
                self._logged[key] = _Logged(self._clock(), 0, {}, name)
                return event
            logged.count += 1
            logged.last = {k: v for k, v in event.items() if k not in ("exc_info", "level")}
        raise structlog.DropEvent

    def tell(self, *, everything: bool = False) -> None:
        """Log the counts that are due; with `everything`, all counts."""
        now = self._clock()
        due_counts: list[tuple[_Logged, float]] = []
        with self._lock:
            for key, logged in list(self._logged.items()):
                if not everything and now - logged.since < WINDOW:
                    continue
                if logged.count:
                    due_counts.append((logged, now - logged.since))
                    self._logged[key] = _Logged(now, 0, {}, logged.method)
                else:
                    self._forget(key)
        for logged, seconds in due_counts:
            facts = {key: value for key, value in logged.last.items() if key != "event"}
            facts |= {_SUMMARY: logged.count, "seconds": round(seconds)}
            getattr(structlog.get_logger(), logged.method)(logged.last["event"], **facts)

    def _key(self, event: Event) -> Key:
        name = (_text(event.get("event")), event["level"])
        subject = tuple((key, str(event[key])[:_LONGEST]) for key in SUBJECTS if key in event)
        cause = tuple((key, _text(event[key])) for key in CAUSE_TEXTS if key in event)
        cause += tuple((key, str(event[key])[:_LONGEST]) for key in CAUSE_CODES if key in event)
        key: Key = (name, subject, cause, _cause(event.get("exc_info")))
        if key in self._logged:
            return key
        if name not in self._causes and len(self._causes) >= MOST_EVENTS:
            name = ("others", event["level"])
            key = (name, "others")
        causes = self._causes.setdefault(name, set())
        if len(causes) >= MOST_CAUSES:
            key = (name, "others")
        causes.add(key)
        return key

    def _forget(self, key: Key) -> None:
        del self._logged[key]
        name = cast("Key", key[0])
        causes = self._causes.get(name, set())
        causes.discard(key)
        if not causes:
            self._causes.pop(name, None)


REPEATS = Repeats()


async def tell_repeats(repeats: Repeats = REPEATS) -> None:
    """Log counts when they are due, until cancelled, even if no further event arrives."""
    try:
        while True:
            await asyncio.sleep(LOOK)
            repeats.tell()
    finally:
        repeats.tell(everything=True)


def _text(value: object) -> str:
    """The text without parts that differ each time: ids, numbers, quoted values."""
    return _NEW_EACH_TIME.sub("#", str(value)[:_LONGEST])


def _cause(exc_info: object) -> Key:
    """The type of an exception and where it was raised, because its text may differ each time."""
    error = _error_of(exc_info)
    if error is None:
        return ()
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = cast("BaseException", error.exceptions[0])
    return type(error).__qualname__, getattr(error, "errno", None), _place(error.__traceback__)


def _error_of(exc_info: object) -> BaseException | None:
    match exc_info:
        case BaseException():
            return exc_info
        case (_, BaseException() as error, _):
            return error
        case True | 1:
            return sys.exc_info()[1]
        case _:
            return None


def _place(traceback: TracebackType | None) -> Key:
    if traceback is None:
        return ()
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback.tb_frame.f_code.co_filename, traceback.tb_lineno
