"""Authors of messages as they were when they wrote, each stored once: bodies in, numbers out."""

from __future__ import annotations

from bridge.store.connection import Connection

_FIND = "SELECT n FROM authors WHERE body = ?"
_ADD = "INSERT INTO authors (body) VALUES (?) RETURNING n"


def number_of(db: Connection, body: bytes) -> int:
    """Return the number of an author, which is given at the first message."""
    row = db.execute(_FIND, (body,)).fetchone()
    if row is None:
        (row,) = db.execute(_ADD, (body,)).fetchall()
    return row[0]
