"""The store in one SQLite file: the methods of the Store port, each one unit of work."""

from __future__ import annotations

import asyncio
import sqlite3
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Self, TypeVar, TypeVarTuple

from bridge.errors import StoreError
from bridge.ports.clock import Clock
from bridge.store import (
    cleaning,
)
from bridge.store.connection import Connection
from bridge.store.faults import translated
from bridge.store.late_check import LateCheck
from bridge.store.lock import StoreLock
from bridge.store.place import begin, check_same, identity, must_not_be_gone, standing
from bridge.store.schema import (
    Synchronous,
    connect_in_memory,
    copy_to,
    is_small,
    open_to_read,
    open_to_write,
)
from bridge.store.seal import Seal, check_key
from bridge.store.sql_store import SqlStore
from bridge.store.vault import data_key_of, forget_open, remember_open
from bridge.store.writer import InlineWriter, Writer

_KEY_IN_MEMORY = bytes(32)  # what it seals is read by nobody else

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


async def open_sqlite(
    path: Path, *, clock: Clock, key: bytes | None, synchronous: Synchronous = "FULL"
) -> SqliteStore:
    """Open the store for this process alone; made, with its folder, when it is not there.

    `key` (32 bytes) seals secrets; without it, sealed values can be neither kept nor read.
    `synchronous="NORMAL"` is faster, and may lose the last moments when the machine loses power.
    Raises SchemaTooNew, StoreCorrupt, StoreGone where a store stood and its file is not there any
    more, or StoreError: something else stands there, or another process has it open.
    """
    seal = Seal(key)
    files = await asyncio.to_thread(_open, path, seal, synchronous)
    return SqliteStore(path, clock, seal, files)


async def open_sqlite_to_read(path: Path, *, clock: Clock, key: bytes | None = None) -> SqliteStore:
    """Look into a store, also while another process works with it; whatever writes raises."""
    seal = Seal(key)
    return SqliteStore(path, clock, seal, await asyncio.to_thread(_open_to_read, path))


@dataclass
class _Files:
    """What is open of one store: two connections that read, and for its owner the other two.
    `opened` is its path if it is open to write."""

    near: sqlite3.Connection
    far: sqlite3.Connection
    writing: sqlite3.Connection | None = None
    lock: StoreLock | None = None
    check: LateCheck | None = None
    same: Callable[[], None] = lambda: None
    opened: Path | None = None

    def close(self) -> None:
        if self.check is not None:
            self.check.close()
        self.near.close()
        self.far.close()
        if self.writing is not None:
            self.writing.close()  # last: it tidies the write-ahead log away
        if self.opened is not None:
            forget_open(self.opened)
        if self.lock is not None:
            self.lock.close()


def _open(path: Path, seal: Seal, synchronous: Synchronous) -> _Files:
    with translated(path), ExitStack() as undo:
        begin(path)
        lock = StoreLock(path)
        undo.callback(lock.close)
        small = is_small(path)
        remember_open(path, data_key_of(path))
        undo.callback(forget_open, path)
        writing = open_to_write(path, checked=small, synchronous=synchronous)
        undo.callback(writing.close)
        check_key(writing, seal)
        files = _readers(path)
        files.writing, files.lock, files.opened = writing, lock, path
        if not small and not lock.clean:
            files.check = LateCheck(path)
        if (opened := identity(path)) is not None:
            files.same = partial(check_same, str(path), opened)
        lock.opened = True
        undo.pop_all()
    return files


def _open_to_read(path: Path) -> _Files:
    with translated(path):
        if standing(path) != "store":
            must_not_be_gone(path)
            raise StoreError(f"There is no store {str(path)!r}; `uacs-bridge run` makes it")
        return _readers(path)


def _readers(path: Path) -> _Files:
    near = open_to_read(path)
    try:
        return _Files(near, open_to_read(path))
    except BaseException:
        near.close()
        raise


class SqliteStore(SqlStore):
    """Made by `open_sqlite`, or by `in_memory`. Belongs to the event loop it was opened in.

    Writes go to the writer's thread. Look-ups that touch a few rows are read in the loop's own
    thread: 5-20 us, where a hop to another thread and back costs 110 us of CPU. Reads of any
    size have a thread of their own.
    """

    def __init__(self, path: Path, clock: Clock, seal: Seal, files: _Files) -> None:
        super().__init__(clock, seal)
        self.path = path
        self.writer = None
        if files.writing is files.near:
            self.writer = InlineWriter(files.near, path)
        elif files.writing is not None:
            self.writer = Writer(files.writing, path, files.same)
        self._files = files
        self._far_thread = ThreadPoolExecutor(1, thread_name_prefix="store-reader")
        self._closed = False

    @classmethod
    def in_memory(cls, clock: Clock, *, key: bytes | None = _KEY_IN_MEMORY) -> Self:
        """A store that ends with the process; it does all its work in the caller's thread, without
        ever giving way to another task. For tests."""
        db = connect_in_memory()
        seal = Seal(key)
        check_key(db, seal)
        store = cls(Path(":memory:"), clock, seal, _Files(db, db, db))
        weakref.finalize(store, db.close)  # Python 3.13 warns of a connection that nobody closed
        return store

    @property
    def late_check(self) -> LateCheck | None:
        """Set where the store was large and not closed cleanly."""
        return self._files.check

    # --- how to get there ---------------------------------------------------------------------

    async def _write(self, unit: Callable[[Connection, *Ts], T], *args: *Ts) -> T:
        if self.writer is None:
            raise StoreError(f"The store {str(self.path)!r} was opened to be read only")
        if self._files.check is not None and self._files.check.damage is not None:
            raise self._files.check.damage
        return await self.writer.run(unit, *args)

    async def _look(self, read: Callable[[Connection, *Ts], T], *args: *Ts) -> T:
        """In this thread, now; sees everything that was awaited."""
        self._must_be_open()
        with translated(self.path):
            return read(self._files.near, *args)

    async def _read(self, read: Callable[[Connection, *Ts], T], *args: *Ts) -> T:
        """In the reading thread, from one snapshot."""
        if self._files.far is self._files.near:
            return await self._look(read, *args)
        self._must_be_open()
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._far_thread, lambda: self._snapshot(read, *args))

    def _snapshot(self, read: Callable[[Connection, *Ts], T], *args: *Ts) -> T:
        with translated(self.path):
            db = self._files.far
            db.execute("BEGIN")
            try:
                return read(db, *args)
            finally:
                db.execute("COMMIT")

    def _must_be_open(self) -> None:
        if self._closed:
            raise StoreError(f"The store {str(self.path)!r} is closed")

    async def overwrite_freed(self, *, alone: bool) -> bool:
        more = await self._write(partial(cleaning.merge_index, first=True))
        while more:
            more = await self._write(partial(cleaning.merge_index, first=False))
        if self._files.far is self._files.near:  # in memory
            return True
        if await self._look(cleaning.needs_vacuum):
            if not alone:
                return False
            await asyncio.to_thread(cleaning.vacuum, self.path)
        return await asyncio.to_thread(cleaning.empty_log, self.path)

    async def _read_apart(self, read: Callable[[Connection, *Ts], T], *args: *Ts) -> T:
        if self._files.far is self._files.near:  # in memory
            return await self._look(read, *args)
        return await asyncio.to_thread(self._apart, read, *args)

    def _apart(self, read: Callable[[Connection, *Ts], T], *args: *Ts) -> T:
        with translated(self.path), closing(open_to_read(self.path)) as db:
            return read(db, *args)

    async def backup(self, target: Path) -> None:
        self._must_be_open()
        with translated(target):
            await asyncio.to_thread(copy_to, self.path, target)

    async def close(self) -> None:
        """Finish what was submitted; a second call does nothing."""
        if self._closed:
            return
        self._closed = True
        if self.writer is not None:
            await self.writer.close()
        await asyncio.to_thread(self._close_files)

    def _close_files(self) -> None:
        self._far_thread.shutdown()
        self._files.close()
