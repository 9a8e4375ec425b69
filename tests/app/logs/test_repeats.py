"""Repeats in the log are written once in full, and then counted: one line a minute."""

from __future__ import annotations

import asyncio
import errno
import logging
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any

import pytest
import structlog
from pydantic import TypeAdapter, ValidationError

from bridge.app.logs.repeats import (
    CAUSE_CODES,
    CAUSE_TEXTS,
    MOST_CAUSES,
    MOST_EVENTS,
    SUBJECTS,
    WINDOW,
    Repeats,
    tell_repeats,
)
from bridge.app.logs.setup import route_standard_logging
from tests.app.logs.log_calls import ERRORS, log_calls


@dataclass
class Log:
    now: float = 0.0
    lines: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def __post_init__(self) -> None:
        self.repeats = Repeats(lambda: self.now)
        self.logger: Any = structlog.get_logger()

    def names(self) -> list[tuple[str, int | None]]:
        return [(line["event"], line.get("repeated")) for line in self.lines]

    def _keep(self, _logger: object, _name: str, event: Any) -> Any:
        self.lines.append(dict(event))
        raise structlog.DropEvent

    def configure(self) -> None:
        structlog.configure(
            processors=[structlog.processors.add_log_level, self.repeats, self._keep],
            wrapper_class=structlog.make_filtering_bound_logger("debug"),
        )


@pytest.fixture
def log() -> Generator[Log]:
    before, root = structlog.get_config(), logging.getLogger()
    handlers, level = root.handlers[:], root.level
    made = Log()
    made.configure()
    route_standard_logging()
    yield made
    root.handlers[:] = handlers
    root.setLevel(level)
    logging.captureWarnings(capture=False)
    structlog.configure(**before)


def test_equal_events_are_one_line_and_then_one_count_a_minute(log: Log) -> None:
    for number in range(3000):
        log.now = number * 4 / 3000
        log.logger.warning("activity_rejected", account="teams", reason="no bearer token")
    assert log.names() == [("activity_rejected", None)]

    log.now = WINDOW
    log.repeats.tell()
    for number in range(120):
        log.now = WINDOW + number
        log.logger.warning("activity_rejected", account="teams", reason="no bearer token")

    assert log.names() == [("activity_rejected", None), ("activity_rejected", 2999),
                           ("activity_rejected", 60)]  # fmt: skip
    assert log.lines[1] == {
        "event": "activity_rejected", "level": "warning", "account": "teams",
        "reason": "no bearer token", "repeated": 2999, "seconds": 60,
    }  # fmt: skip


def test_every_counted_repeat_is_logged(log: Log) -> None:
    """Also if the flood ends within the minute, or the program ends."""
    for _ in range(10):
        log.logger.error("broken")
    log.now = WINDOW + 1
    log.logger.error("another")
    for _ in range(5):
        log.logger.error("another")
    log.repeats.tell(everything=True)

    assert log.names() == [("broken", None), ("broken", 9), ("another", None), ("another", 5)]


def test_after_a_quiet_minute_an_event_is_logged_in_full_again(log: Log) -> None:
    for minute in range(3):
        log.now = minute * (WINDOW + 1)
        log.logger.warning("receiver_crashed", account="a", operation=str(minute))

    assert log.names() == [("receiver_crashed", None)] * 3


def test_other_accounts_other_causes_and_other_levels_are_not_merged(log: Log) -> None:
    events = [
        {"account": "a", "error": "invalid_auth"}, {"account": "b", "error": "invalid_auth"},
        {"account": "a", "error": "token_revoked"}, {"account": "a", "reason": "invalid_auth"},
        {"channel": "slack:T:C1"}, {"channel": "slack:T:C2"}, {"status": 500}, {"status": 401},
        {"error": "it answered HTTP 500"}, {"error": "it answered HTTP 401"}, {},
    ]  # fmt: skip
    for _ in range(3):
        for event in events:
            log.logger.warning("refused", **event)
        log.logger.error("refused")

    assert len(log.lines) == len(events) + 1


def test_events_that_differ_in_ids_and_numbers_are_repeats(log: Log) -> None:
    for number in range(100):
        log.logger.warning(
            "refused", operation=f"{number:032x}",
            reason=f"Key 'k{number}' of {number:032x} is {number} s old",
        )  # fmt: skip

    assert log.names() == [("refused", None)]


def _broken(kind: type[Exception]) -> Exception:
    try:
        _raise(kind)
    except kind as error:
        return error
    raise AssertionError


def _raise(kind: type[Exception]) -> None:
    raise kind("no")


def _broken_elsewhere() -> Exception:
    try:
        int("x")
    except ValueError as error:
        return error
    raise AssertionError


def test_exceptions_are_distinguished_by_type_and_place(log: Log) -> None:
    for _ in range(3):
        for error in (_broken(ValueError), _broken(KeyError), _broken_elsewhere()):
            log.logger.error("broke", exc_info=error)
        log.logger.error("broke", exc_info=ExceptionGroup("g", [_broken(OSError)]))
    log.repeats.tell(everything=True)

    assert [line.get("repeated") for line in log.lines] == [None] * 4 + [2] * 4
    assert all("exc_info" in line for line in log.lines[:4])
    assert not any("exc_info" in line for line in log.lines[4:])  # one traceback is enough


def test_no_line_about_a_message_is_suppressed(log: Log) -> None:
    for _ in range(50):
        log.logger.info("approval_decided", actor="ann")

    assert len(log.lines) == 50


def test_repeats_of_running_out_of_file_descriptors_are_counted(log: Log) -> None:
    """As asyncio logs it, thousands of times a second (CPython 3.11)."""
    for number in range(2000):
        error = OSError(errno.EMFILE, "Too many open files")
        logging.getLogger("asyncio").error(
            "socket.accept() out of system resource\nsocket: <asyncio.TransportSocket fd=%d>",
            number, exc_info=(OSError, error, None),
        )  # fmt: skip
    log.repeats.tell(everything=True)

    assert [line.get("repeated") for line in log.lines] == [None, 1999]
    assert {line["logger"] for line in log.lines} == {"asyncio"}


def test_repeats_of_a_tool_server_that_prints_no_json_are_counted(log: Log) -> None:
    """As the MCP SDK logs it: a traceback for each line of standard output."""
    reader = TypeAdapter(dict[str, int])
    for number in range(300):
        try:
            reader.validate_json(f"line {number} of a banner")
        except ValidationError:
            logging.getLogger("mcp.client.stdio").exception("Failed to parse JSONRPC message")
    log.repeats.tell(everything=True)

    assert [line.get("repeated") for line in log.lines] == [None, 299]


def test_repeats_of_refused_http_requests_are_counted(log: Log) -> None:
    for _ in range(100):
        logging.getLogger("uvicorn.error").warning("Invalid HTTP request received.")
        logging.getLogger("another").warning("Invalid HTTP request received.")
    log.repeats.tell(everything=True)

    assert len(log.lines) == 4


def test_requests_that_vary_every_line_do_not_fill_log_or_memory(log: Log) -> None:
    words = [
        f"{chr(97 + n % 26)}{chr(97 + n // 26 % 26)}{chr(97 + n // 676)}y" for n in range(5000)
    ]
    for word in words:
        log.logger.warning("refused", reason=word)
        log.logger.warning(f"event {word}")
    line_count = len(log.lines)
    log.repeats.tell(everything=True)

    assert line_count <= (MOST_CAUSES + 1) + (MOST_EVENTS + 1)
    counted = sum(line.get("repeated", 1) for line in log.lines)
    assert counted == 10_000
    log.now += WINDOW
    log.repeats.tell()
    log.repeats.tell(everything=True)
    assert vars(log.repeats)["_logged"] == vars(log.repeats)["_causes"] == {}


async def test_all_counts_are_logged_when_the_bridge_stops(log: Log) -> None:
    telling = asyncio.create_task(tell_repeats(log.repeats))
    await asyncio.sleep(0)
    for _ in range(7):
        log.logger.warning("broken")
    telling.cancel()
    await asyncio.gather(telling, return_exceptions=True)

    assert log.names() == [("broken", None), ("broken", 6)]


# --- every line of the code ---------------------------------------------------------------------

# Events of the whole bridge, equal whenever they are logged.
OF_THE_BRIDGE = {"store_write_recovered"}


def test_every_warning_has_a_key_that_distinguishes_it() -> None:
    """Otherwise a problem of one account hides another's as "repeated"."""
    calls = [call for call in log_calls() if call.method in {"warning", *ERRORS}]
    known = {*SUBJECTS, *CAUSE_TEXTS, *CAUSE_CODES, "exc_info"}

    alike = [
        call for call in calls if not call.keys & known and call.event not in OF_THE_BRIDGE
    ]  # fmt: skip
    without_subject = [
        call for call in calls
        if not call.keys & set(SUBJECTS)
        and (call.place.startswith("connectors/") or call.keys & {"operation", "row", "native_id"})
    ]  # fmt: skip

    assert len(calls) > 100
    assert alike == []
    assert without_subject == []  # an event of an account names it or its channel


def test_parts_that_are_not_ready_are_logged_separately(log: Log) -> None:
    for _ in range(2):
        for name in ("a", "b", "c"):
            part = f"agents.{name}"
            log.logger.warning("part_not_ready", part=part, problem="it cannot be reached")

    assert [line["part"] for line in log.lines] == ["agents.a", "agents.b", "agents.c"]
