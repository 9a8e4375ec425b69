"""Settings -> their store, for reading while the bridge runs, or for writing while it does not.

Imports the store when it is opened, so that errors of the configuration appear first.
"""

from __future__ import annotations

import getpass
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bridge.app.settings.blobs import BlobSettings
    from bridge.app.settings.file import Settings
    from bridge.ports.store.whole import Store


@asynccontextmanager
async def reading(settings: Settings) -> AsyncGenerator[Store]:
    """Open the store to read, also while the bridge runs. Raises StoreError if there is none."""
    async with reading_file(settings.store.path) as store:
        yield store


@asynccontextmanager
async def reading_file(path: Path) -> AsyncGenerator[Store]:
    """Open the store in this file to read, as `reading` does."""
    from bridge.app.settings.keys import known_key
    from bridge.runtime.clock import SystemClock
    from bridge.store.sqlite import open_sqlite_to_read

    store = await open_sqlite_to_read(path, clock=SystemClock(), key=known_key(path))
    try:
        yield store
    finally:
        await store.close()


def note_access(path: Path, config: Path, what: str, **facts: object) -> None:
    """Note in the log of accesses that the user of this command reads the archive, unless the
    configuration wants no log. A store without a configuration has one, too."""
    from bridge.app.archive.accesses import AccessLog
    from bridge.app.cli.commands.options import settings_from

    if config.exists() and settings_from(config).archive.access_log_days == 0:
        return
    AccessLog(path).note(f"user {operator()}", f"archive {what}", **facts)


def bucket_of(path: Path, config: Path) -> BlobSettings | None:
    """The bucket of this store's files, if the configuration is that of the store and has one."""
    from bridge.app.cli.commands.options import settings_from

    if not config.exists():
        return None
    store = settings_from(config).store
    return store.blobs if store.path.absolute() == path.absolute() else None


def operator() -> str:
    """The user who runs the command; a container may have no name for it."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"user {os.getuid()}"


@asynccontextmanager
async def writing(settings: Settings) -> AsyncGenerator[Store]:
    """Open the store for this process only. Raises StoreError while the bridge runs."""
    from bridge.app.build import open_store
    from bridge.runtime.clock import SystemClock

    store = await open_store(settings, SystemClock())
    try:
        yield store
    finally:
        await store.close()


@asynccontextmanager
async def writing_file(path: Path) -> AsyncGenerator[Store]:
    """Open the existing store in this file for this process only. Raises StoreError if there is
    none, and while the bridge runs."""
    from bridge.app.settings.keys import known_key
    from bridge.runtime.clock import SystemClock
    from bridge.store.sqlite import open_sqlite

    async with reading_file(path):  # a command that changes something makes no new store
        pass
    store = await open_sqlite(path, clock=SystemClock(), key=known_key(path))
    try:
        yield store
    finally:
        await store.close()
