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
    from bridge.app.settings.store import StoreSettings
    from bridge.ports.store.whole import Store


def store_of(store: Path | None, config: Path) -> StoreSettings:
    """The store of the option --store, else that of the configuration. The settings of the
    configuration are those of its own file as well."""
    from bridge.app.cli.commands.options import settings_from
    from bridge.app.settings.store import StoreSettings

    if store is None:
        return settings_from(config).store
    if config.exists():
        own = settings_from(config).store
        if own.url is None and own.path.absolute() == store.absolute():
            return own
    return StoreSettings(path=store)


@asynccontextmanager
async def reading(settings: StoreSettings) -> AsyncGenerator[Store]:
    """Open the store to read, also while the bridge runs. Raises StoreError if there is none."""
    from bridge.app.opening import open_to_read
    from bridge.runtime.clock import SystemClock

    store = await open_to_read(settings, SystemClock())
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


def operator() -> str:
    """The user who runs the command; a container may have no name for it."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"user {os.getuid()}"


@asynccontextmanager
async def writing(settings: StoreSettings, *, make_key: bool = True) -> AsyncGenerator[Store]:
    """Open the store for this process only. Raises StoreError while the bridge runs."""
    from bridge.app.opening import open_to_write
    from bridge.runtime.clock import SystemClock

    store = await open_to_write(settings, SystemClock(), make_key=make_key)
    try:
        yield store
    finally:
        await store.close()


@asynccontextmanager
async def changing(settings: StoreSettings) -> AsyncGenerator[Store]:
    """Open the existing store for this process only. Raises StoreError if there is none, and while
    the bridge runs."""
    async with reading(settings):  # a command that changes something makes no new store
        pass
    async with writing(settings, make_key=False) as store:
        yield store
