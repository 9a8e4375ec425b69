"""The bytes of a store that may be in use, as of one moment: its database and its log.

A reader holds the log: what is in it stays until the reader ends. Pages that are copied from the
log into the database meanwhile are in the log, too, and SQLite takes them from there. So both files
together are a whole store, though the database is read while it changes. The bytes of an encrypted
store are taken as they are.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import BinaryIO

from bridge.errors import StoreError
from bridge.store import schema
from bridge.store.vault import data_key_of, vault_of

_HEADER, _FRAME_HEADER = 32, 24  # bytes of a log's header, and of that before each page
_TRIES = 10


class Snapshot:
    """The two files of a store, readable until the block ends."""

    def __init__(self, path: Path, database: BinaryIO, vault: bytes) -> None:
        self.vault = vault
        self._log = path.with_name(f"{path.name}-wal")
        self._database = database

    def database(self, block: int) -> Iterator[bytes]:
        """The database, block by block."""
        self._database.seek(0)
        while piece := self._database.read(block):
            yield piece

    def log(self) -> bytes:
        """The log up to its last transaction; to be read after the database. Raises StoreError."""
        for _ in range(_TRIES):
            frames = self._frames()
            if frames is not None:
                return frames
        raise StoreError(f"The log {str(self._log)!r} changes too fast; try again")

    def _frames(self) -> bytes | None:
        """None when the log was begun anew while it was read: then the frames do not belong to one
        another."""
        try:
            with self._log.open("rb") as file:
                header = file.read(_HEADER)
                if len(header) < _HEADER:
                    return b""
                whole = header + _transactions(file, header)
                file.seek(0)
                return whole if file.read(_HEADER) == header else None
        except FileNotFoundError:
            return b""


def _transactions(file: BinaryIO, header: bytes) -> bytes:
    """The frames that belong to the header, up to the last that ends a transaction."""
    size, salts = int.from_bytes(header[8:12], "big") + _FRAME_HEADER, header[16:24]
    frames: list[bytes] = []
    ended = 0
    while len(frame := file.read(size)) == size and frame[8:16] == salts:
        frames.append(frame)
        if frame[4:8] != bytes(4):
            ended = len(frames)
    return b"".join(frames[:ended])


@contextmanager
def snapshot(path: Path) -> Generator[Snapshot]:
    """Hold the store as it is now; writers go on. Raises StoreError."""
    key = data_key_of(path)
    vault = b"" if key is None else vault_of(path).read_bytes()
    with ExitStack() as ends:
        # Closed after the connection: closing any handle of a file ends all locks that this process
        # has on it (POSIX).
        database = ends.enter_context(path.open("rb"))
        # Read-only: a connection that may write removes the log when it is closed, if it takes
        # itself for the last one.
        db = ends.enter_context(closing(schema.connect_with(path, "ro", key)))
        schema.check_ours(db, path)
        db.execute("BEGIN")
        db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        yield Snapshot(path, database, vault)
