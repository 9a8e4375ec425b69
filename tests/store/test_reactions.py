"""Both stores keep their promises on reactions and pins; SQLite over a restart, too."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bridge.model import LaneId, MessageId, OperationId, Receipt
from bridge.model.outbox_records import Settlement
from bridge.ports.store.whole import Store
from bridge.store import SqliteStore, links, open_sqlite, outbox
from bridge.store.connection import Connection
from bridge.testing.clock import ManualClock
from bridge.testing.store_contract import AWAY, admit, copy, new_message, post
from bridge.testing.store_contract_reactions import (
    ReactionsContract,
    drain_mark_lanes,
    message_with_copies,
    reaction,
    stored_reactions,
)
from tests.store.conftest import KEY


class TestSqliteStore(ReactionsContract):
    @pytest.fixture
    async def store(self, clock: ManualClock, path: Path) -> AsyncIterator[Store]:
        store = await open_sqlite(path, clock=clock, key=KEY)
        yield store
        await store.close()


class TestSqliteInMemory(ReactionsContract):
    @pytest.fixture
    async def store(self, clock: ManualClock) -> Store:
        return SqliteStore.in_memory(clock)


async def test_waiting_reactions_survive_a_restart(clock: ManualClock, path: Path) -> None:
    store = await open_sqlite(path, clock=clock, key=KEY)
    new = await message_with_copies(store)
    await store.admit(reaction(new, 1))
    item = await store.head(AWAY.reaction_lane)
    assert item is not None
    await store.begin(item.delivery.operation.id)  # killed while it is on its way
    await store.close()

    again = await open_sqlite(path, clock=clock, key=KEY)

    assert await drain_mark_lanes(again) == ["+👍 away 1", "+👍 far 1"]
    assert len(await stored_reactions(again, new)) == 1
    await again.close()


async def test_a_reaction_sees_a_post_that_ends_while_its_lane_looks(
    clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SqliteStore.in_memory(clock)
    new = new_message("m1")
    await admit(store, new, post("p1", new))
    await store.begin(OperationId("p1"))
    await store.admit(reaction(new, 1))
    asked: list[LaneId] = []
    copies_now = links.copies

    def copies(db: Connection, message: MessageId, lane: LaneId) -> tuple[Receipt, ...]:
        found = copies_now(db, message, lane)
        if not asked:  # the post ends behind this answer
            end = Settlement(OperationId("p1"), "done", receipts=(copy("x0"),))
            assert outbox.settle(db, end, clock.time())
        asked.append(lane)
        return found

    monkeypatch.setattr(links, "copies", copies)
    assert store.writer is not None
    item = await store.writer.run(outbox.head, AWAY.reaction_lane)

    assert item is not None
    assert (item.delivery.copies, item.post_open) == ((copy("x0"),), False)
