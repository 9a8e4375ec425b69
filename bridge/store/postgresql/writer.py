"""Runs units of work durably in PostgreSQL: one thread, one connection, many units per COMMIT."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Protocol

import psycopg
import structlog

from bridge.store import metrics
from bridge.store.batches import BatchWriter, Job, Late, run_unit
from bridge.store.postgresql.address import Address, connect
from bridge.store.postgresql.connection import PostgresConnection
from bridge.store.postgresql.faults import TAKEN_OVER, is_lost, store_error

log = structlog.get_logger()

_PATIENCE = 30.0  # seconds that a batch waits for the server to come back
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 1.0


class Fence(Protocol):
    """Refuses the transactions of a process that others no longer reckon with."""

    def sign(self, db: PostgresConnection) -> None:
        """Name the connection, so that others find it: they end it where this process is stopped in
        the middle of a transaction."""
        ...

    def guard(self, db: PostgresConnection, number: int) -> None:
        """Let the transaction that has just begun fail unless this process may write; note its
        number."""
        ...

    def committed(self, db: PostgresConnection) -> int:
        """Return the number of the last transaction that was committed."""
        ...


class PostgresWriter(BatchWriter):
    """Writes as long as its fence lets it.

    When the connection is lost, the batch waits for the server. Whether its COMMIT happened tells
    the number that each transaction leaves with the fence, so that no unit runs again behind a
    COMMIT of which only the answer was lost.
    """

    def __init__(self, address: Address, db: PostgresConnection, fence: Fence) -> None:
        super().__init__(str(address))
        self._address = address
        self._db = db
        self._fence = fence
        self._number = 0
        self.start()

    async def close(self) -> None:
        await super().close()
        self._db.close()

    def _commit(self, batch: Sequence[Job]) -> None:
        self._number += 1
        attempt = self._attempt_all
        until = time.monotonic() + _PATIENCE
        pause = _FIRST_PAUSE
        while True:
            try:
                began = time.perf_counter()
                if attempt(batch):
                    metrics.COMMIT_SECONDS.observe(time.perf_counter() - began)
                    metrics.COMMIT_UNITS.observe(len(batch))
                    return
                # Some unit raised: each once more, now fenced off from its neighbours.
                attempt = self._attempt_fenced
            except Exception as error:  # noqa: BLE001  # each unit's awaiter gets it
                if not is_lost(error) or time.monotonic() > until:
                    self._give_up(batch, error)
                    return
                log.warning("store_connection_lost", store=self._name, error=str(error).strip())
                time.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
                if self._has_reconnected() and self._has_committed():
                    # The results of these are lost: they are units that may be done again.
                    batch = [job for job in batch if isinstance(job.result, Late)]
                    if not batch:
                        return
                    self._number += 1

    def _attempt_all(self, batch: Sequence[Job]) -> bool:
        """Run the units with as few round trips as their reads allow; False if one raised."""
        db = self._db
        try:
            with db.native.pipeline():
                self._begin(db)
                have_run = all(run_unit(db, job) for job in batch)
                if have_run:
                    db.control("COMMIT")
        except psycopg.Error as error:  # that of a unit may come to light at the end
            if is_lost(error) or error.sqlstate == TAKEN_OVER:
                raise
            have_run = False
        if have_run:
            self.failure = None
        else:
            self._roll_back()
        return have_run

    def _attempt_fenced(self, batch: Sequence[Job]) -> bool:
        db = self._db
        self._begin(db)
        for job in batch:
            self._run_fenced(db, job)
        db.control("COMMIT")
        self.failure = None
        return True

    def _begin(self, db: PostgresConnection) -> None:
        db.control("BEGIN")
        self._fence.guard(db, self._number)

    def _run_fenced(self, db: PostgresConnection, job: Job) -> None:
        db.control("SAVEPOINT unit")
        job.error = None
        try:
            job.result = job.unit(db, *job.args)
        except Exception as error:
            if is_lost(error):
                raise
            db.control("ROLLBACK TO unit")
            of_engine = isinstance(error, (psycopg.Error, OverflowError))
            job.error = store_error(error, self._name) if of_engine else error
        db.control("RELEASE unit")

    def _roll_back(self) -> None:
        if self._db.in_transaction:
            self._db.control("ROLLBACK")

    def _give_up(self, batch: Sequence[Job], error: Exception) -> None:
        self.failure = store_error(error, self._name)
        for job in batch:
            job.error = job.error or self.failure
        if not self._db.native.closed:
            self._roll_back()

    def _has_reconnected(self) -> bool:
        self._db.close()
        return self._survives(self._reconnect)

    def _reconnect(self) -> None:
        self._db = connect(self._address)
        self._fence.sign(self._db)

    def _has_committed(self) -> bool:
        """Whether the lost transaction was committed after all; its units' results stand then."""
        found: list[int] = []
        self._survives(lambda: found.append(self._fence.committed(self._db)))
        return found == [self._number]

    @staticmethod
    def _survives(step: Callable[[], object]) -> bool:
        try:
            step()
        except psycopg.Error:
            return False
        return True
