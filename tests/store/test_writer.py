"""Many units, one COMMIT; and what happens when the disk is full."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from bridge.errors import StoreError, StoreFull
from bridge.store import SqliteStore
from bridge.store.batches import patient
from bridge.store.connection import Connection
from bridge.store.writer import Writer
from bridge.testing.clock import ManualClock
from bridge.testing.store_contract import admit, new_message, raw


@pytest.fixture
def db(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    db = sqlite3.connect(tmp_path / "w", isolation_level=None, check_same_thread=False)
    db.execute("CREATE TABLE kept (x PRIMARY KEY)")
    yield db
    db.close()


def keep(db: Connection, *values: object) -> None:
    for value in values:
        db.execute("INSERT INTO kept VALUES (?)", (value,))


async def test_waiting_units_share_a_commit(db: sqlite3.Connection) -> None:
    commits: list[str] = []
    db.set_trace_callback(lambda sql: commits.append(sql) if sql == "COMMIT" else None)
    writer = Writer(db, Path("w"))

    await asyncio.gather(*(writer.run(keep, number) for number in range(1000)))

    await writer.close()
    assert len(commits) < 100
    assert db.execute("SELECT count(*) FROM kept").fetchone() == (1000,)


async def test_a_patient_unit_shares_the_commit_of_the_next_one(db: sqlite3.Connection) -> None:
    commits: list[str] = []
    db.set_trace_callback(lambda sql: commits.append(sql) if sql == "COMMIT" else None)
    writer = Writer(db, Path("w"))

    await asyncio.gather(
        writer.run(patient(keep), 1), writer.run(patient(keep), 2), writer.run(keep, 3)
    )

    await writer.close()
    assert len(commits) == 1
    assert db.execute("SELECT x FROM kept ORDER BY rowid").fetchall() == [(1,), (2,), (3,)]


@pytest.mark.parametrize("closes", [False, True])
async def test_a_patient_unit_without_company_is_committed_by_itself(
    db: sqlite3.Connection, *, closes: bool
) -> None:
    writer = Writer(db, Path("w"))

    patience = asyncio.ensure_future(writer.run(patient(keep), 1))
    await asyncio.sleep(0)
    if closes:
        await writer.close()
    await patience

    await writer.close()
    assert db.execute("SELECT x FROM kept").fetchall() == [(1,)]


async def test_a_unit_that_raises_is_rolled_back_alone(db: sqlite3.Connection) -> None:
    writer = Writer(db, Path("w"))

    results = await asyncio.gather(
        writer.run(keep, "a"),
        writer.run(keep, "b", "a"),  # 'b' is undone: 'a' is there already
        writer.run(keep, "c"),
        return_exceptions=True,
    )

    await writer.close()
    assert [type(result) for result in results] == [type(None), StoreError, type(None)]
    assert db.execute("SELECT x FROM kept ORDER BY x").fetchall() == [("a",), ("c",)]


async def test_other_errors_of_a_unit_are_raised_unchanged(
    db: sqlite3.Connection,
) -> None:
    writer = Writer(db, Path("w"))

    def divide(_db: Connection) -> float:
        return 1 / 0

    with pytest.raises(ZeroDivisionError):
        await writer.run(divide)

    await writer.run(keep, "a")
    await writer.close()


async def test_a_cancelled_wait_does_not_affect_other_units(db: sqlite3.Connection) -> None:
    writer = Writer(db, Path("w"))
    waits = [asyncio.ensure_future(writer.run(keep, number)) for number in range(20)]
    await asyncio.sleep(0)

    for wait in waits[::2]:
        wait.cancel()

    assert await asyncio.gather(*waits[1::2]) == [None] * 10
    await writer.close()


async def test_closing_finishes_what_was_submitted(db: sqlite3.Connection) -> None:
    writer = Writer(db, Path("w"))
    waits = [asyncio.ensure_future(writer.run(keep, number)) for number in range(20)]
    await asyncio.sleep(0)

    await writer.close()

    assert await asyncio.gather(*waits) == [None] * 20
    assert db.execute("SELECT count(*) FROM kept").fetchone() == (20,)


async def test_a_full_disk_refuses_payloads_and_the_store_recovers(
    store: SqliteStore, clock: ManualClock
) -> None:
    await admit(store, new_message("m1"))
    pages = await _pages(store)
    await _limit(store, pages + 20)
    with pytest.raises(StoreFull, match="make room"):
        await _accept_many(store, 1000)
    row_count = len(await store.waiting_rows())
    assert row_count > 10
    with pytest.raises(StoreFull):
        await asyncio.gather(
            *(
                store.accept(raw(number, payload=b"x" * 9000), advance=True)
                for number in range(2000, 2010)
            )
        )
    assert len(await store.waiting_rows()) == row_count

    await _limit(store, 1_000_000)

    assert await store.accept(raw(row_count), advance=True) is not None
    assert len(await store.waiting_rows()) == row_count + 1


async def _accept_many(store: SqliteStore, many: int) -> None:
    for number in range(many):
        await store.accept(raw(number, payload=b"x" * 3000), advance=True)


async def _pages(store: SqliteStore) -> int:
    assert store.writer is not None
    return await store.writer.run(lambda db: db.execute("PRAGMA page_count").fetchone()[0])


async def _limit(store: SqliteStore, pages: int) -> None:
    assert store.writer is not None
    await store.writer.run(lambda db: db.execute(f"PRAGMA max_page_count = {pages}").fetchall())
