"""Finds the ids of all stored files that a store still names."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Collection, Iterator
from contextlib import closing
from pathlib import Path

from bridge.store.faults import translated
from bridge.store.schema import open_to_read

MARK = b"blob:sha256-"
FILE_ID = re.compile(MARK + rb"[0-9a-f]{64}")
# Platforms' payloads as they came know nothing of our ids, and are the largest part of a store.
_WITHOUT = ("payloads", "payload_blocks")
_TO_REMOVE = "erasures"  # this table names files that are to be removed


def files_in_use(path: Path) -> frozenset[str]:
    """Return the ids of the files that a store names; the store may be in use.

    Reads every table, so that no new one is forgotten. Files that only deleted messages name do not
    count.
    """
    with translated(path), closing(open_to_read(path)) as db:
        return files_named(db)


def files_named(db: sqlite3.Connection, *, without: Collection[str] = ()) -> frozenset[str]:
    """Return the ids of the files that the tables name, but for those `without`."""
    return frozenset(
        file_id
        for table in _tables(db)
        if table not in without
        for text in _naming(db, table)
        for file_id in ids_in(text)
    )


def ids_in(text: bytes) -> Iterator[str]:
    """Return the ids of files that a text names."""
    return (match.group().decode() for match in FILE_ID.finditer(text))


def _tables(db: sqlite3.Connection) -> list[str]:
    tables: list[tuple[str]] = db.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
    ).fetchall()
    return [name for (name,) in tables if name not in (*_WITHOUT, _TO_REMOVE)]


def _naming(db: sqlite3.Connection, table: str) -> Iterator[bytes]:
    """The values in the table that name a file."""
    columns = [name for (name,) in db.execute("SELECT name FROM pragma_table_info(?)", (table,))]
    standing = "state <> 'deleted'" if "state" in columns else "true"
    for column in columns:
        value = f'unpacked(CAST("{column}" AS BLOB))'
        rows = db.execute(
            f'SELECT {value} FROM "{table}" WHERE instr({value}, ?) AND {standing}',  # noqa: S608 - names from the schema
            (MARK,),
        )
        yield from (text for (text,) in rows)
