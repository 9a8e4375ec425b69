"""Opens the store that settings name: a file of SQLite, or a PostgreSQL database.

Whatever stands beside the store, such as its key and its stored files, is beside `store.path` in
both cases.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from bridge.app.settings.keys import key_for, known_key
from bridge.app.settings.secrets import SecretReader
from bridge.errors import ConfigError, StoreError
from bridge.ports.clock import Clock
from bridge.runtime.extras import has_module, how_to_install
from bridge.store import maintenance, sizes
from bridge.store.place import begin, make_folder
from bridge.store.sizes import DatabaseSize, StoreSize
from bridge.store.sql_store import SqlStore
from bridge.store.sqlite import open_sqlite, open_sqlite_to_read

if TYPE_CHECKING:
    from bridge.app.settings.store import StoreSettings
    from bridge.store.postgresql.address import Address
    from bridge.store.postgresql.shared import SharedStore


async def open_to_write(
    settings: StoreSettings, clock: Clock, *, make_key: bool = True
) -> SqlStore:
    """Open the store for this process alone; made when it is not there. `make_key`: whether a key
    is made as well; without one, the store takes no secrets.

    Raises:
        StoreError: the store cannot be opened, or another process uses it.
        ConfigError: the password of the database is not where the settings say.
    """
    path = settings.path
    find_key = key_for if make_key else known_key
    if settings.url is None:
        await asyncio.to_thread(begin, path)  # before a key file is made beside it
        return await open_sqlite(
            path, clock=clock, key=find_key(path), synchronous=settings.synchronous
        )
    address = await address_of(settings)
    from bridge.store.postgresql.store import open_postgres

    await asyncio.to_thread(make_folder, path.parent)
    return await open_postgres(address, clock=clock, key=find_key(path))


async def open_shared(settings: StoreSettings, clock: Clock) -> SharedStore:
    """Open a PostgreSQL store as one of many processes.

    Raises:
        StoreError: the store cannot be opened, or a process has it for itself alone.
        ConfigError: the store is a file, or the password is not where the settings say.
    """
    if settings.url is None:
        raise ConfigError(
            "cluster: many processes share a store in PostgreSQL, and this one is a file; set "
            "store.url to postgresql://USER@HOST/DATABASE (uacs-bridge db copy brings it there)"
        )
    address = await address_of(settings)
    from bridge.store.postgresql.shared import open_shared as open_database

    await asyncio.to_thread(make_folder, settings.path.parent)
    return await open_database(address, clock=clock, key=key_for(settings.path))


async def open_to_read(settings: StoreSettings, clock: Clock) -> SqlStore:
    """Open the store to read, also while a bridge uses it.

    Raises:
        StoreError: there is none, or it cannot be read.
        ConfigError: the password of the database is not where the settings say.
    """
    key = known_key(settings.path)
    if settings.url is None:
        return await open_sqlite_to_read(settings.path, clock=clock, key=key)
    address = await address_of(settings)
    from bridge.store.postgresql.store import open_postgres_to_read

    return await open_postgres_to_read(address, clock=clock, key=key)


async def address_of(settings: StoreSettings) -> Address:
    """Return the address of the PostgreSQL database with its password.

    Raises:
        StoreError: the driver is not installed.
        ConfigError: the password is not where the settings say.
    """
    if not has_module("psycopg"):
        raise StoreError(
            f"store.url names a PostgreSQL database, and the package psycopg is missing: "
            f"{how_to_install('postgresql')}"
        )
    from bridge.store.postgresql.address import Address

    password = settings.password and await SecretReader(None).secret(settings.password)
    return Address(settings.url or "", password)


async def size_of(settings: StoreSettings) -> StoreSize:
    """Return the sizes of the store and of its files; it may be in use. Raises StoreError."""
    own = await database_size(settings)
    return StoreSize(own.database, own.free, own.log, *sizes.files_size(settings.path))


async def database_size(settings: StoreSettings) -> DatabaseSize:
    """Return the sizes of the store's database; it may be in use. Of a server, neither free pages
    nor the log are known; the disk that is left is the one of the files. Raises StoreError."""
    if settings.url is None:
        return await asyncio.to_thread(sizes.database_size, settings.path)
    address = await address_of(settings)
    from bridge.store.postgresql.sizes import database_size as of_server

    folder = next(folder for folder in settings.path.absolute().parents if folder.exists())
    disk = os.statvfs(folder)
    return DatabaseSize(
        await asyncio.to_thread(of_server, address), 0, 0, disk.f_bavail * disk.f_frsize
    )


async def sizes_by_subject(settings: StoreSettings) -> Mapping[str, int]:
    """Return the bytes of each subject of the store, the largest first. Raises StoreError."""
    if settings.url is None:
        return await asyncio.to_thread(sizes.sizes_by_subject, settings.path)
    address = await address_of(settings)
    from bridge.store.postgresql import sizes as of_postgresql

    return await asyncio.to_thread(of_postgresql.sizes_by_subject, address)


async def migrate(settings: StoreSettings) -> tuple[int, int]:
    """Bring a store that nobody uses to the newest schema. Returns the versions before and after.

    Raises:
        SchemaTooNew: the store is newer than this version of the bridge.
        StoreError: there is none, or it cannot be written.
    """
    if settings.url is None:
        return await asyncio.to_thread(maintenance.migrate, settings.path)
    address = await address_of(settings)
    from bridge.store.postgresql.store import migrate as migrate_database

    return await asyncio.to_thread(migrate_database, address)


def must_be_file(settings: StoreSettings, instead: str) -> Path:
    """Return the path of a store in a file.

    Raises:
        ConfigError: the store is in a database; says what to do `instead`.
    """
    if settings.url is not None:
        raise ConfigError(f"The store is in a PostgreSQL database (store.url): {instead}")
    return settings.path
