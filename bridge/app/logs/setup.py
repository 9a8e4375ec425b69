"""Log events with keys -> readable lines or JSON on stderr, with secrets hidden.

Warnings and errors that SDKs log through the standard library are treated the same.
"""

from __future__ import annotations

import contextlib
import json
import logging
import re
import sys
from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any, TextIO, cast

import orjson
import structlog
from structlog.typing import Processor

from bridge.app.logs.repeats import REPEATS
from bridge.app.redaction import HIDDEN, hide_inputs, hide_secrets
from bridge.app.settings.sections import LogSettings

_SECRET_KEYS = re.compile(r"(?i)token$|secret$|password$|^authorization$|^cookie$|^credentials$")
_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(32), 127) if chr(code) not in "\n\t"}
_FIRST = ("timestamp", "level", "event")
_DEEPEST = 6
_LEVELS = (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR, logging.CRITICAL)


def configure_logs(settings: LogSettings) -> None:
    """Configure structlog and the standard library's logging for the process."""
    terminal = sys.stderr is not None and sys.stderr.isatty()
    as_json = settings.format == "json" or (settings.format == "auto" and not terminal)
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            REPEATS,  # first, so that dropped repeats are not rendered
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            redact,
            to_json if as_json else _to_text(colors=terminal),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(settings.level),
        logger_factory=structlog.PrintLoggerFactory(cast("TextIO", _Stderr())),
    )
    route_standard_logging()


# uvicorn adds handlers of its own when it is started with its default settings.
_LOGGERS_OF_SERVERS = ("uvicorn", "uvicorn.error", "uvicorn.access")


def route_standard_logging() -> None:
    """Turn warnings and errors of SDKs into events; drop their other records."""
    root = logging.getLogger()
    root.handlers[:] = [_ToStructlog()]
    root.setLevel(logging.WARNING)
    for name in _LOGGERS_OF_SERVERS:
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
    logging.captureWarnings(capture=True)


def redact(_logger: object, _name: str, event: MutableMapping[str, Any]) -> Mapping[str, Any]:
    """Hide everything that looks like a secret, at any depth, and show control characters."""
    return {key: _clean(key, value, 0) for key, value in event.items()}


def to_json(_logger: object, _name: str, event: MutableMapping[str, Any]) -> str:
    """The event as one line of JSON; works for any event, because a log call never fails."""
    event = {key: event.pop(key) for key in _FIRST if key in event} | dict(event)
    try:
        return orjson.dumps(event, default=repr, option=orjson.OPT_NON_STR_KEYS).decode()
    except (TypeError, ValueError):  # a lone surrogate, an integer beyond 64 bits
        return json.dumps(event, default=repr)


def _to_text(*, colors: bool) -> Processor:
    return structlog.dev.ConsoleRenderer(
        colors=colors, exception_formatter=structlog.dev.plain_traceback
    )


def _clean(key: object, value: object, depth: int) -> object:
    if isinstance(key, str) and _SECRET_KEYS.search(key) and value:
        return HIDDEN
    if isinstance(value, str):
        return _hidden(value)
    if depth >= _DEEPEST or value is None or isinstance(value, bool | int | float):
        return value if depth < _DEEPEST else "..."
    if isinstance(value, Mapping):
        return {str(k): _clean(k, v, depth + 1) for k, v in value.items()}
    if isinstance(value, Sequence | set | frozenset) and not isinstance(value, bytes | bytearray):
        return [_clean(None, item, depth + 1) for item in value]
    return _hidden(repr(value))


class _Stderr:
    """Writes to the current stderr; if that is closed or full, lines are lost and nothing fails."""

    def write(self, text: str) -> None:
        with contextlib.suppress(OSError, ValueError, AttributeError):
            sys.stderr.write(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError, ValueError, AttributeError):
            sys.stderr.flush()


def _hidden(text: str) -> str:
    return hide_secrets(hide_inputs(text)).translate(_CONTROLS)


class _ToStructlog(logging.Handler):
    """Turns a record of the standard library into an event."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            text = record.getMessage()
        except (TypeError, ValueError):  # an SDK's arguments that do not fit its text
            text = str(record.msg)
        level = max(
            candidate for candidate in _LEVELS if candidate <= max(record.levelno, logging.DEBUG)
        )
        structlog.get_logger().log(
            level, text, logger=record.name, exc_info=record.exc_info or False
        )
