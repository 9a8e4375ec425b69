"""Runs units of work durably: one thread, one connection, many units per COMMIT."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future as ThreadFuture
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, TypeGuard, TypeVar, TypeVarTuple

from bridge.errors import StoreCorrupt, StoreError, StoreFull
from bridge.store import engine, metrics
from bridge.store.faults import store_error

T = TypeVar("T")
Ts = TypeVarTuple("Ts")
# A COMMIT and the hand-over between two threads cost more CPU than the unit in it. Where this many
# came in so short a time, each waits a moment for company: at 100 messages/s a sixth less CPU of
# the whole relay than with 1.5 ms, 4 ms more for each step. A lone message never waits.
_BURST, _BURST_S, _LINGER = 16, 0.06, 0.004
_MAX_UNITS = 500  # units in one COMMIT: bounds what a lost COMMIT makes undone, and the wait for it


@dataclass(slots=True)
class _Job:
    """A unit and what became of it; `error` wins over `result`."""

    future: asyncio.Future[Any]
    unit: Callable[..., Any]
    args: tuple[Any, ...]
    result: Any = None
    error: Exception | None = None


class Writer:
    """Writes for the event loop in which it was created.

    Units that arrive during a COMMIT share the next one. A unit that raises is rolled back alone.
    Awaiters wake in the order of submission, after the COMMIT. A unit may run twice, so it must
    have no effect outside the database. `check` raises StoreError when nothing may be written any
    more. `failure` is the error of the last COMMIT, None when it succeeded.
    """

    def __init__(
        self, db: sqlite3.Connection, path: Path, check: Callable[[], None] = lambda: None
    ) -> None:
        self.failure: StoreError | None = None
        self._db = db
        self._path = path
        self._check = check
        self._loop = asyncio.get_running_loop()
        self._queue: SimpleQueue[_Job | None] = SimpleQueue()
        self._closed = False
        self._recent: deque[float] = deque(maxlen=_BURST)
        self._ended: ThreadFuture[None] = ThreadFuture()
        # A daemon, so that a program that forgot to close the store still ends.
        Thread(target=self._work, name="store-writer", daemon=True).start()

    async def run(self, unit: Callable[[sqlite3.Connection, *Ts], T], *args: *Ts) -> T:
        """Return the unit's result once it is durable. Cancelling the wait does not roll the unit
        back."""
        if self._closed:
            raise StoreError(f"The store {str(self._path)!r} is closed")
        future: asyncio.Future[T] = self._loop.create_future()
        self._queue.put(_Job(future, unit, args))
        return await future

    async def close(self) -> None:
        """Finish the submitted units, then end the thread; the connection stays open."""
        if not self._closed:
            self._closed = True
            self._queue.put(None)
        await asyncio.wrap_future(self._ended)

    def _work(self) -> None:
        go_on = True
        while go_on:
            batch, go_on = self._next_batch()
            if batch:
                self._commit(batch)
                self._recent.extend([time.monotonic()] * len(batch))
                self._hand_back(batch)
        self._ended.set_result(None)

    def _next_batch(self) -> tuple[list[_Job], bool]:
        batch: list[_Job] = []
        job = self._queue.get()
        if self._is_busy():
            time.sleep(_LINGER)
        while job is not None:
            batch.append(job)
            if len(batch) == _MAX_UNITS:
                return batch, True
            try:
                job = self._queue.get_nowait()
            except Empty:
                return batch, True
        return batch, False

    def _is_busy(self) -> bool:
        """Whether the last units followed one another so fast that waiting pays."""
        recent = self._recent
        return len(recent) == _BURST and time.monotonic() - recent[0] < _BURST_S

    def _commit(self, batch: Sequence[_Job]) -> None:
        if not self._commit_all(batch, _run):
            # Some unit raised: each once more, now fenced off from its neighbours. Savepoints for
            # all from the start would cost a quarter more CPU: SQLite copies each page it touches.
            self._commit_all(batch, self._run_fenced)

    def _commit_all(
        self, batch: Sequence[_Job], run: Callable[[sqlite3.Connection, _Job], bool]
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

    def _give_up(self, batch: Sequence[_Job], error: Exception) -> None:
        self._roll_back()
        self.failure = store_error(error, self._path)
        for job in batch:
            job.error = job.error or self.failure

    def _roll_back(self) -> None:
        if self._db.in_transaction:  # on a full disk SQLite may have done it
            self._db.execute("ROLLBACK")

    def _run_fenced(self, db: sqlite3.Connection, job: _Job) -> bool:
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

    def _hand_back(self, batch: Sequence[_Job]) -> None:
        try:
            self._loop.call_soon_threadsafe(_wake, batch)
        except RuntimeError:  # the loop is closed: nobody waits any more
            return


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
        return result

    async def close(self) -> None:
        self._closed = True


def _run(db: sqlite3.Connection, job: _Job) -> bool:
    """False when it raised, whatever it was: the fenced run tells."""
    try:
        job.result = job.unit(db, *job.args)
    except Exception:  # noqa: BLE001  # looked at in the fenced run
        return False
    return True


def _of_sqlite(error: Exception) -> bool:
    return isinstance(error, (*engine.errors(), OverflowError))


def _of_disk(error: Exception | None) -> TypeGuard[StoreError]:
    """The COMMIT may succeed though there was no room for one of its units."""
    return isinstance(error, (StoreFull, StoreCorrupt))


def _wake(batch: Sequence[_Job]) -> None:
    for job in batch:
        if job.future.done():  # its awaiter was cancelled
            continue
        if job.error is not None:
            job.future.set_exception(job.error)
        else:
            job.future.set_result(job.result)
