"""Processes of two versions over one PostgreSQL store: a migration that leaves older code at work
waits for nobody, any other one waits until no older process works with the store."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, closing
from typing import Protocol

import pytest

from bridge.errors import SchemaTooNew, StoreError
from bridge.model.assignments import Assignment
from bridge.runtime.clock import SystemClock
from bridge.store.postgresql import membership, schema
from bridge.store.postgresql.address import Address, connect
from bridge.store.postgresql.connection import PostgresConnection
from bridge.store.postgresql.membership import Membership
from bridge.store.postgresql.shared import SharedStore, open_shared
from bridge.store.postgresql.store import open_postgres_to_read, opened, state_of
from bridge.store.seal import Seal
from tests.store.conftest import KEY
from tests.store.postgresql_server import empty_database

OLD = schema.migrations()
NEW = max(OLD) + 1
COLUMN = "ALTER TABLE processes ADD COLUMN zone text"
ADDING = {**OLD, NEW: f"-- Works with: {max(OLD)}\n{COLUMN}"}
BREAKING = {**OLD, NEW: COLUMN}
X = Assignment("account x")


class Install(Protocol):
    """Lets the code of another version open stores from now on."""

    def __call__(self, migrations: Mapping[int, str]) -> None: ...


@pytest.fixture
def address() -> Address:
    return empty_database("changes")


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Install:
    monkeypatch.setattr(schema, "_PATIENCE", 0.0)
    monkeypatch.setattr(membership, "SECONDS", 60.0)  # on a busy machine, too

    def install(migrations: Mapping[int, str]) -> None:
        monkeypatch.setattr(schema, "migrations", lambda: migrations)

    return install


@asynccontextmanager
async def process(address: Address) -> AsyncGenerator[SharedStore]:
    store = await open_shared(address, clock=SystemClock(), key=KEY)
    try:
        yield store
    finally:
        await store.close()


def expire(db: PostgresConnection) -> None:
    """As if all processes had been stopped for long."""
    db.control("UPDATE processes SET until = 0")


async def test_processes_of_both_versions_work_beside_one_another(
    address: Address, install: Install
) -> None:
    async with process(address) as older:
        install(ADDING)
        async with process(address) as newer:
            assert state_of(address) == (NEW, NEW)
            assert set(await older.take([X])) == {X}
            assert not await newer.take([X])

            install(OLD)  # one of the older processes is started again
            async with process(address) as again:
                assert not await again.take([X])
            assert state_of(address) == (NEW, max(OLD))
            await (await open_postgres_to_read(address, clock=SystemClock(), key=KEY)).close()


async def test_a_change_that_older_code_cannot_bear_waits_for_older_processes(
    address: Address, install: Install
) -> None:
    async with process(address) as older:
        install(BREAKING)
        with pytest.raises(StoreError, match=r"1 still work with it \(.*pid \d+\)\. Stop them"):
            await open_shared(address, clock=SystemClock(), key=KEY)

        assert state_of(address) == (max(OLD), NEW)
        assert set(await older.take([X])) == {X}

    async with process(address) as newer:
        assert set(await newer.take([X])) == {X}

    install(OLD)
    with pytest.raises(SchemaTooNew, match=f"schema {NEW}"):
        await open_shared(address, clock=SystemClock(), key=KEY)
    with pytest.raises(SchemaTooNew, match=f"schema {NEW}"):
        state_of(address)


async def test_a_process_that_was_stopped_during_the_change_writes_no_more(
    address: Address, install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(membership, "_RENEWED", 60.0)
    async with process(address) as older:
        await older.take([X])
        with closing(connect(address)) as db:
            expire(db)
        install(BREAKING)
        async with process(address) as newer:
            assert set(await newer.take([X])) == {X}
            with pytest.raises(StoreError, match="has taken over the store"):
                await older.note_loads({X: 1.0})


def test_a_process_that_joins_while_a_newer_one_changes_the_store_is_refused(
    address: Address, install: Install
) -> None:
    def join_late(address: Address, db: PostgresConnection) -> Membership:
        install(BREAKING)
        with closing(connect(address)) as newer:
            schema.migrate(newer, str(address))
        install(OLD)
        return Membership(address, db)

    with pytest.raises(SchemaTooNew, match=f"schema {NEW}"):
        opened(address, Seal(KEY), join_late)

    with closing(connect(address)) as db:
        assert not list(db.rows("SELECT name FROM processes"))


def test_a_migration_works_with_no_newer_schema_than_its_own() -> None:
    assert schema.works_with(NEW, ADDING[NEW]) == max(OLD)
    for version, script in OLD.items():
        assert 0 < schema.works_with(version, script) <= version
