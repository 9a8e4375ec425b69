"""Unused files are removed after their days; all others stay."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from bridge.agents.echo import EchoAgent, EchoSettings
from bridge.app.watch.sweep import sweep, sweep_daily
from bridge.store import SqliteStore, open_sqlite, open_sqlite_to_read
from bridge.testing.blobs_contract import put
from bridge.testing.clock import ManualClock
from bridge.testing.memory_blobs import MemoryBlobs

DAY = 86_400.0


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


class EnoughError(Exception):
    """The third sleep of `TwoSleeps`."""


class TwoSleeps(ManualClock):
    slept = 0

    async def sleep(self, seconds: float) -> None:
        self.slept += 1
        if self.slept == 3:
            raise EnoughError
        await super().sleep(seconds)


async def store_that_names(path: Path, clock: ManualClock, *file_ids: str) -> SqliteStore:
    """A store whose messages name these files."""
    store = await open_sqlite(path, clock=clock, key=bytes(32))
    await store.close()
    with contextlib.closing(sqlite3.connect(path)) as db:
        for number, file_id in enumerate(file_ids):
            db.execute(
                "INSERT INTO message_rows (key, body, author, time, state, outcome) "
                "VALUES (?, ?, 1, 0, 'complete', '')",
                (str(number), f'{{"file_id": "{file_id}"}}'.encode()),
            )
        db.commit()
    return await open_sqlite_to_read(path, clock=clock, key=bytes(32))


async def test_the_sweep_removes_only_old_files_that_no_message_names(
    tmp_path: Path, clock: ManualClock
) -> None:
    blobs = MemoryBlobs(clock)
    named, unnamed = await put(blobs, b"named"), await put(blobs, b"unnamed")
    store = await store_that_names(tmp_path / "b.sqlite3", clock, named.file_id)
    clock.now += 20 * DAY
    young = await put(blobs, b"young")

    early = await sweep(store, blobs, clock, 30)
    clock.now += 11 * DAY
    late = await sweep(store, blobs, clock, 30)

    await store.close()
    assert (early, late) == (0, 1)
    assert [await blobs.stat(ref.file_id) for ref in (named, unnamed, young)] == [
        named, None, young,
    ]  # fmt: skip


async def test_a_store_that_cannot_be_read_removes_nothing(
    tmp_path: Path, clock: ManualClock
) -> None:
    blobs = MemoryBlobs(clock)
    ref = await put(blobs, b"kept")
    store = await store_that_names(tmp_path / "b.sqlite3", clock, ref.file_id)
    _spoil(tmp_path / "b.sqlite3")

    with capture_logs() as logs, pytest.raises(EnoughError):
        await sweep_daily(store, blobs, TwoSleeps(), 30)

    await store.close()
    assert [entry["event"] for entry in logs] == 2 * ["file_sweep_failed"]
    assert await blobs.stat(ref.file_id) == ref


def _spoil(path: Path) -> None:
    path.write_bytes(b"not a store" * 1000)


async def test_without_a_number_of_days_agents_alone_forget_what_is_gone() -> None:
    agent = Forgetful()
    clock = TwoSleeps()

    with pytest.raises(EnoughError):
        await sweep_daily(
            SqliteStore.in_memory(clock), MemoryBlobs(clock), clock, None, lambda: [agent]
        )

    assert agent.asked == 2


class Forgetful(EchoAgent):
    """Keeps files, and counts how often it is asked to forget them."""

    def __init__(self) -> None:
        super().__init__("echo", EchoSettings(pace=0.03), ManualClock())
        self.asked = 0

    async def forget_files(self, is_stored: Callable[[str], Awaitable[bool]]) -> int:
        assert not await is_stored("ab" * 32)
        self.asked += 1
        return 1
