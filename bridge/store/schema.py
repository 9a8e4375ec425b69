"""Opens connections with the newest schema; migrations are numbered SQL files."""

from __future__ import annotations

import atexit
import os
import re
import sqlite3
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Literal
from uuid import uuid4

from bridge.errors import SchemaTooNew, StoreError
from bridge.store import chain, engine, message_keys, packing, payload_blocks, search
from bridge.store.faults import corrupt
from bridge.store.place import APPLICATION_ID, make_folder
from bridge.store.vault import DataKey, data_key_of, vault_of, write_vault

_CHECKED_FIRST = 16 * 1024 * 1024  # bytes, in some 30 ms
_CACHE = 16_384  # KiB of pages that the writer keeps
_RENAMED = re.compile(r"^-- Renamed: (.+)$", re.MULTILINE)
Synchronous = Literal["FULL", "NORMAL"]


def is_small(path: Path) -> bool:
    """Tell whether a full read (about 2 s per GB) is short enough to go unnoticed."""
    return path.stat().st_size <= _CHECKED_FIRST


def open_to_write(
    path: Path, *, checked: bool, synchronous: Synchronous = "FULL"
) -> sqlite3.Connection:
    """Return a connection with the newest schema, `checked` for damage. The caller controls
    transactions."""
    steps = migrations()
    db = connect(path, "rw")
    try:
        check_ours(db, path)
        check_not_newer(db, path, max(steps))
        if checked:
            check_whole(db, path)
        _set_up(db, path, synchronous)
        is_new = version_of(db) == 0
        if is_new and isinstance(db, sqlite3.Connection):  # SQLCipher cannot copy from it
            _newest_schema().backup(db)
        migrate(db, steps)
        if is_new:  # nothing was ever freed without being overwritten
            db.execute("INSERT INTO meta (key, value) VALUES ('overwrites_freed', 1)")
        build_search_index(db)
        build_chain(db)
        # What savepoints remember. Not before: a migration may sort more than memory holds.
        db.execute("PRAGMA temp_store = MEMORY")
    except BaseException:
        db.close()
        raise
    return db


def _set_up(db: sqlite3.Connection, path: Path, synchronous: Synchronous) -> None:
    (mode,) = db.execute("PRAGMA journal_mode = WAL").fetchone()
    if mode != "wal":
        raise StoreError(f"The disk of {str(path)!r} bears no write-ahead log; choose a local disk")
    db.execute("PRAGMA secure_delete = ON")  # what is deleted is overwritten
    db.execute("PRAGMA journal_size_limit = 67108864")
    db.execute("PRAGMA wal_autocheckpoint = 4000")  # 16 MB: hot pages are copied back less often
    db.execute(f"PRAGMA synchronous = {synchronous}")
    db.execute(f"PRAGMA cache_size = -{_CACHE}")


def open_to_read(path: Path) -> sqlite3.Connection:
    """Return a read-only connection. Raises StoreError unless the store has this version's
    schema."""
    newest = newest_version()
    db = connect(path, "ro")
    try:
        check_ours(db, path)
        check_not_newer(db, path, newest)
        _check_not_older(db, path, newest)
    except BaseException:
        db.close()
        raise
    return db


def connect(path: Path, mode: Literal["rw", "ro"]) -> sqlite3.Connection:
    """Open the file of a store, encrypted or not. Raises StoreError without its key."""
    return connect_with(path, mode, data_key_of(path))


def connect_with(path: Path, mode: Literal["rw", "ro"], key: DataKey | None) -> sqlite3.Connection:
    """Open a file that is encrypted with this key, or with none."""
    db = engine.connect(path, mode, key)
    db.execute("PRAGMA busy_timeout = 5000")
    _add_functions(db)
    return db


def _add_functions(db: sqlite3.Connection) -> None:
    packing.add_functions(db)
    message_keys.add_functions(db)
    payload_blocks.add_functions(db)


def connect_in_memory() -> sqlite3.Connection:
    """Return a new database in memory with the newest schema."""
    db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    _add_functions(db)
    _newest_schema().backup(db)
    return db


@cache
def _newest_schema() -> sqlite3.Connection:
    """An empty store to copy from: the migrations cost more than the copy."""
    db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    migrate(db, migrations())
    build_search_index(db)
    build_chain(db)
    atexit.register(db.close)
    return db


def version_of(db: sqlite3.Connection) -> int:
    return db.execute("PRAGMA user_version").fetchone()[0]


def migrations() -> Mapping[int, str]:
    """Return by schema version the SQL that migrates from the version before."""
    return dict(sorted(_migrations(files("bridge.store").joinpath("migrations"))))


def renamed_between(before: int, after: int) -> Sequence[str]:
    """What the migrations after `before`, up to `after`, renamed: `table shelf -> key_values`."""
    return [
        renaming
        for version, script in migrations().items()
        if before < version <= after
        for renaming in _RENAMED.findall(script)
    ]


def newest_version() -> int:
    return max(migrations())


def _migrations(folder: Traversable) -> Iterator[tuple[int, str]]:
    for file in folder.iterdir():
        if file.name.endswith(".sql"):
            yield int(file.name.split("_", 1)[0]), file.read_text("utf-8")


def check_ours(db: sqlite3.Connection, path: Path) -> None:
    """Raise StoreError for a file of another program."""
    application = db.execute("PRAGMA application_id").fetchone()[0]
    tables = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if application != APPLICATION_ID and tables:
        raise StoreError(f"{str(path)!r} is an SQLite file, but no store of the bridge")


def check_not_newer(db: sqlite3.Connection, path: Path, newest: int) -> None:
    """Raise SchemaTooNew for a store of a newer version of the bridge."""
    if version_of(db) > newest:
        raise SchemaTooNew(
            f"The store {str(path)!r} has schema {version_of(db)}, this version of the bridge "
            f"knows up to {newest}; install the newer version, or restore an older backup"
        )


def _check_not_older(db: sqlite3.Connection, path: Path, newest: int) -> None:
    if version_of(db) < newest:
        raise StoreError(
            f"The store {str(path)!r} has schema {version_of(db)}, this version of the bridge "
            f"needs {newest}: uacs-bridge db migrate"
        )


def check_whole(db: sqlite3.Connection, path: Path) -> None:
    """Raise StoreCorrupt when SQLite finds damage."""
    (result,) = db.execute("PRAGMA quick_check(1)").fetchone()
    if result != "ok":
        raise corrupt(path, result)


def migrate(db: sqlite3.Connection, steps: Mapping[int, str]) -> int:
    """Apply the missing migrations, each in one transaction. Returns the version that was
    reached."""
    _add_functions(db)  # which migrations call
    for version, script in sorted(steps.items()):
        if version > version_of(db):
            _apply(db, version, script)
    return version_of(db)


def build_search_index(db: sqlite3.Connection) -> None:
    """Build the full-text index of a store that has none, or one of another version of the code."""
    if search.is_current(db):
        return
    with _transaction(db):
        search.build(db)


def rebuild_search_index(db: sqlite3.Connection) -> None:
    """Build the full-text index anew, from the messages."""
    with _transaction(db):
        search.build(db)


def build_chain(db: sqlite3.Connection) -> None:
    """Make the hash chain of a store that has none."""
    if chain.is_current(db):
        return
    with _transaction(db):
        chain.build(db, time.time())


def _apply(db: sqlite3.Connection, version: int, script: str) -> None:
    with _transaction(db):
        for statement in _statements(script):
            db.execute(statement)
        db.execute(
            "INSERT INTO meta (key, value) VALUES ('schema_version', ?) "
            "ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            (version,),
        )
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute(f"PRAGMA user_version = {version}")


@contextmanager
def _transaction(db: sqlite3.Connection) -> Generator[None]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _statements(script: str) -> Iterator[str]:
    """Each statement of a migration ends with its line."""
    gathered = ""
    for line in script.splitlines(keepends=True):
        gathered += line
        if sqlite3.complete_statement(gathered):
            yield gathered
            gathered = ""


def copy_to(path: Path, target: Path) -> None:
    """Write a consistent copy of a store that may be in use; `target` must not exist."""
    if target.exists() or target.is_symlink():
        raise StoreError(f"{str(target)!r} exists already; choose another name for the backup")
    make_folder(target.parent)
    with part_of(target) as part:
        copy_database(path, part)
        copy_vault(path, target)
        part.rename(target)


def copy_vault(path: Path, target: Path) -> None:
    """Put the vault of an encrypted store beside a copy of it."""
    if data_key_of(path) is not None:
        write_vault(vault_of(target), vault_of(path).read_bytes())


@contextmanager
def part_of(target: Path) -> Generator[Path]:
    """Create an empty file beside `target` that replaces it at the end, and is deleted on
    failure."""
    part = target.with_name(f".{target.name}.{os.getpid()}-{uuid4().hex[:8]}.part")
    os.close(os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        yield part
    finally:
        part.unlink(missing_ok=True)


def copy_database(path: Path, target: Path) -> None:
    """Copy into one file in one step; writers of `path` continue meanwhile."""
    key = data_key_of(path)
    with closing(connect(path, "ro")) as source, closing(connect_with(target, "rw", key)) as copy:
        check_ours(source, path)
        source.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")
