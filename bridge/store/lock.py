"""One process writes a store: a lock beside its file, held as long as the store is open."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import IO

from bridge.errors import StoreError


class StoreLock:
    """Taken when made, given back by `close` or by the end of the process, however it ends."""

    def __init__(self, path: Path) -> None:
        self._file = _lock_file(path)

    def close(self) -> None:
        self._file.close()


def _lock_file(path: Path) -> IO[str]:
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
    file.truncate(0)
    file.write(f"pid {os.getpid()}\n")
    file.flush()
    return file
