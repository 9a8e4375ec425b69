"""A PostgreSQL store that many processes share: who is alive, who works for what, and that nobody
writes whom the others hold for dead."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from threading import Event

import pytest

from bridge.errors import StoreError
from bridge.model import ActorId
from bridge.model.assignments import Assignment
from bridge.model.room_records import Ban
from bridge.store.connection import Connection
from bridge.store.postgresql.address import Address, connect
from bridge.store.postgresql.connection import PostgresConnection
from bridge.store.postgresql.shared import SharedStore, open_shared
from bridge.store.postgresql.store import open_postgres
from bridge.testing.clock import ManualClock
from bridge.testing.store_contract import raw
from tests.store.conftest import KEY
from tests.store.postgresql_server import empty_database, empty_store

X, Y = Assignment("account x"), Assignment("account y")


@pytest.fixture
def address() -> Address:
    return empty_store()


@pytest.fixture
def db(address: Address) -> Iterator[PostgresConnection]:
    with closing(connect(address)) as db:
        yield db


@pytest.fixture
async def first(address: Address, clock: ManualClock) -> AsyncIterator[SharedStore]:
    store = await open_shared(address, clock=clock, key=KEY)
    yield store
    await store.close()


@pytest.fixture
async def second(address: Address, clock: ManualClock) -> AsyncIterator[SharedStore]:
    store = await open_shared(address, clock=clock, key=KEY)
    yield store
    await store.close()


def expire(db: PostgresConnection, store: SharedStore) -> None:
    """As if the process had been stopped for long."""
    db.control(f"UPDATE processes SET until = 0 WHERE id = '{store.process}'")


async def test_each_assignment_has_one_owner(first: SharedStore, second: SharedStore) -> None:
    assert set(await first.take([X])) == {X}
    assert set(await second.take([X, Y])) == {Y}

    state = await second.look(0)
    assert {name: at.process for name, at in state.assigned.items()} == {
        X: first.process, Y: second.process,
    }  # fmt: skip


async def test_a_process_starts_until_it_says_that_it_takes_work(
    first: SharedStore, second: SharedStore
) -> None:
    await first.note_started()

    starting = {one.id: one.starting for one in (await second.look(0)).processes}
    assert starting == {first.process: False, second.process: True}

    await second.note_started()
    assert not any(one.starting or one.stopping for one in (await first.look(0)).processes)


async def test_the_epoch_rises_at_each_change_of_hands(
    first: SharedStore, second: SharedStore
) -> None:
    await first.take([X])
    await first.give_up([X])
    await second.take([X])

    assert (await first.look(0)).assigned[X].epoch == 2


async def test_what_a_dead_process_had_is_free_and_it_writes_nothing_any_more(
    first: SharedStore, second: SharedStore, db: PostgresConnection
) -> None:
    await first.take([X])
    async with asyncio.timeout(10):
        while first.process in {one.id for one in (await second.look(0)).processes}:
            expire(db, first)

    assert set(await second.take([X])) == {X}
    with pytest.raises(StoreError, match="Another process has taken over"):
        await first.accept(raw(1), advance=False)
    async with asyncio.timeout(10):
        while not first.is_lost:  # noqa: ASYNC110 - a thread
            await asyncio.sleep(0.05)
    assert not first.is_alive
    assert await second.accept(raw(1), advance=False)


async def test_a_process_that_is_stopped_in_a_transaction_holds_up_no_other(
    first: SharedStore, second: SharedStore, db: PostgresConnection
) -> None:
    holds_lock, goes_on = Event(), Event()

    def stopped_in_the_middle(connection: Connection) -> None:
        connection.execute("SELECT 1").fetchone()
        holds_lock.set()
        goes_on.wait(30)

    assert first.writer
    stopped = asyncio.create_task(first.writer.run(stopped_in_the_middle))
    await asyncio.to_thread(holds_lock.wait, 30)
    accepting = asyncio.create_task(second.accept(raw(1), advance=False))
    async with asyncio.timeout(25):  # it goes on by itself after 30
        while not accepting.done():
            expire(db, first)
            await asyncio.sleep(0.02)

    assert await accepting
    goes_on.set()
    await stopped


async def test_a_process_that_closes_gives_everything_up_at_once(
    address: Address, clock: ManualClock, second: SharedStore
) -> None:
    leaving = await open_shared(address, clock=clock, key=KEY)
    await leaving.take([X])
    await leaving.close()

    assert set(await second.take([X])) == {X}
    assert [one.id for one in (await second.look(0)).processes] == [second.process]


async def test_others_hear_a_signal_once_and_its_sender_never(
    first: SharedStore, second: SharedStore
) -> None:
    begin = await second.newest_signal()
    await first.send("stop", '{"session": "s"}')

    (signal,) = (await second.look(begin)).signals
    assert (signal.kind, signal.body, signal.sender) == ("stop", '{"session": "s"}', first.process)
    assert (await second.look(signal.seq)).signals == []
    assert (await first.look(begin)).signals == []


async def test_a_payload_that_is_handed_on_reaches_all_with_its_row(
    first: SharedStore, second: SharedStore
) -> None:
    row = await first.hand_on(raw(1))
    assert row is not None
    assert await second.hand_on(raw(1)) is None  # a repeat

    for store in (first, second):  # its sender may be its owner
        (signal,) = (await store.look(0)).signals
        assert signal.kind == "row"
        assert json.loads(signal.body) == {"row": str(row.id), "account": "acme"}
    assert await first.outcome_of(row.id) is None
    assert await first.waiting_row(row.id) == row
    await second.fail_row(row.id, "odd")
    assert await first.waiting_row(row.id) is None
    assert await first.outcome_of(row.id) == "failed: odd"


async def test_a_change_of_a_ban_is_counted(first: SharedStore, second: SharedStore) -> None:
    before = (await second.look(0)).revisions.get("bans", 0)
    await first.put_ban(Ban(ActorId("slack:T:U"), "banned", "x", 0.0, None))

    assert (await second.look(0)).revisions["bans"] > before


async def test_a_store_is_shared_or_of_one_process_alone(
    address: Address, clock: ManualClock, first: SharedStore
) -> None:
    with pytest.raises(StoreError, match=r"in use by another process \(.*pid \d+"):
        await open_postgres(address, clock=clock, key=KEY)
    await first.close()
    alone = await open_postgres(address, clock=clock, key=KEY)
    try:
        with pytest.raises(StoreError, match="has it for itself alone; give it the section"):
            await open_shared(address, clock=clock, key=KEY)
    finally:
        await alone.close()


async def test_processes_that_start_at_once_make_an_empty_database_a_store(
    clock: ManualClock,
) -> None:
    address = empty_database("fresh")
    stores = await asyncio.gather(*(open_shared(address, clock=clock, key=KEY) for _ in range(4)))
    instances = await asyncio.gather(
        *(one.put_first_value(raw(1).account, "id", f"of {one.process}") for one in stores)
    )

    assert len(set(instances)) == 1
    assert len((await stores[0].look(0)).processes) == 4
    for store in stores:
        await store.close()
