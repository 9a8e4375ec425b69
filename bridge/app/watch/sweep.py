"""Removes stored files that nothing uses any more, once a day."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import structlog

from bridge.app.files.derived import forget_files
from bridge.errors import FileError, StoreError
from bridge.ports.agent import Agent
from bridge.ports.blobs import Blobs
from bridge.ports.clock import Clock
from bridge.ports.store.erasures import ErasureStore

log = structlog.get_logger()

_DAY = 86_400.0
_FIRST = 600.0  # seconds after the start, which has other work


async def sweep(store: ErasureStore, blobs: Blobs, clock: Clock, days: float) -> int:
    """Remove files that were last stored more than `days` days ago and that nothing uses; returns
    their number.

    Messages (except deleted ones) and people's pictures use files.
    """
    used = await store.files_in_use()
    return await blobs.sweep(used, clock.time() - days * _DAY)


async def sweep_daily(
    store: ErasureStore,
    blobs: Blobs,
    clock: Clock,
    days: float | None,
    agents: Callable[[], Iterable[Agent]] = lambda: (),
) -> None:
    """Sweep daily until cancelled; without `days` every file is kept. Then the agents delete what
    they keep of files that are gone, however they went."""
    await clock.sleep(_FIRST)
    while True:
        try:
            if days is not None:
                removed = await sweep(store, blobs, clock, days)
                log.info("file_sweep_finished", removed=removed)
            await forget_files(agents(), blobs)
        except (StoreError, FileError) as error:
            log.warning("file_sweep_failed", error=str(error))
        await clock.sleep(_DAY)
