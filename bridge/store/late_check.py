"""Checks a large store for damage while the bridge already works."""

from __future__ import annotations

from pathlib import Path
from threading import Event, Thread

import structlog

from bridge.errors import StoreCorrupt
from bridge.store import engine
from bridge.store.faults import store_error
from bridge.store.schema import check_whole, connect

log = structlog.get_logger()

_AFTER = 60.0  # seconds: the start has other work


class LateCheck:
    """Reads a store that was not closed from end to end, in the background.

    A crash of the program damages nothing, a crash of the machine may. Nobody waits for the result,
    but once the check finds damage nothing may be written.
    """

    def __init__(self, path: Path) -> None:
        self.damage: StoreCorrupt | None = None
        self._path = path
        self._db = connect(path, "ro")
        self._closing = Event()
        self._thread = Thread(target=self._work, name="store-check", daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Wait for the result."""
        self._thread.join()

    def close(self) -> None:
        """Stop the check if it still runs."""
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
        except (StoreCorrupt, *engine.errors()) as error:
            if self._closing.is_set():
                return
            failure = store_error(error, self._path)
            log.error("store_check_failed", error=str(failure))  # noqa: TRY400  # it says what to do
            if isinstance(failure, StoreCorrupt):
                self.damage = failure
