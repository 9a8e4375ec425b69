"""Lets one process write a store: a row that the process renews, with an epoch that rises at each
change of hands.

A process that was stopped for longer than its lease may find another one at work. Each of its
commits names its epoch, and the database refuses those of an epoch that has passed.
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
from bridge.store.postgresql.address import Address, connect
from bridge.store.postgresql.connection import PostgresConnection
from bridge.store.postgresql.faults import taken_over

log = structlog.get_logger()

SECONDS = 4.0  # that a lease holds without a renewal
_RENEWED = 1.0  # seconds between renewals
_NAME = "store"
_NOW = "extract(epoch FROM clock_timestamp())"  # of the server: no two clocks are compared
_TAKE = f"""
INSERT INTO leases (name, holder, epoch, until) VALUES ($1, $2, 1, {_NOW} + $3)
ON CONFLICT (name) DO UPDATE SET
  holder = excluded.holder, epoch = leases.epoch + 1, until = excluded.until, committed = 0
WHERE leases.until < {_NOW} AND NOT EXISTS (SELECT 1 FROM processes WHERE until > {_NOW})
RETURNING epoch
"""  # noqa: S608 - our own words
_EXPIRED = f"SELECT right(holder, 8) FROM leases WHERE name = $1 AND until < {_NOW}"  # noqa: S608 - our own words
_HOLDER = f"""
SELECT holder, until - {_NOW} FROM leases WHERE name = $1 AND until > {_NOW}
UNION ALL SELECT name, until - {_NOW} FROM processes WHERE until > {_NOW} LIMIT 1
"""  # noqa: S608 - our own words
_RENEW = f"UPDATE leases SET until = {_NOW} + $3 WHERE name = $1 AND epoch = $2 RETURNING 1"  # noqa: S608 - our own words
_END = "UPDATE leases SET until = 0 WHERE name = $1 AND epoch = $2 RETURNING 1"


class Lease:
    """Held from its creation until `close`, and renewed over a connection of its own."""

    def __init__(self, address: Address, db: PostgresConnection) -> None:
        self._address = address
        self._id = uuid4().hex[:8]
        self.epoch = _taken(db, str(address), self._id)
        self._closing = Event()
        self._thread = Thread(target=self._work, name="store-lease", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Give the lease up, so that another process need not wait for its end."""
        self._closing.set()
        self._thread.join()

    def sign(self, db: PostgresConnection) -> None:
        """Name the connection after the holder of the lease."""
        db.sign(self._id)

    def guard(self, db: PostgresConnection, number: int) -> None:
        """Make the transaction fail unless the lease still has this epoch; note its number."""
        db.control(f"SELECT fence('{_NAME}', {self.epoch}, {number})")

    def committed(self, db: PostgresConnection) -> int:
        """Return the number of the last transaction of this epoch that was committed."""
        query = "SELECT committed FROM leases WHERE name = $1 AND epoch = $2"
        return next((number for (number,) in db.rows(query, (_NAME, self.epoch))), 0)

    def _work(self) -> None:
        db: PostgresConnection | None = None
        while not self._closing.wait(_RENEWED):
            try:
                db = db or connect(self._address)
                if not list(db.rows(_RENEW, (_NAME, self.epoch, SECONDS))):
                    error = str(taken_over(str(self._address)))
                    log.error("store_taken_over", error=error, epoch=self.epoch)
                    return
            except psycopg.Error:
                db = _close(db)  # the writer tells, and waits for the server as well
        try:
            db = db or connect(self._address)
            list(db.rows(_END, (_NAME, self.epoch)))
        except psycopg.Error:
            pass  # it ends by itself
        finally:
            _close(db)


def _taken(db: PostgresConnection, name: str, own_id: str) -> int:
    """Take the lease; a process that crashed left one that ends within seconds. One that was
    stopped in the middle of a transaction locks it: that transaction is ended."""
    holder = f"{socket.gethostname()}, pid {os.getpid()}, {own_id}"
    until = time.monotonic() + SECONDS + 1
    last_end = 0.0
    while True:
        for (expired,) in list(db.rows(_EXPIRED, (_NAME,))):
            db.end_writer(expired)
        if (epoch := _taken_now(db, holder)) is not None:
            return epoch
        found = list(db.rows(_HOLDER, (_NAME,)))
        ends = time.monotonic() + found[0][1] if found else 0.0
        is_renewed = last_end > 0 and ends > last_end + _RENEWED / 2
        if found and (is_renewed or time.monotonic() > until):
            raise StoreError(
                f"The store {name!r} is in use by another process ({found[0][0]}); stop it, or "
                "give this one another database"
            )
        last_end = last_end or ends
        time.sleep(0.1)


def _taken_now(db: PostgresConnection, holder: str) -> int | None:
    """Take the lease if it is free; None where it is not, or a transaction locks it for long."""
    db.control("SET lock_timeout = 250")
    try:
        return next((epoch for (epoch,) in db.rows(_TAKE, (_NAME, holder, SECONDS))), None)
    except psycopg.errors.LockNotAvailable:
        return None
    finally:
        db.control("RESET lock_timeout")


def _close(db: PostgresConnection | None) -> None:
    if db is not None:
        db.close()
