"""What a store in PostgreSQL promises beyond the contract of all stores: one writer, commits that
survive a lost connection, and errors that say what to do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import closing
from importlib.resources import files
from threading import Event

import psycopg
import pytest

from bridge.errors import SchemaTooNew, StoreError
from bridge.store.batches import Job, Late
from bridge.store.connection import Connection
from bridge.store.postgresql import lease, schema
from bridge.store.postgresql.address import Address, connect
from bridge.store.postgresql.connection import PostgresConnection
from bridge.store.postgresql.dialect import statement_of
from bridge.store.postgresql.store import PostgresStore, open_postgres, open_postgres_to_read
from bridge.store.postgresql.writer import PostgresWriter
from bridge.store.queries import read_queries
from bridge.testing.clock import ManualClock
from bridge.testing.store_contract import raw
from tests.store.conftest import KEY
from tests.store.postgresql_server import empty_database, empty_store

_CURSOR = "INSERT INTO cursors (account, channel, value) VALUES (?, ?, ?)"
# Statements of SQLite's own upkeep.
_NOT_TRANSLATED = {"merge_index", "set_overwrites", "not_indexed", "indexed_alone"}
_END_OTHERS = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
"""


@pytest.fixture
def address() -> Address:
    return empty_store()


@pytest.fixture
def db(address: Address) -> Iterator[PostgresConnection]:
    with closing(connect(address)) as db:
        yield db


@pytest.fixture
async def store(address: Address, clock: ManualClock) -> AsyncIterator[PostgresStore]:
    store = await open_postgres(address, clock=clock, key=KEY)
    yield store
    await store.close()


def test_the_server_understands_every_statement_of_the_store(db: PostgresConnection) -> None:
    db.execute(read_queries("erasures")["make_erased"])
    wrong: dict[str, bytes] = {}
    for file in files("bridge.store").joinpath("sql").iterdir():
        for name, sql in read_queries(file.name.removesuffix(".sql")).items():
            if name not in _NOT_TRANSLATED:
                answer = db.native.pgconn.prepare(b"", statement_of(sql).text.encode())
                if answer.error_message:
                    wrong[f"{file.name}: {name}"] = answer.error_message

    assert wrong == {}


async def test_a_second_process_is_refused_while_the_first_renews_its_lease(
    store: PostgresStore, address: Address, clock: ManualClock
) -> None:
    with pytest.raises(StoreError, match=r"in use by another process \(.*pid \d+"):
        await open_postgres(address, clock=clock, key=KEY)

    assert await store.accept(raw(1), advance=False)


async def test_a_store_that_was_closed_opens_at_once(address: Address, clock: ManualClock) -> None:
    for number in range(3):
        async with asyncio.timeout(3):
            store = await open_postgres(address, clock=clock, key=KEY)
            assert await store.accept(raw(number), advance=False)
            await store.close()


async def test_a_process_whose_lease_passed_on_writes_nothing_any_more(
    store: PostgresStore, db: PostgresConnection
) -> None:
    db.control("UPDATE leases SET epoch = epoch + 1")

    with pytest.raises(StoreError, match="Another process has taken over the store"):
        await store.accept(raw(1), advance=False)

    assert await store.waiting_rows() == []


async def test_a_process_that_is_stopped_in_a_transaction_loses_its_lease(
    address: Address, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    holds_lock, goes_on = Event(), Event()

    def stopped_in_the_middle(connection: Connection) -> None:
        connection.execute("SELECT 1").fetchone()
        holds_lock.set()
        goes_on.wait(30)

    monkeypatch.setattr(lease, "_RENEWED", 30.0)  # neither does it renew its lease
    first = await open_postgres(address, clock=clock, key=KEY)
    assert first.writer
    stopped = asyncio.create_task(first.writer.run(stopped_in_the_middle))
    await asyncio.to_thread(holds_lock.wait, 30)

    second = await open_postgres(address, clock=clock, key=KEY)

    assert await second.accept(raw(1), advance=False)
    goes_on.set()
    with pytest.raises(StoreError, match="Another process has taken over"):
        await stopped
    await second.close()
    await first.close()


async def test_a_write_waits_for_a_connection_that_was_lost(
    store: PostgresStore, db: PostgresConnection
) -> None:
    for number in range(5):
        list(db.rows(_END_OTHERS))
        assert await store.accept(raw(number), advance=False)
        assert len(await store.waiting_rows()) == number + 1


@pytest.fixture
def lost(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """What the first COMMIT answers, which never comes."""
    attempt = vars(PostgresWriter)["_attempt_all"]
    lost: list[bool] = []

    def lose_the_answer(self: PostgresWriter, batch: Sequence[Job]) -> bool:
        done = attempt(self, batch)
        if not lost:
            lost.append(done)
            raise psycopg.OperationalError("the server went away behind the COMMIT")
        return done

    monkeypatch.setattr(PostgresWriter, "_attempt_all", lose_the_answer)
    return lost


async def test_a_commit_whose_answer_was_lost_is_not_done_again(
    store: PostgresStore, lost: list[bool]
) -> None:
    runs: list[int] = []

    def unit(db: Connection) -> int:
        runs.append(len(runs) + 1)
        db.execute(_CURSOR, ("a", "b", "c"))
        return len(runs)

    assert store.writer is not None
    result = await store.writer.run(unit)

    assert lost == [True]
    assert (result, runs) == (1, [1])


async def test_a_result_that_was_lost_with_the_answer_to_its_commit_is_asked_for_again(
    store: PostgresStore, lost: list[bool]
) -> None:
    runs: list[int] = []

    def unit(db: Connection) -> Late[int]:
        runs.append(len(runs) + 1)
        found = db.execute("SELECT 7")
        return Late(lambda: found.fetchone()[0])

    assert store.writer is not None

    result: object = await store.writer.run(unit)

    assert (result, lost, runs) == (7, [True], [1, 2])


async def test_a_text_with_nul_is_kept_as_it_is(store: PostgresStore) -> None:
    odd = raw(1, dedupe_key="a\0b\ue0f0c", payload=b"\0")

    await store.accept(odd, advance=False)

    (row,) = await store.waiting_rows()
    assert row.raw == odd


async def test_a_database_of_another_program_is_not_touched(clock: ManualClock) -> None:
    address = empty_database("foreign")
    with closing(connect(address)) as db:
        db.control("CREATE TABLE customers (id bigint)")

        with pytest.raises(StoreError, match="holds tables of another program"):
            await open_postgres(address, clock=clock, key=KEY)

        ((tables,),) = db.rows("SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()")
    assert tables == 1


async def test_a_newer_store_is_refused(
    address: Address, db: PostgresConnection, clock: ManualClock
) -> None:
    newest = schema.newest_version()
    db.control("UPDATE meta SET number = 999 WHERE key IN ('schema_version', 'oldest_version')")
    try:
        for opening in (open_postgres, open_postgres_to_read):
            with pytest.raises(SchemaTooNew, match=r"schema 999.*knows up to"):
                await opening(address, clock=clock, key=KEY)
    finally:
        db.control(
            f"UPDATE meta SET number = {newest} WHERE key IN ('schema_version', 'oldest_version')"
        )


@pytest.mark.parametrize(
    ("url", "what"),
    [
        ("postgresql://nobody@127.0.0.1:1/bridge", "127.0.0.1:1/bridge' cannot be reached"),
        ("postgresql://host/data base?nonsense=1", "store.url is no address"),
    ],
)
async def test_a_server_that_cannot_be_reached_is_named_without_its_user(
    clock: ManualClock, url: str, what: str
) -> None:
    with pytest.raises(Exception, match=what) as raised:
        await open_postgres(Address(url, "geheim"), clock=clock, key=None)

    assert "geheim" not in str(raised.value)
    assert "nobody@" not in str(raised.value)


def test_a_crashed_process_leaves_a_lease_that_ends_within_seconds() -> None:
    assert lease.SECONDS <= 5
