"""Compares the rows of a store's tables with one another: references, lengths, numbers, values."""

from __future__ import annotations

import sqlite3
import zlib

from bridge.model.check_records import CheckedPart
from bridge.store.packing import unpack
from bridge.store.queries import read_queries

SQL = read_queries("checks")
RESTORE = "stop the bridge and restore a backup: uacs-bridge db restore BACKUP"
REINDEX = "stop the bridge and build the index anew: uacs-bridge db reindex"
_MOST = 1000  # rows of one kind that are read, of which the first are listed

# Table, its column, and the table and column in which each of its values is, unless it is NULL.
REFERENCES = (
    ("message_rows", "author", "authors", "n"),
    ("message_rows", "channel", "channels", "n"),
    ("message_rows", "row", "inbox", "id"),
    ("version_rows", "message", "message_rows", "n"),
    ("entries", "message", "message_rows", "n"),
    ("entries", "timeline", "timelines", "n"),
    ("changes", "message", "message_rows", "n"),
    ("changes", "timeline", "timelines", "n"),
    ("chain", "message", "message_rows", "n"),
    ("chain", "timeline", "timelines", "n"),
    ("reaction_rows", "message", "message_rows", "n"),
    ("reaction_rows", "channel", "channels", "n"),
    ("pins", "message", "message_rows", "n"),
    ("feedback", "message", "message_rows", "n"),
    ("translations", "message", "message_rows", "n"),
    ("operations", "message", "message_rows", "n"),
    ("links", "message", "message_rows", "n"),
    ("links", "channel", "channels", "n"),
    ("payloads", "row", "inbox", "id"),
    ("payload_credentials", "row", "inbox", "id"),
)
# Table, its key, and a column of compressed values.
PACKED = (
    ("message_rows", "n", "body"),
    ("version_rows", "message", "body"),
    ("operations", "seq", "body"),
    ("payloads", "row", "payload"),
)


def check_database(db: sqlite3.Connection, part: CheckedPart) -> None:
    """SQLite's own examination: pages, indexes, constraints and declared foreign keys."""
    part.examined = int(db.execute("PRAGMA page_count").fetchone()[0])
    for (result,) in db.execute("PRAGMA integrity_check(100)"):
        if result != "ok":
            part.add("the database's file", str(result), RESTORE)
    for table, row, parent, _ in db.execute("PRAGMA foreign_key_check"):
        part.add(f"row {row} of {table}", f"it names a row of {parent} that is not there", RESTORE)


def check_references(db: sqlite3.Connection, part: CheckedPart) -> None:
    """Each number that one table has of another stands there."""
    for table, column, parent, key in REFERENCES:
        found = db.execute(
            f'SELECT "{column}" FROM "{table}" WHERE "{column}" IS NOT NULL AND "{column}" NOT IN'  # noqa: S608 - our own names
            f' (SELECT "{key}" FROM "{parent}") LIMIT {_MOST}'
        ).fetchall()
        part.examined += db.execute(f'SELECT count("{column}") FROM "{table}"').fetchone()[0]  # noqa: S608
        for (value,) in found:
            what = f"it names row {value} of {parent}, which is not there"
            part.add(f"{table}.{column} {value}", what, RESTORE)


def check_values(db: sqlite3.Connection, part: CheckedPart) -> None:
    """Each compressed value can be read."""
    for table, key, column in PACKED:
        for number, value in db.execute(f'SELECT "{key}", "{column}" FROM "{table}"'):  # noqa: S608
            part.examined += 1
            try:
                unpack(value if isinstance(value, bytes) else str(value).encode())
            except zlib.error as error:
                what = f"its {column} cannot be read ({error})"
                part.add(f"row {number} of {table}", what, RESTORE)


def check_timelines(db: sqlite3.Connection, part: CheckedPart) -> None:
    """A conversation is as long as it says, and its messages are numbered without a gap."""
    part.examined = db.execute(SQL["timelines"]).fetchone()[0]
    for own_id, length, count, last in db.execute(SQL["wrong_lengths"]):
        what = f"it says {length} messages and has {count}, the last with number {last}"
        part.add(f"conversation {own_id}", what, RESTORE)


def check_index(db: sqlite3.Connection, part: CheckedPart) -> None:
    """Each message is in the search index, and nothing else is."""
    part.examined = db.execute(SQL["to_be_indexed"]).fetchone()[0]
    for (own_id,) in db.execute(SQL["not_indexed"], (_MOST,)).fetchall():
        part.add(f"message {own_id}", "a search does not find it", REINDEX)
    for (moment,) in db.execute(SQL["indexed_alone"], (_MOST,)).fetchall():
        part.add(f"entry {moment} of the search index", "its message is not there", REINDEX)
