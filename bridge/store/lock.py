"""Lets one process write a store: a lock beside its file, held while the store is open."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import IO

from bridge.errors import StoreError
from bridge.store.place import Identity, identity

_CLEAN = "clean\n"


class StoreLock:
    """Acquires the lock when created; `close` or the end of the process releases it.

    `clean`: the former holder released it and did not crash. The holder sets `opened` once the
    store exists: then the lock's file stays, else nothing is left behind.
    """

    def __init__(self, path: Path) -> None:
        self._where = path.with_name(path.name + ".lock")
        self._file = _locked_file(path, self._where)
        self._before = self._file.read()
        self.clean = self._before in ("", _CLEAN)
        self.opened = False
        _replace(self._file, f"pid {os.getpid()}\n")

    def close(self) -> None:
        if not self.opened and not self._before:
            self._where.unlink(missing_ok=True)
        else:
            _replace(self._file, _CLEAN if self.opened else self._before)
        self._file.close()


def _replace(file: IO[str], text: str) -> None:
    file.seek(0)
    file.truncate()
    file.write(text)
    file.flush()


def _locked_file(path: Path, where: Path) -> IO[str]:
    while True:
        file = _locked(path, where)
        if identity(where) == _identity(file):
            return file
        file.close()  # whoever held it took it away: it was the lock of nothing


def _locked(path: Path, where: Path) -> IO[str]:
    file = os.fdopen(os.open(where, os.O_RDWR | os.O_CREAT, 0o600), "r+", encoding="utf-8")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        holder = file.read().strip() or "unknown"
        file.close()
        raise StoreError(
            f"The store {str(path)!r} is in use by another process ({holder}); stop it, or give "
            "this one another store"
        ) from None
    return file


def _identity(file: IO[str]) -> Identity:
    status = os.fstat(file.fileno())
    return status.st_dev, status.st_ino
