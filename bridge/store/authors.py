"""Authors of messages as they were when they wrote, each stored once: bodies in, numbers out."""

from __future__ import annotations

from bridge.store.connection import Connection, Rows
from bridge.store.queries import read_queries

SQL = read_queries("authors")


def number_of(db: Connection, body: bytes) -> int:
    """Return the number of an author, which is given at the first message."""
    return told(db, asked(db, body), body)


def asked(db: Connection, body: bytes) -> Rows:
    """Ask for the number of an author, to be read with `told`."""
    return db.execute(SQL["find"], (body,))


def told(db: Connection, answer: Rows, body: bytes) -> int:
    """Return the number that was asked for."""
    row = answer.fetchone()
    if row is None:
        (row,) = db.execute(SQL["add"], (body,)).fetchall()
    return row[0]
