"""Settings -> their store, to look into while the bridge runs, or to write when it does not."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from bridge.app.build import known_key, open_store
from bridge.app.settings import Settings
from bridge.ports.clock import SystemClock
from bridge.ports.store import Store
from bridge.store.sqlite import open_sqlite_to_read


@asynccontextmanager
async def reading(settings: Settings) -> AsyncGenerator[Store]:
    """To look only; also while the bridge runs. Raises StoreError when there is none."""
    path = settings.store.path
    store = await open_sqlite_to_read(path, clock=SystemClock(), key=known_key(path))
    try:
        yield store
    finally:
        await store.close()


@asynccontextmanager
async def writing(settings: Settings) -> AsyncGenerator[Store]:
    """For this process alone. Raises StoreError while the bridge runs."""
    store = await open_store(settings, SystemClock())
    try:
        yield store
    finally:
        await store.close()
