"""The store: SQLite, in a file or, for tests, in memory."""

from __future__ import annotations

from bridge.store.seal import load_or_make_key, text_to_key
from bridge.store.sqlite import SqliteStore, open_sqlite, open_sqlite_to_read

__all__ = [
    "SqliteStore",
    "load_or_make_key",
    "open_sqlite",
    "open_sqlite_to_read",
    "text_to_key",
]
