"""Authors of messages as they were when they wrote, each stored once: bodies in, numbers out."""

from __future__ import annotations

from bridge.store import numbers
from bridge.store.connection import Connection
from bridge.store.queries import read_queries

SQL = read_queries("authors")


def number_of(db: Connection, body: bytes) -> int:
    """Return the number of an author, which is given at the first message."""
    return numbers.asked(db, SQL, body)()
