"""SQLite, its in-memory twin and PostgreSQL keep every promise of a store."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bridge.ports.store.whole import Store
from bridge.store import SqliteStore, open_sqlite
from bridge.store.postgresql.store import open_postgres
from bridge.testing.clock import ManualClock
from bridge.testing.store_contract import StoreContract
from bridge.testing.store_contract_catch_up import CatchUpContract
from bridge.testing.store_contract_directs import DirectsContract
from bridge.testing.store_contract_feedback import FeedbackContract
from bridge.testing.store_contract_reading import ReadingContract
from bridge.testing.store_contract_tenants import TenantsContract
from tests.store.postgresql_server import empty_store

KEY = bytes(range(32))


class TestSqliteStore(
    StoreContract,
    CatchUpContract,
    ReadingContract,
    DirectsContract,
    FeedbackContract,
    TenantsContract,
):
    @pytest.fixture
    async def store(self, clock: ManualClock, tmp_path: Path) -> AsyncIterator[Store]:
        store = await open_sqlite(tmp_path / "bridge.sqlite3", clock=clock, key=KEY)
        yield store
        await store.close()


class TestSqliteInMemory(
    StoreContract,
    CatchUpContract,
    ReadingContract,
    DirectsContract,
    FeedbackContract,
    TenantsContract,
):
    @pytest.fixture
    async def store(self, clock: ManualClock) -> Store:
        return SqliteStore.in_memory(clock)


class TestPostgresStore(
    StoreContract,
    CatchUpContract,
    ReadingContract,
    DirectsContract,
    FeedbackContract,
    TenantsContract,
):
    @pytest.fixture
    async def store(self, clock: ManualClock) -> AsyncIterator[Store]:
        store = await open_postgres(empty_store(), clock=clock, key=KEY)
        yield store
        await store.close()
