"""One process writes a store: a lock beside its file, held as long as the store is open."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import IO

from bridge.errors import StoreError


class StoreLock:
    """Taken when made, given back by `close` or by the end of the process, however it ends.

    `clean`: whoever held it before gave it back, and did not crash.
    """

    def __init__(self, path: Path) -> None:
        self._file = _locked_file(path)
        self.clean = self._file.read() == ""
        _replace(self._file, f"pid {os.getpid()}\n")

    def close(self) -> None:
        _replace(self._file, "")
        self._file.close()


def _replace(file: IO[str], text: str) -> None:
    file.seek(0)
    file.truncate()
    file.write(text)
    file.flush()


def _locked_file(path: Path) -> IO[str]:
    where = path.with_name(path.name + ".lock")
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
