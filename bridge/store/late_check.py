"""A large store that was not closed is read from end to end while the bridge is at work already."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from threading import Event, Thread

import structlog

from bridge.errors import StoreCorrupt
from bridge.store.faults import store_error
from bridge.store.schema import check_whole, connect

log = structlog.get_logger()

_AFTER = 60.0  # seconds: the start has other work


class LateCheck:
    """Begins soon after it is made. A crash of this program damages nothing, the machine's may:
    nobody waits for the answer, but once it is bad, nothing more may be written."""

    def __init__(self, path: Path) -> None:
        self.damage: StoreCorrupt | None = None
        self._path = path
        self._db = connect(path, "ro")
        self._closing = Event()
        self._thread = Thread(target=self._work, name="store-check", daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Until the answer is known."""
        self._thread.join()

    def close(self) -> None:
        """Give up, if it is still at it."""
        self._closing.set()
        while self._thread.is_alive():
            self._db.interrupt()  # of no effect between two statements, so that once may be too few
            self._thread.join(0.05)
        self._db.close()

    def _work(self) -> None:
        if self._closing.wait(_AFTER):
            return
        try:
            check_whole(self._db, self._path)
        except (StoreCorrupt, sqlite3.Error) as error:
            if self._closing.is_set():
                return
            failure = store_error(error, self._path)
            log.error("store_check_failed", error=str(failure))  # noqa: TRY400  # it says what to do
            if isinstance(failure, StoreCorrupt):
                self.damage = failure
