"""Makes a process one of those that share a store: a row that it renews, until the others find it
expired.

A process that was stopped for longer may wake in the middle of its work. The others removed its
row, so the database refuses its transactions; and its own clock tells it at once not to send.
"""

from __future__ import annotations

import os
import socket
import time
from threading import Event, Thread
from uuid import uuid4

import psycopg
import structlog

from bridge.errors import StoreError
from bridge.model.assignments import ProcessId
from bridge.runtime.version import bridge_version
from bridge.store.postgresql.address import Address, connect
from bridge.store.postgresql.connection import PostgresConnection

log = structlog.get_logger()

SECONDS = 3.0  # that a process counts as alive without a renewal
_RENEWED = 0.5  # seconds between renewals
NOW = "extract(epoch FROM clock_timestamp())"  # of the server: no two clocks are compared
_LOCK = f"""
UPDATE leases SET epoch = epoch + 1, committed = 1 WHERE name = 'store' RETURNING until - {NOW}
"""  # noqa: S608 - our own words; `db copy` sees by the epoch that the store was used
STARTING = 2  # in the column `stopping`: older processes leave such a one out as well
_JOIN = f"""
INSERT INTO processes (id, name, version, started, until, stopping)
VALUES ($1, $2, $3, {NOW}, {NOW} + $4, {STARTING}) RETURNING 1
"""  # noqa: S608 - our own words
_RENEW = f"UPDATE processes SET until = {NOW} + $2 WHERE id = $1 RETURNING 1"  # noqa: S608 - our own words
_EXPIRED = f"SELECT id, name FROM processes WHERE until < {NOW}"  # noqa: S608 - our own words
_LEAVE = "DELETE FROM processes WHERE id = $1 RETURNING 1"
_FREE = "UPDATE assignments SET process = NULL WHERE process = $1 RETURNING 1"


class Membership:
    """Held from its creation until `close`, and renewed over a connection of its own."""

    def __init__(self, address: Address, db: PostgresConnection) -> None:
        self._address = address
        self.process = ProcessId(uuid4().hex[:12])
        self.is_lost = False
        self._alive_until = time.monotonic() + SECONDS
        self._steady_since = time.monotonic() - SECONDS
        _join(db, str(address), self.process)
        self._closing = Event()
        self._thread = Thread(target=self._work, name="membership", daemon=True)
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        """Whether no other process can hold this one for dead at this moment."""
        return not self.is_lost and time.monotonic() < self._alive_until

    @property
    def is_steady(self) -> bool:
        """Whether this process has renewed its row for so long that others could, too."""
        return time.monotonic() - self._steady_since > SECONDS

    def close(self) -> None:
        """Leave at once: what this process worked for is free."""
        self._closing.set()
        self._thread.join()

    # --- the fence of the writer ----------------------------------------------------------------

    def sign(self, db: PostgresConnection) -> None:
        db.sign(self.process)

    def guard(self, db: PostgresConnection, number: int) -> None:
        """Make the transaction the only one, and let it fail where the process is held for dead."""
        db.control(f"SELECT fence_process('{self.process}', {number})")

    def committed(self, db: PostgresConnection) -> int:
        """Return the number of the last transaction that was committed."""
        found = db.rows("SELECT number FROM commits WHERE process = $1", (self.process,))
        return next((number for (number,) in found), 0)

    # --- renewal --------------------------------------------------------------------------------

    def _work(self) -> None:
        db: PostgresConnection | None = None
        while not self._closing.wait(_RENEWED):
            try:
                db = db or connect(self._address)
                began = time.monotonic()
                if not list(db.rows(_RENEW, (self.process, SECONDS))):
                    self.is_lost = True
                    error = f"held for dead by the others: process {self.process} begins anew"
                    log.error("process_lost", store=str(self._address), error=error)
                    break
                if not self.is_alive:
                    self._steady_since = began
                self._alive_until = began + SECONDS
                if self.is_steady:
                    _end_writers(db, str(self._address))
            except psycopg.Error:
                self._steady_since = time.monotonic()
                db = _closed(db)  # the writer tells, and waits for the server as well
        try:
            db = db or connect(self._address)
            for statement in (_FREE, _LEAVE):
                list(db.rows(statement, (self.process,)))
        except psycopg.Error:
            pass  # the others find it expired
        finally:
            _closed(db)


def _end_writers(db: PostgresConnection, store: str) -> None:
    """End the transactions of processes that were stopped in the middle: all others wait for
    them."""
    for process, name in list(db.rows(_EXPIRED)):
        if db.end_writer(process):
            log.warning("writer_ended", store=store, error=f"{name} was stopped in a transaction")


def _join(db: PostgresConnection, name: str, process: ProcessId) -> None:
    """Raise StoreError where a process has the store for itself alone."""
    own_name = f"{socket.gethostname()}, pid {os.getpid()}"
    with db.native.transaction():
        db.control(
            "INSERT INTO leases (name, holder, epoch, until) VALUES ('store', '', 0, 0) "
            "ON CONFLICT (name) DO NOTHING"
        )
        ((left,),) = db.rows(_LOCK)
        if left > 0:
            raise StoreError(
                f"The store {name!r} is in use by a process that has it for itself alone; give it "
                "the section cluster as well, or stop it"
            )
        list(db.rows(_JOIN, (process, own_name, bridge_version(), SECONDS)))
        db.control(f"INSERT INTO commits (process, number) VALUES ('{process}', 0)")  # noqa: S608 - our own id


def _closed(db: PostgresConnection | None) -> None:
    if db is not None:
        db.close()
