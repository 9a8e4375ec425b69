"""Finds the ids of all stored files that a store still names."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from bridge.store.connection import Connection
from bridge.store.tables import columns_by_table, values_with

MARK = b"blob:sha256-"
FILE_ID = re.compile(MARK + rb"[0-9a-f]{64}")
# Platforms' payloads as they came know nothing of our ids, and are the largest part of a store.
# The table of erasures names files that are to be removed.
_WITHOUT = ("payloads", "payload_blocks", "erasures")


def files_named(db: Connection, *, without: Collection[str] = ()) -> frozenset[str]:
    """Return the ids of the files that the tables name, but for those `without`.

    Reads every other table, so that no new one is forgotten. Files that only deleted messages name
    do not count.
    """
    return frozenset(
        file_id
        for table, columns in columns_by_table(db).items()
        if table not in (*_WITHOUT, *without)
        for column in columns
        for text in values_with(db, table, column, MARK, _condition(columns))
        for file_id in ids_in(text)
    )


def ids_in(text: bytes) -> Iterator[str]:
    """Return the ids of files that a text names."""
    return (match.group().decode() for match in FILE_ID.finditer(text))


def _condition(columns: Collection[str]) -> str:
    return "state <> 'deleted'" if "state" in columns else "true"
