"""Runs units of work durably in SQLite: one thread, one connection, many units per COMMIT."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeGuard, TypeVar, TypeVarTuple

from bridge.errors import StoreCorrupt, StoreError, StoreFull
from bridge.store import engine, metrics
from bridge.store.batches import BatchWriter, Job, final_result, run_unit
from bridge.store.faults import store_error

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class Writer(BatchWriter):
    """Writes over one connection. `check` raises StoreError when nothing may be written any
    more."""

    def __init__(
        self, db: sqlite3.Connection, path: Path, check: Callable[[], None] = lambda: None
    ) -> None:
        super().__init__(str(path))
        self._db = db
        self._path = path
        self._check = check
        self.start()

    def _commit(self, batch: Sequence[Job]) -> None:
        if not self._commit_all(batch, run_unit):
            # Some unit raised: each once more, now fenced off from its neighbours. Savepoints for
            # all from the start would cost a quarter more CPU: SQLite copies each page it touches.
            self._commit_all(batch, self._run_fenced)

    def _commit_all(
        self, batch: Sequence[Job], run: Callable[[sqlite3.Connection, Job], bool]
    ) -> bool:
        """False when `run` gave up; then nothing was done."""
        db = self._db
        try:
            self._check()
            db.execute("BEGIN IMMEDIATE")
            if not all(run(db, job) for job in batch):
                self._roll_back()
                return False
            began = time.perf_counter()
            db.execute("COMMIT")
            metrics.COMMIT_SECONDS.observe(time.perf_counter() - began)
            metrics.COMMIT_UNITS.observe(len(batch))
        except (*engine.errors(), StoreError) as error:
            self._give_up(batch, error)
        else:
            self.failure = next((job.error for job in batch if _of_disk(job.error)), None)
        return True

    def _give_up(self, batch: Sequence[Job], error: Exception) -> None:
        self._roll_back()
        self.failure = store_error(error, self._path)
        for job in batch:
            job.error = job.error or self.failure

    def _roll_back(self) -> None:
        if self._db.in_transaction:  # on a full disk SQLite may have done it
            self._db.execute("ROLLBACK")

    def _run_fenced(self, db: sqlite3.Connection, job: Job) -> bool:
        db.execute("SAVEPOINT unit")
        try:
            job.result = job.unit(db, *job.args)
        except Exception as error:
            if not db.in_transaction:  # SQLite undid everything: the batch is lost, not one unit
                raise
            db.execute("ROLLBACK TO unit")
            job.error = store_error(error, self._path) if _of_sqlite(error) else error
        db.execute("RELEASE unit")
        return True


class InlineWriter:
    """Writes in the caller's thread, one unit per COMMIT: for a database in memory."""

    def __init__(self, db: sqlite3.Connection, path: Path) -> None:
        self.failure: StoreError | None = None
        self._db = db
        self._path = path
        self._closed = False

    async def run(self, unit: Callable[[sqlite3.Connection, *Ts], T], *args: *Ts) -> T:
        """Return the unit's result; a unit that raises is rolled back."""
        if self._closed:
            raise StoreError(f"The store {str(self._path)!r} is closed")
        self._db.execute("BEGIN IMMEDIATE")
        try:
            result = unit(self._db, *args)
        except Exception as error:
            self._db.execute("ROLLBACK")
            if _of_sqlite(error):
                raise store_error(error, self._path) from error
            raise
        self._db.execute("COMMIT")
        return final_result(result)

    async def close(self) -> None:
        self._closed = True


def _of_sqlite(error: Exception) -> bool:
    return isinstance(error, (*engine.errors(), OverflowError))


def _of_disk(error: Exception | None) -> TypeGuard[StoreError]:
    """The COMMIT may succeed though there was no room for one of its units."""
    return isinstance(error, (StoreFull, StoreCorrupt))
