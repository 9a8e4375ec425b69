"""The `uacs-bridge db` commands: migrate, back up, restore, encrypt, index, start a new store."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from bridge.errors import StoreCorrupt, StoreError
from bridge.store import cleaning, engine, schema
from bridge.store.blobs import recrypt
from bridge.store.faults import translated
from bridge.store.lock import StoreLock
from bridge.store.place import make_folder, must_not_be_gone, standing, sync_folder
from bridge.store.vault import (
    NEW_VARIABLE,
    VARIABLE,
    DataKey,
    data_key_of,
    is_encrypted,
    new_vault,
    open_vault,
    users_key,
    vault_of,
    write_vault,
)

Recrypt = Callable[[bytes, bool], int]
"""Encrypts files with a key, or decrypts them (False); returns how many were changed."""

_BLOCK = 1024 * 1024  # bytes that are overwritten at once


def _nothing_elsewhere(_key: bytes, _encrypt: bool) -> int:
    return 0


def schema_version(path: Path) -> int:
    """Return the schema version of a store. Raises StoreError for a file that is no store."""
    with translated(path):
        _must_exist(path)
        with closing(schema.connect(path, "ro")) as db:
            schema.check_ours(db, path)
            return schema.version_of(db)


def migrate(path: Path) -> tuple[int, int]:
    """Migrate a store that nobody uses to the newest schema. Returns the versions before and after.

    Raises:
        SchemaTooNew: the store is newer than this version of the bridge.
    """
    before = schema_version(path)
    with translated(path), closing(StoreLock(path)) as lock:
        checked = not lock.clean or schema.is_small(path)
        schema.open_to_write(path, checked=checked).close()
        lock.opened = True
    return before, schema_version(path)


def backup(path: Path, target: Path) -> None:
    """Write a consistent copy; the store may be in use. `target` must not exist.

    The copy does not contain the key that seals secrets: back up the key file separately.
    """
    with translated(path):
        _must_exist(path)
        schema.copy_to(path, target)


def restore(source: Path, path: Path) -> Path | None:
    """Put a backup in a store's place. Returns where the replaced store is now, if there was one.

    Raises:
        StoreError: the store is in use, or the backup is invalid; then nothing has changed.
    """
    with translated(source):
        if standing(source, "backup") == "nothing":
            raise StoreError(f"There is no backup {str(source)!r}; check the path")
        _check(source)
    with translated(path):
        with suppress(StoreCorrupt):  # a damaged store is what a backup is for
            standing(path)
        make_folder(path.parent)
        with closing(StoreLock(path)) as lock:
            before = _exchange(source, path)
            lock.opened = True
    return before


def create(path: Path) -> Path | None:
    """Create an empty store where the old file is missing. Returns where its remains are now, if
    any.

    Raises:
        StoreError: there is a store at this path.
    """
    with translated(path):
        if standing(path) == "store":
            raise StoreError(f"The store {str(path)!r} is there; nothing was changed")
        make_folder(path.parent)
        with closing(StoreLock(path)) as lock:
            before = _put_aside(path)
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            schema.open_to_write(path, checked=False).close()
            lock.opened = True
    return before


def encrypt(path: Path, elsewhere: Recrypt = _nothing_elsewhere) -> int:
    """Encrypt a store that nobody uses, with the key in UACS_BRIDGE_STORE_KEY, and its files, also
    those `elsewhere`. A call that was interrupted is finished by the next one. Returns how many
    files were encrypted.

    Raises:
        StoreError: the store is in use, there is no key, or no room for a copy.
    """
    with _alone(path):
        if not is_encrypted(path):
            vault = new_vault(users_key(VARIABLE, path))
            write_vault(vault_of(path), vault)
            _convert(path, None, open_vault(path, users_key(VARIABLE, path)))
        key = data_key_of(path)
        if key is None:
            return 0
        return recrypt(_files(path), key.files, encrypt=True) + elsewhere(key.files, True)


def decrypt(path: Path, elsewhere: Recrypt = _nothing_elsewhere) -> int:
    """Decrypt a store that nobody uses, its files first, also those `elsewhere`. A call that was
    interrupted is finished by the next one. Returns how many files were decrypted.

    Raises:
        StoreError: the store is in use or not encrypted, the key is wrong, or there is no room.
    """
    with _alone(path):
        key = data_key_of(path)
        if key is None:
            raise StoreError(f"The store {str(path)!r} is not encrypted")
        decrypted = elsewhere(key.files, False) + recrypt(_files(path), key.files, encrypt=False)
        _convert(path, key, None)
        vault_of(path).unlink()
        return decrypted


def change_key(path: Path) -> None:
    """Change the user's key of a store that nobody uses from UACS_BRIDGE_STORE_KEY to
    UACS_BRIDGE_NEW_STORE_KEY; the data stay as they are.

    Raises:
        StoreError: the store is in use or not encrypted, or a key is missing or wrong.
    """
    with _alone(path):
        key = data_key_of(path)
        if key is None:
            raise StoreError(f"The store {str(path)!r} is not encrypted: uacs-bridge db encrypt")
        write_vault(vault_of(path), new_vault(users_key(NEW_VARIABLE, path), key))


def vacuum(path: Path) -> None:
    """Write the database of a store that nobody uses anew, without free pages.

    Raises:
        StoreError: the store is in use, or there is no room for a copy.
    """
    with _alone(path):
        cleaning.vacuum(path)
        cleaning.empty_log(path)


def reindex(path: Path) -> None:
    """Build the search index of a store that nobody uses anew, from its messages.

    Raises:
        StoreError: the store is in use.
    """
    with _alone(path), closing(schema.open_to_write(path, checked=False)) as db:
        schema.rebuild_search_index(db)


@contextmanager
def _alone(path: Path) -> Generator[None]:
    """Hold the lock of an existing store."""
    with translated(path):
        _must_exist(path)
        with closing(StoreLock(path)) as lock:
            lock.opened = True
            yield


def _files(path: Path) -> Path:
    return path.with_suffix(".blobs")


def _convert(path: Path, key: DataKey | None, new_key: DataKey | None) -> None:
    """Write the database anew with another key, and put it in the place of the old one, whose bytes
    are overwritten."""
    with closing(schema.connect(path, "rw")) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        db.execute("PRAGMA journal_mode = DELETE")  # nothing of it is in another file
        before = _counts(db)
    with schema.part_of(path) as part:
        engine.copy(path, key, part, new_key)
        with closing(schema.connect_with(part, "ro", new_key)) as copy:
            schema.check_whole(copy, part)
            if _counts(copy) != before:
                raise StoreError(f"The copy of {str(path)!r} is not like it; nothing was changed")
        with part.open("rb") as file, path.open("r+b") as old:
            os.fsync(file.fileno())
            part.rename(path)
            sync_folder(path.parent)
            _overwrite(old)


def _counts(db: sqlite3.Connection) -> dict[str, int]:
    """The number of rows of each table that holds them."""
    tables: list[tuple[str]] = db.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
    ).fetchall()
    counting = 'SELECT count(*) FROM "{}"'
    return {name: db.execute(counting.format(name)).fetchone()[0] for (name,) in tables}


def _overwrite(file: BinaryIO) -> None:
    """As far as a disk writes in place."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    for at in range(0, size, _BLOCK):
        file.write(bytes(min(_BLOCK, size - at)))
    file.flush()
    os.fsync(file.fileno())


def _must_exist(path: Path) -> None:
    """Raises StoreError for what is no store; also says when one is gone."""
    if standing(path) == "nothing":
        must_not_be_gone(path)
        raise StoreError(f"There is no store {str(path)!r}; check the path")


def _check(source: Path) -> None:
    with closing(schema.connect(source, "ro")) as db:
        schema.check_ours(db, source)
        schema.check_not_newer(db, source, schema.newest_version())
        schema.check_whole(db, source)
        if schema.version_of(db) == 0:
            raise StoreError(f"{str(source)!r} is empty, no backup of a store")


def _exchange(source: Path, path: Path) -> Path | None:
    """Through SQLite, so that a backup with a write-ahead log of its own is whole, too."""
    with schema.part_of(path) as part:
        schema.copy_database(source, part)
        with part.open("rb") as file:
            os.fsync(file.fileno())
        before = _put_aside(path)
        schema.copy_vault(source, path)
        part.rename(path)
        sync_folder(path.parent)
    return before


def _put_aside(path: Path) -> Path | None:
    """Rename the old store with what SQLite keeps beside it, so that it stays readable."""
    aside = _free_name(path)
    for suffix in ("-wal", "-shm", ".vault", ""):
        old = path.with_name(path.name + suffix)
        if old.exists():  # a log without its file does not belong to the file that comes
            shutil.move(old, aside.with_name(aside.name + suffix))
    return aside if aside.exists() else None


def _free_name(path: Path) -> Path:
    number = 1
    while (aside := path.with_name(f"{path.name}.replaced-{number}")).exists():
        number += 1
    return aside
