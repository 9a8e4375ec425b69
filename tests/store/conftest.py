"""A store in a folder of its own, and what opens it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bridge.store import SqliteStore, open_sqlite
from bridge.testing.clock import ManualClock

KEY = bytes(range(32))


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "bridge.sqlite3"


@pytest.fixture
async def store(path: Path, clock: ManualClock) -> AsyncIterator[SqliteStore]:
    store = await open_sqlite(path, clock=clock, key=KEY)
    yield store
    await store.close()
