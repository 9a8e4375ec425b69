"""Counts for `status` and `/metrics`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from bridge.model.outbox_records import LaneStatus
from bridge.model.store_status import MAX_COUNTED, StorePulse, StoreStatus
from bridge.store import inbox
from bridge.store.bodies import OPERATIONS
from bridge.store.connection import Connection
from bridge.store.queries import read_queries

SQL = read_queries("status")


def read_status(db: Connection) -> StoreStatus:
    return StoreStatus(
        inbox=_with_done(_count(db, "inbox_total"), _by_state(db, "inbox_open")),
        outbox=_with_done(
            _count(db, "operations_total"),
            {**_by_state(db, "operations_open"), **_by_state(db, "operations_lost")},
        ),
        turns=_by_state(db, "turns"),
        messages=_count(db, "messages"),
        lanes=lanes_waiting(db),
        waiting=inbox.waiting_by_account(db),
    )


def read_pulse(db: Connection) -> StorePulse:
    """Count at most MOST_COUNTED rows of each kind."""
    return StorePulse(
        messages=_count(db, "messages"),
        outbox={
            "open": db.execute(SQL["some_open"], (MAX_COUNTED,)).fetchone()[0],
            "dead": db.execute(SQL["some_lost"], ("dead", MAX_COUNTED)).fetchone()[0],
            "unproved": db.execute(SQL["some_lost"], ("unproved", MAX_COUNTED)).fetchone()[0],
        },
    )


def write_proof(db: Connection, size: int) -> None:
    """Write bytes that nobody reads; a large proof makes room for the next small one."""
    db.execute(SQL["proof"], (os.urandom(size),))


def lanes_waiting(db: Connection) -> Sequence[LaneStatus]:
    return [
        LaneStatus(lane, OPERATIONS.read(body).account, waiting, oldest, state, error)
        for lane, body, waiting, oldest, state, error in db.execute(SQL["lanes"]).fetchall()
    ]


def _count(db: Connection, query: str) -> int:
    return db.execute(SQL[query]).fetchone()[0]


def _by_state(db: Connection, query: str) -> Mapping[str, int]:
    return dict(db.execute(SQL[query]).fetchall())


def _with_done(total: int, others: Mapping[str, int]) -> Mapping[str, int]:
    """Done rows are what is left: counting them one by one would read the whole table."""
    done = total - sum(others.values())
    return {**others, "done": done} if done else others
