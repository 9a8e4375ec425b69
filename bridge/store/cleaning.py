"""Overwrites what deletions and erasures leave in a store's files: words in the search index, free
pages, and the write-ahead log."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from bridge.store.connection import Connection
from bridge.store.faults import translated
from bridge.store.queries import read_queries
from bridge.store.schema import connect

SQL = read_queries("erasures")
_PAGES = 500  # of the index that one step merges, so that other writes need not wait long
_BUSY = 60_000  # milliseconds that VACUUM waits for others


def merge_index(db: Connection, *, first: bool) -> bool:
    """Merge the next part of the search index, which drops removed words; True if there is more.

    FTS5: a negative number starts the merge of everything into one segment; a merge that has
    nothing left to do changes fewer than two rows.
    """
    ((before,),) = db.execute("SELECT total_changes()").fetchall()
    db.execute(SQL["merge_index"], (-_PAGES if first else _PAGES,))
    ((after,),) = db.execute("SELECT total_changes()").fetchall()
    return after - before >= 2


def needs_vacuum(db: Connection) -> bool:
    """Whether pages were freed before the store overwrote what it frees."""
    return db.execute(SQL["overwrites"]).fetchone() is None


def vacuum(path: Path) -> None:
    """Write the database anew, without free pages. Nobody else may write meanwhile.

    Raises:
        StoreError: it is in use, or there is no room for a copy.
    """
    with translated(path), closing(connect(path, "rw")) as db:
        db.execute("PRAGMA secure_delete = ON")
        db.execute(f"PRAGMA busy_timeout = {_BUSY}")
        db.execute("VACUUM")
        db.execute(SQL["set_overwrites"])


def empty_log(path: Path) -> bool:
    """Copy the write-ahead log into the database and cut it to nothing. False if a reader is in the
    way; then it has to be tried again."""
    with translated(path), closing(connect(path, "rw")) as db:
        (busy, _, _) = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not busy
