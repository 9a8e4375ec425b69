"""The store in a PostgreSQL database: where its units of work run."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Literal, TypeVar, TypeVarTuple

import psycopg

from bridge.errors import StoreError
from bridge.model.assignments import ClusterState
from bridge.ports.clock import Clock
from bridge.store.connection import Connection
from bridge.store.postgresql import schema, search, sharing, tables
from bridge.store.postgresql.address import Address, connect
from bridge.store.postgresql.connection import PostgresConnection
from bridge.store.postgresql.faults import is_lost, translated
from bridge.store.postgresql.lease import Lease
from bridge.store.postgresql.membership import Membership
from bridge.store.postgresql.writer import PostgresWriter
from bridge.store.seal import Seal, check_key
from bridge.store.sql_store import SqlStore

_READERS = 4  # connections that read
_SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
# What an erasure leaves in these is overwritten by later rows once it is vacuumed.
_ERASED_TABLES = (
    "message_rows", "version_rows", "payloads", "payload_blocks", "words", "operations", "people",
    "authors", "inbox", "reaction_rows",
)  # fmt: skip

_TAUGHT = (search, tables)  # their imports teach the units of work PostgreSQL's ways

T = TypeVar("T")
Ts = TypeVarTuple("Ts")
Kind = Literal["look", "snapshot"]


async def open_postgres(address: Address, *, clock: Clock, key: bytes | None) -> PostgresStore:
    """Open the store for this process alone; an empty database becomes one.

    `key` (32 bytes) seals secrets; without it, sealed values can be neither kept nor read.

    Raises:
        SchemaTooNew: the store is of a newer version of the bridge.
        StoreError: the server cannot be reached or refuses, the database is another program's, or
            another process uses the store.
        ConfigError: the address cannot be parsed.
    """
    seal = Seal(key)
    lease, db = await asyncio.to_thread(opened, address, seal, Lease)
    return PostgresStore(address, clock, seal, PostgresWriter(address, db, lease), lease)


async def open_postgres_to_read(
    address: Address, *, clock: Clock, key: bytes | None = None
) -> PostgresStore:
    """Look into a store, also while another process works with it; whatever writes raises."""

    def check() -> None:
        with translated(str(address)), closing(connect(address)) as db:
            schema.check_current(db, str(address))

    await asyncio.to_thread(check)
    return PostgresStore(address, clock, Seal(key))


Holder = TypeVar("Holder", Lease, Membership)


def opened(
    address: Address, seal: Seal, hold: Callable[[Address, PostgresConnection], Holder]
) -> tuple[Holder, PostgresConnection]:
    """Connect, bring the schema up to date, and hold the store with `hold`."""
    with translated(str(address)), ExitStack() as undo:
        db = connect(address)
        undo.callback(db.close)
        schema.migrate(db, str(address))
        holder = hold(address, db)
        undo.callback(holder.close)
        schema.check_joined(db, str(address))
        holder.sign(db)
        check_key(db, seal)
        undo.pop_all()
    return holder, db


def state_of(address: Address) -> tuple[int | None, int]:
    """Return the schema version of a database, None for an empty one, and the newest version. A
    newer store works with this version of the bridge.

    Raises:
        SchemaTooNew: the store is too new for this version of the bridge.
        StoreError: the database cannot be reached, or holds tables of another program.
    """
    with translated(str(address)), closing(connect(address)) as db:
        version = schema.version_of(db)
        if version is None:
            schema.check_empty(db, str(address))
        else:
            schema.check_not_newer(db, str(address))
        return version, schema.newest_version()


def migrate(address: Address) -> tuple[int, int]:
    """Bring a store to the newest schema. Returns the versions before and after.

    Raises:
        SchemaTooNew: the store is newer than this version of the bridge.
        StoreError: there is no store.
    """
    with translated(str(address)), closing(connect(address)) as db:
        before = schema.version_of(db)
        if before is None:
            raise StoreError(f"There is no store in {str(address)!r}; `uacs-bridge run` makes it")
        return before, schema.migrate(db, str(address))


class PostgresStore(SqlStore):
    """Made by `open_postgres`. Belongs to the event loop it was opened in.

    Writes go to the writer's thread, reads to a few threads with a connection each.
    """

    def __init__(
        self,
        address: Address,
        clock: Clock,
        seal: Seal,
        writer: PostgresWriter | None = None,
        lease: Lease | Membership | None = None,
    ) -> None:
        super().__init__(clock, seal)
        self.name = str(address)
        self.writer = writer
        self._lease = lease
        self._readers = _Readers(address)
        self._closed = False

    async def _write(self, unit: Callable[[Connection, *Ts], T], *args: *Ts) -> T:
        if self.writer is None:
            raise StoreError(f"The store {self.name!r} was opened to be read only")
        return await self.writer.run(unit, *args)

    async def _look(self, read: Callable[[Connection, *Ts], T], *args: *Ts) -> T:
        self._must_be_open()
        return await self._readers.run("look", read, *args)

    async def _read(self, read: Callable[[Connection, *Ts], T], *args: *Ts) -> T:
        self._must_be_open()
        return await self._readers.run("snapshot", read, *args)

    async def _read_apart(self, read: Callable[[Connection, *Ts], T], *args: *Ts) -> T:
        self._must_be_open()
        return await asyncio.to_thread(self._readers.apart, read, *args)

    def _must_be_open(self) -> None:
        if self._closed:
            raise StoreError(f"The store {self.name!r} is closed")

    async def cluster_state(self) -> ClusterState:
        """Return the processes that share the store, and what each works for. Raises StoreError."""
        return await self._read(sharing.everything)

    async def overwrite_freed(self, *, alone: bool) -> bool:
        del alone
        await asyncio.to_thread(self._readers.vacuum, _ERASED_TABLES)
        return True

    async def backup(self, target: Path) -> None:
        raise StoreError(
            f"The store {self.name!r} is backed up by its server's own tools, not to "
            f"{str(target)!r}: pg_dump, or pg_basebackup with continuous archiving"
        )

    async def close(self) -> None:
        """Finish what was submitted; a second call does nothing."""
        if self._closed:
            return
        self._closed = True
        if self.writer is not None:
            await self.writer.close()
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._readers.close()
        if self._lease is not None:
            self._lease.close()


class _Readers:
    """Threads that read, each over a connection of its own that is made when it is needed."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._name = str(address)
        self._threads = ThreadPoolExecutor(_READERS, thread_name_prefix="store-reader")
        self._local = threading.local()
        self._opened: list[PostgresConnection] = []

    async def run(self, kind: Kind, read: Callable[[Connection, *Ts], T], *args: *Ts) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, lambda: self._run(kind, read, *args))

    def apart(self, read: Callable[[Connection, *Ts], T], *args: *Ts) -> T:
        with translated(self._name), closing(connect(self._address)) as db:
            return _in_snapshot(db, read, *args)

    def vacuum(self, names: tuple[str, ...]) -> None:
        with translated(self._name), closing(connect(self._address)) as db:
            db.control(f"VACUUM {', '.join(names)}")

    def close(self) -> None:
        self._threads.shutdown()
        for db in self._opened:
            db.close()

    def _run(self, kind: Kind, read: Callable[[Connection, *Ts], T], *args: *Ts) -> T:
        with translated(self._name):
            try:
                return self._once(kind, read, *args)
            except psycopg.Error as error:
                if not is_lost(error):
                    raise
                self._local.db = None
                return self._once(kind, read, *args)  # over a new connection

    def _once(self, kind: Kind, read: Callable[[Connection, *Ts], T], *args: *Ts) -> T:
        db: PostgresConnection | None = getattr(self._local, "db", None)
        if db is None or db.native.closed:
            db = self._local.db = connect(self._address)
            self._opened.append(db)
        return read(db, *args) if kind == "look" else _in_snapshot(db, read, *args)


def _in_snapshot(db: PostgresConnection, read: Callable[[Connection, *Ts], T], *args: *Ts) -> T:
    db.control(_SNAPSHOT)
    try:
        return read(db, *args)
    finally:
        if not db.native.closed:
            db.control("ROLLBACK")
