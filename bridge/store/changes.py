"""Changes of a message after it was posted, noted in each room that has it."""

from __future__ import annotations

from bridge.model import MessageId
from bridge.store.connection import Connection
from bridge.store.queries import read_queries

SQL = read_queries("changes")


def note_change(db: Connection, message: MessageId, kind: str) -> None:
    db.execute(SQL["note_change"], (kind, message))
