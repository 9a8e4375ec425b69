"""Gathers units of work from the event loop into batches, which a thread commits."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future as ThreadFuture
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Generic, TypeVar, TypeVarTuple, Unpack

from bridge.errors import StoreError
from bridge.store.connection import Connection

T = TypeVar("T")
Ts = TypeVarTuple("Ts")
# A COMMIT and the hand-over between two threads cost more CPU than the unit in it. Where this many
# came in so short a time, each waits a moment for company: at 100 messages/s a sixth less CPU of
# the whole relay than with 1.5 ms, 4 ms more for each step. A lone message never waits.
_BURST, _BURST_S, _LINGER = 16, 0.06, 0.004
_PATIENCE = 0.01  # seconds that a patient unit waits for company
_MAX_UNITS = 500  # units in one COMMIT: bounds what a lost COMMIT makes undone, and the wait for it


@dataclass(frozen=True, slots=True)
class _Patient(Generic[T]):
    unit: Callable[..., T]

    def __call__(self, *args: Any) -> T:
        return self.unit(*args)


def patient(unit: Callable[[Unpack[Ts]], T]) -> Callable[[Unpack[Ts]], T]:
    """Return the unit as one that has time: it shares the COMMIT of the next other one, or has one
    of its own after a moment."""
    return _Patient(unit)


@dataclass(frozen=True, slots=True)
class Late(Generic[T]):
    """What a unit returns that need not wait for the answer to its last statement: its awaiter gets
    what `result` returns or raises after the COMMIT, which undoes nothing. Where that answer is
    lost, such a unit is run again although it was committed."""

    result: Callable[[], T]


@dataclass(slots=True)
class Job:
    """A unit and what became of it; `error` wins over `result`."""

    future: asyncio.Future[Any]
    unit: Callable[..., Any]
    args: tuple[Any, ...]
    result: Any = None
    error: Exception | None = None


class BatchWriter:
    """Writes for the event loop in which it was created; an engine says how a batch is committed.

    Units that arrive during a COMMIT share the next one. A unit that raises is rolled back alone.
    Awaiters wake in the order of submission, after the COMMIT. A unit may run twice, so it must
    have no effect outside the database. `failure` is the error of the last COMMIT, None when it
    succeeded.
    """

    def __init__(self, name: str) -> None:
        self.failure: StoreError | None = None
        self._name = name
        self._loop = asyncio.get_running_loop()
        self._queue: SimpleQueue[Job | None] = SimpleQueue()
        self._closed = False
        self._patient: list[Job] = []
        self._timer: asyncio.TimerHandle | None = None
        self._recent: deque[float] = deque(maxlen=_BURST)
        self._ended: ThreadFuture[None] = ThreadFuture()

    def start(self) -> None:
        """Begin to commit; the subclass is complete."""
        # A daemon, so that a program that forgot to close the store still ends.
        Thread(target=self._work, name="store-writer", daemon=True).start()

    async def run(self, unit: Callable[[Connection, *Ts], T], *args: *Ts) -> T:
        """Return the unit's result once it is durable. Cancelling the wait does not roll the unit
        back."""
        if self._closed:
            raise StoreError(f"The store {self._name!r} is closed")
        future: asyncio.Future[T] = self._loop.create_future()
        job = Job(future, unit, args)
        if isinstance(unit, _Patient):
            self._patient.append(job)
            self._timer = self._timer or self._loop.call_later(_PATIENCE, self._submit_patient)
        else:
            self._submit_patient()
            self._queue.put(job)
        return await future

    async def close(self) -> None:
        """Finish the submitted units, then end the thread; the connection stays open."""
        if not self._closed:
            self._closed = True
            self._submit_patient()
            self._queue.put(None)
        await asyncio.wrap_future(self._ended)

    def _submit_patient(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            for job in self._patient:
                self._queue.put(job)
            self._patient.clear()

    def _work(self) -> None:
        go_on = True
        while go_on:
            batch, go_on = self._next_batch()
            if batch:
                self._commit(batch)
                self._recent.extend([time.monotonic()] * len(batch))
                self._hand_back(batch)
        self._ended.set_result(None)

    def _next_batch(self) -> tuple[list[Job], bool]:
        batch: list[Job] = []
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

    def _commit(self, batch: Sequence[Job]) -> None:
        """Commit the units, and note the result or the error of each."""
        raise NotImplementedError

    def _hand_back(self, batch: Sequence[Job]) -> None:
        for job in batch:
            try:
                job.result = final_result(job.result)
            except Exception as error:  # noqa: BLE001  # its awaiter gets it
                job.error = job.error or error
        try:
            self._loop.call_soon_threadsafe(_wake, batch)
        except RuntimeError:  # the loop is closed: nobody waits any more
            return


def _wake(batch: Sequence[Job]) -> None:
    for job in batch:
        if job.future.done():  # its awaiter was cancelled
            continue
        if job.error is not None:
            job.future.set_exception(job.error)
        else:
            job.future.set_result(job.result)


def final_result(result: Any) -> Any:
    """Return what the awaiter of a unit gets, after the COMMIT. Raises whatever a late result
    raises."""
    return result.result() if isinstance(result, Late) else result


def run_unit(db: Connection, job: Job) -> bool:
    """Run a unit; False when it raised, whatever it was: a run that is fenced off tells."""
    try:
        job.result = job.unit(db, *job.args)
    except Exception:  # noqa: BLE001  # looked at in the fenced run
        return False
    return True
