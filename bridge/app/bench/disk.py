"""Measures durable COMMITs in a temporary store on the disk of the real one."""

from __future__ import annotations

import asyncio
import time
from itertools import count
from pathlib import Path

from bridge.app.bench.results import Disk
from bridge.model import AccountId, Raw
from bridge.runtime.clock import SystemClock
from bridge.store import SqliteStore, open_sqlite
from bridge.store.maintenance import encrypt

_IN_FLIGHT = 64  # units that wait at once
_PAYLOAD = b'{"type": "message", "text": "%s"}' % (b"words and more words " * 20)


async def measure_disk(path: Path, seconds: float, *, encrypted: bool) -> Disk:
    """Write for so long a time, half of it one unit after the other, half of it many at once.

    Raises:
        StoreError: the store cannot be made there.
    """
    await make_store(path, encrypted=encrypted)
    store = await open_sqlite(path, clock=SystemClock(), key=None)
    numbers = count()
    try:
        times = await _alone(store, numbers, seconds / 2)
        units = await _together(store, numbers, seconds / 2)
    finally:
        await store.close()
    ordered = sorted(times)
    half, most = (ordered[int(len(ordered) * part)] for part in (0.5, 0.99))
    return Disk(len(times) / sum(times), half * 1000, most * 1000, units)


async def make_store(path: Path, *, encrypted: bool) -> None:
    """Make an empty store at this path. Raises StoreError."""
    await (await open_sqlite(path, clock=SystemClock(), key=None)).close()
    if encrypted:
        await asyncio.to_thread(encrypt, path)


async def _alone(store: SqliteStore, numbers: count[int], seconds: float) -> list[float]:
    """The times of COMMITs with one unit each."""
    times: list[float] = []
    end = time.perf_counter() + seconds
    while not times or time.perf_counter() < end:
        began = time.perf_counter()
        await store.accept(_raw(next(numbers)), advance=False)
        times.append(time.perf_counter() - began)
    return times


async def _together(store: SqliteStore, numbers: count[int], seconds: float) -> float:
    """Units a second."""
    done, began = 0, time.perf_counter()

    async def write() -> None:
        nonlocal done
        while time.perf_counter() < began + seconds:
            await store.accept(_raw(next(numbers)), advance=False)
            done += 1

    await asyncio.gather(*(write() for _ in range(_IN_FLIGHT)))
    return done / (time.perf_counter() - began)


def _raw(number: int) -> Raw:
    return Raw(
        account=AccountId("bench"), kind="message", dedupe_key=str(number),
        order_key=f"{number:09}", channel=None, payload=_PAYLOAD,
    )  # fmt: skip
