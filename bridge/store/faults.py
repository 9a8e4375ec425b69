"""What goes wrong in SQLite -> the errors of the bridge, in one place."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from bridge.errors import StoreCorrupt, StoreError, StoreFull

_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def corrupt(path: Path, why: str) -> StoreCorrupt:
    return StoreCorrupt(
        f"The store {str(path)!r} is damaged ({why}); stop the bridge and restore a backup: "
        "uacs-bridge db restore BACKUP"
    )


def store_error(error: BaseException, path: Path) -> StoreError:
    """Any error of SQLite or of the file system -> a StoreError that says what to do."""
    if isinstance(error, StoreError):
        return error
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the upper bits only say where
    if code in _DAMAGED:
        return corrupt(path, str(error))
    if code == sqlite3.SQLITE_FULL:
        return StoreFull(
            f"No room left for the store {str(path)!r}; make room on its disk: the bridge goes "
            "on by itself, platforms hand over again what was not kept"
        )
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreError(
            f"The store {str(path)!r} is locked by another program; close it and try again"
        )
    return StoreError(f"The store {str(path)!r} failed: {error} ({type(error).__name__})")


@contextmanager
def translated(path: Path) -> Generator[None]:
    try:
        yield
    except (sqlite3.Error, OSError, OverflowError) as error:
        raise store_error(error, path) from error
