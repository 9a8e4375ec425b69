"""The store's counts and sizes for `/metrics`, read when they are asked for, and reused for a
while."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, TypeVar

from bridge.app.opening import database_size
from bridge.app.settings.store import StoreSettings
from bridge.errors import FileError, StoreError
from bridge.model.store_status import StoreStatus
from bridge.ports.blobs import Blobs, BlobTotal
from bridge.ports.clock import Clock
from bridge.ports.store.whole import Store
from bridge.store.sizes import DatabaseSize

FRESH = 10.0  # seconds for which counts are reused, so that frequent requests cost little
_FILES_FRESH = 60.0  # each file is looked at
_FILES_WAIT = 1.0  # seconds that a request waits for the files' total, which comes later otherwise
_SHARE = 20  # counts are reused for this many times the seconds that counting took

T = TypeVar("T")


@dataclass(frozen=True)
class Sizes:
    """Bytes of the store; `files` is None until they are counted for the first time."""

    database: DatabaseSize
    files: BlobTotal | None


class Counts:
    """Reads counts and sizes: each takes at most a twentieth of the time, whoever asks how
    often."""

    def __init__(self, store: Store, blobs: Blobs, settings: StoreSettings, clock: Clock) -> None:
        self._settings = settings
        self._status = _Cached(store.status, clock, FRESH)
        self._database = _Cached(self._database_size, clock, FRESH)
        self._files = _Cached(blobs.total, clock, _FILES_FRESH)
        self._counting: asyncio.Task[None] | None = None

    async def status(self) -> StoreStatus:
        """Return the counts of the store. Raises StoreError."""
        return await self._status.value()

    async def sizes(self) -> Sizes:
        """Return the sizes of the store. Raises StoreError."""
        return Sizes(await self._database.value(), await self._file_total())

    async def close(self) -> None:
        """Stop counting files."""
        if self._counting is not None:
            self._counting.cancel()
            await asyncio.gather(self._counting, return_exceptions=True)

    async def _database_size(self) -> DatabaseSize:
        return await database_size(self._settings)

    async def _file_total(self) -> BlobTotal | None:
        """The last total; a new one goes on in the background when it takes long."""
        if self._counting is None or self._counting.done():
            self._counting = asyncio.create_task(self._count_files())
        await asyncio.wait({self._counting}, timeout=_FILES_WAIT)
        return self._files.last

    async def _count_files(self) -> None:
        with suppress(StoreError, FileError):
            await self._files.value()


class _Cached(Generic[T]):
    """A value that is read again when it is old."""

    def __init__(self, read: Callable[[], Awaitable[T]], clock: Clock, fresh: float) -> None:
        self.last: T | None = None
        self._read = read
        self._clock = clock
        self._fresh = fresh
        self._again_at = 0.0
        self._one_at_a_time = asyncio.Lock()

    async def value(self) -> T:
        async with self._one_at_a_time:
            now = self._clock.monotonic
            if self.last is None or now() >= self._again_at:
                began = now()
                self.last = await self._read()
                self._again_at = now() + max(self._fresh, _SHARE * (now() - began))
            return self.last
