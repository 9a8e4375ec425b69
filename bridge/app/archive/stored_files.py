"""Stored files for writers of exports, which do not wait: a thread reads them from the blob store
into unnamed files."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from threading import Thread
from typing import Any, BinaryIO, TypeVar, cast

import structlog

from bridge.errors import FileDamaged, FileMissing
from bridge.ports.blobs import Blobs

log = structlog.get_logger()

T = TypeVar("T")
_IN_MEMORY = 1024 * 1024  # bytes of a file that is not put on disk


class StoredFiles:
    """Opens stored files by their ids. `folder` has room for the largest of them."""

    def __init__(self, open_blobs: Callable[[], Awaitable[Blobs]], folder: Path) -> None:
        """Raises what `open_blobs` raises."""
        self._folder = folder
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="stored-files", daemon=True)
        self._thread.start()
        try:
            self._blobs = self._wait_for(_opened(open_blobs))
        except BaseException:
            self._stop()
            raise

    def open(self, file_id: str) -> BinaryIO | None:
        """Return a file whose bytes match its hash; None when there is none. Raises StoreError."""
        try:
            return self._wait_for(self._copy(file_id))
        except FileMissing:
            return None
        except FileDamaged as error:
            log.warning("file_not_exported", error=str(error))
            return None

    def close(self) -> None:
        """Close the blob store and end the thread."""
        self._wait_for(self._blobs.close())
        self._stop()

    async def _copy(self, file_id: str) -> BinaryIO:
        async with self._blobs.open(file_id) as pieces:
            file = tempfile.SpooledTemporaryFile(_IN_MEMORY, dir=str(self._folder))  # noqa: SIM115
            try:
                async for piece in pieces:
                    file.write(piece)
            except BaseException:
                file.close()
                raise
        file.seek(0)
        return cast(BinaryIO, file)

    def _wait_for(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _opened(open_blobs: Callable[[], Awaitable[Blobs]]) -> Blobs:
    return await open_blobs()
