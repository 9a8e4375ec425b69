"""Removes stored files that nothing uses any more, once a day."""

from __future__ import annotations

import asyncio
from pathlib import Path

import structlog

from bridge.errors import StoreError
from bridge.ports.blobs import Blobs
from bridge.ports.clock import Clock
from bridge.store.file_use import files_in_use

log = structlog.get_logger()

_DAY = 86_400.0
_FIRST = 600.0  # seconds after the start, which has other work


async def sweep(store: Path, blobs: Blobs, clock: Clock, days: float) -> int:
    """Remove files that were last stored more than `days` days ago and that nothing uses; returns
    their number.

    Messages (except deleted ones) and people's pictures use files.
    """
    used = await asyncio.to_thread(files_in_use, store)
    return await blobs.sweep(used, clock.time() - days * _DAY)


async def sweep_daily(store: Path, blobs: Blobs, clock: Clock, days: float | None) -> None:
    """Sweep daily until cancelled; without `days` every file is kept."""
    if days is None:
        return
    await clock.sleep(_FIRST)
    while True:
        try:
            removed = await sweep(store, blobs, clock, days)
        except StoreError as error:
            log.warning("file_sweep_failed", error=str(error))
        else:
            log.info("file_sweep_finished", removed=removed)
        await clock.sleep(_DAY)
