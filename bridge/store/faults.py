"""Translates SQLite's errors to the errors of the bridge, in one place."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from bridge.errors import StoreCorrupt, StoreError, StoreFull
from bridge.store import engine

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def corrupt(path: Path, reason: str) -> StoreCorrupt:
    return StoreCorrupt(
        f"The store {str(path)!r} is damaged ({reason}); stop the bridge and restore a backup: "
        "uacs-bridge db restore BACKUP"
    )


def store_error(error: BaseException, path: Path) -> StoreError:
    """Translate an error of SQLite or of the file system to a StoreError that says what to do."""
    if isinstance(error, StoreError):
        return error
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the upper bits only say where
    if code in _DAMAGED:
        return corrupt(path, str(error))
    if isinstance(error, OSError):
        return _os_error(error, path)
    if code == sqlite3.SQLITE_FULL:
        return _full(path)
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return StoreError(
            f"The store {str(path)!r} cannot be written ({error}); give the bridge's user the "
            "file and its folder, on a disk that is not mounted read-only"
        )
    if code == sqlite3.SQLITE_IOERR:
        return StoreError(
            f"The disk of the store {str(path)!r} failed ({error}); look at the system's log, and "
            "at the disk"
        )
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreError(
            f"The store {str(path)!r} is locked by another program; close it and try again"
        )
    return StoreError(f"The store {str(path)!r} failed: {error} ({type(error).__name__})")


def _os_error(error: OSError, path: Path) -> StoreError:
    if error.errno in _NO_ROOM:
        return _full(path)
    where = "" if error.filename in (None, str(path)) else f" on {str(error.filename)!r}"
    reason = f"{error.strerror or type(error).__name__}{where}"
    todo = "give the bridge's user the file and its folder, or change store.path"
    if error.errno == errno.EROFS:
        todo = "its disk is mounted read-only: mount it for writing, or change store.path"
    elif error.errno == errno.EIO:
        todo = "look at the system's log, and at the disk"
    return StoreError(f"The store {str(path)!r} cannot be used: {reason}; {todo}")


def _full(path: Path) -> StoreFull:
    return StoreFull(
        f"No room left for the store {str(path)!r}; make room on its disk: the bridge goes "
        "on by itself, platforms hand over again what was not kept"
    )


@contextmanager
def translated(path: Path) -> Generator[None]:
    try:
        yield
    except (*engine.errors(), OSError, OverflowError) as error:
        raise store_error(error, path) from error
