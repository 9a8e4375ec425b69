"""A log of who read or exported what: lines of JSON in a folder beside the store, a file a month.

A command that reads while a bridge runs may not write the store, so the log is not in it. Each
line is one write to a file that is only appended to, so that several processes may write.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import structlog

log = structlog.get_logger()

_LONGEST = 500  # characters of one value


@dataclass(frozen=True)
class Access:
    """One reading. `who` is `token NAME` or `user NAME`, `what` the command or the API's operation,
    `facts` what was asked for: room, query, filters; never what was found."""

    at: str
    who: str
    what: str
    facts: dict[str, Any]


class AccessLog:
    """Appends and reads the log of a store."""

    def __init__(self, store: Path) -> None:
        self.folder = store.with_name(f"{store.name}.accesses")

    def note(self, who: str, what: str, **facts: object) -> None:
        """Append a line. A full disk is logged: reading goes on."""
        now = datetime.now(UTC)
        told = {name: value for name, value in facts.items() if value not in (None, "", ())}
        known = {name: _short(value) for name, value in told.items()}
        line = {"at": now.isoformat(timespec="milliseconds"), "who": who, "what": what, **known}
        data = json.dumps(line, ensure_ascii=False, default=str).encode("utf-8", "replace") + b"\n"
        try:
            self.folder.mkdir(mode=0o700, exist_ok=True)
            path = self.folder / f"{now:%Y-%m}.jsonl"
            file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                os.write(file, data)
            finally:
                os.close(file)
        except OSError as error:
            reason = error.strerror or str(error)
            log.exception("access_write_failed", error=reason, who=who, what=what)

    def read(self, since: datetime | None = None, who: str | None = None) -> Iterator[Access]:
        """Yield the accesses of a time and of a reader, oldest first; lines that are no JSON are
        left out."""
        for path in sorted(self.folder.glob("*.jsonl")) if self.folder.is_dir() else ():
            with path.open(encoding="utf-8", errors="replace") as lines:
                for line in lines:
                    access = _access(line)
                    if access is None or (who and who not in access.who):
                        continue
                    if since is None or datetime.fromisoformat(access.at) >= since:
                        yield access

    def prune(self, days: float, now: float) -> int:
        """Remove the months that ended more than so many days ago. Returns how many."""
        oldest = datetime.fromtimestamp(now, UTC) - timedelta(days=days)
        removed = 0
        for path in self.folder.glob("*.jsonl") if self.folder.is_dir() else ():
            if path.stem < f"{oldest:%Y-%m}":
                path.unlink(missing_ok=True)
                removed += 1
        return removed


def _short(value: object) -> object:
    if isinstance(value, str):
        return value if len(value) <= _LONGEST else f"{value[: _LONGEST - 1]}…"
    return value


def _access(line: str) -> Access | None:
    try:
        facts = json.loads(line)
        at, who, what = facts.pop("at"), facts.pop("who"), facts.pop("what")
        datetime.fromisoformat(at)
        return Access(at, str(who), str(what), facts)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
