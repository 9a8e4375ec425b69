"""What happens to messages that nobody knows yet waits for them, and holds nothing up."""

from __future__ import annotations

import orjson
import pytest

from bridge.model import ChannelRef, Raw
from bridge.store import SqliteStore
from tests.router.conftest import House
from tests.router.fake_clock import FakeClock
from tests.router.inbound.test_routing import said
from tests.router.paper import PaperConnector, PaperWithHistory


class PaperThatFetches(PaperWithHistory):
    """The same platform, where one message can be asked for."""

    asked = 0

    async def fetch(self, channel: ChannelRef, native_id: str, thread: str | None) -> Raw | None:
        self.asked += 1
        for post in self.channels[channel.channel]:
            if post.id == native_id:
                return posted(self, post.id, post.text)
        return None


def posted(slate: PaperConnector, native_id: str, text: str, channel: str = "s") -> Raw:
    payload = {"id": native_id, "author": "ann", "text": text, "thread": None}
    return Raw(
        account=slate.account, kind="post", dedupe_key=native_id, order_key=native_id,
        channel=slate.channel(channel), payload=orjson.dumps(payload),
    )  # fmt: skip


def edited(slate: PaperConnector, native_id: str, text: str, at: float) -> Raw:
    payload = {"id": native_id, "author": "ann", "text": text, "at": at}
    return Raw(
        account=slate.account, kind="edit", dedupe_key=f"edit {native_id} {at}",
        order_key=native_id + "~", channel=slate.channel("s"), payload=orjson.dumps(payload),
    )  # fmt: skip


def deleted(slate: PaperConnector, *native_ids: str, at: float = 1.0) -> Raw:
    payload = {"ids": native_ids, "author": "ann", "at": at}
    return Raw(
        account=slate.account, kind="delete", dedupe_key=f"delete {native_ids}",
        order_key=native_ids[0] + "~", channel=slate.channel("s"), payload=orjson.dumps(payload),
    )  # fmt: skip


@pytest.fixture
def pair(clock: FakeClock) -> tuple[House, PaperThatFetches, PaperConnector]:
    slate, board = PaperThatFetches("slate", clock), PaperConnector("board", clock)
    house = House(clock, SqliteStore.in_memory(clock), (slate, board))
    house.room("all", (slate, "s", "both"), (board, "b", "both"))
    return house, slate, board


Pair = tuple[House, PaperThatFetches, PaperConnector]


async def test_an_edit_that_comes_before_its_post_waits_for_it_and_holds_nothing_up(
    pair: Pair,
) -> None:
    house, slate, board = pair
    async with house.run() as router:
        await router.inbox.accept(edited(slate, "900001", "mended", house.clock.now + 2))
        await router.inbox.accept(edited(slate, "900001", "mended twice", house.clock.now + 3))
        await router.inbox.accept(posted(slate, "900002", "another"))
        await house.clock.let_work()
        assert board.texts("b") == ["another"]

        await house.clock.advance(10)
        await router.inbox.accept(posted(slate, "900001", "broken"))
        await house.clock.let_work()

    assert board.texts("b") == ["another", "mended twice"]
    assert slate.asked == 0


async def test_a_message_that_does_not_come_is_fetched(pair: Pair) -> None:
    house, slate, board = pair
    async with house.run() as router:
        lost = slate.raw("s", "now it says this")
        await router.inbox.accept(edited(slate, lost.dedupe_key, "now it says this", 5e9))
        await house.clock.advance(31)

    assert board.texts("b") == ["now it says this"]


async def test_what_was_said_before_we_came_is_not_fetched_into_the_room(pair: Pair) -> None:
    house, slate, board = pair
    old = slate.raw("s", "said long ago")
    async with house.run() as router:
        await router.inbox.accept(edited(slate, old.dedupe_key, "edited now", 5e9))
        await house.clock.advance(31)
        row = await house.store.inbox_row(1)

    assert row is not None
    assert slate.asked == 1
    assert board.texts("b") == []
    assert await house.store.waiting_rows() == []


async def test_an_orphan_waits_through_a_restart(clock: FakeClock) -> None:
    slate, board = PaperConnector("slate", clock), PaperConnector("board", clock)
    store = SqliteStore.in_memory(clock)
    first = House(clock, store, (slate, board))
    first.room("all", (slate, "s", "both"), (board, "b", "both"))
    async with first.run() as router:
        await router.inbox.accept(edited(slate, "900001", "mended", clock.now + 2))
        await clock.advance(3)
    again = House(clock, store, (slate, board))
    again.room("all", (slate, "s", "both"), (board, "b", "both"))
    async with again.run() as router:
        await router.inbox.accept(posted(slate, "900001", "broken"))
        await clock.let_work()

    assert board.texts("b") == ["mended"]


async def test_an_edit_that_was_given_up_happens_when_its_post_comes_after_all(
    clock: FakeClock,
) -> None:
    slate, board = PaperConnector("slate", clock), PaperConnector("board", clock)
    store = SqliteStore.in_memory(clock)
    house = House(clock, store, (slate, board))
    house.room("all", (slate, "s", "both"), (board, "b", "both"))
    async with house.run() as router:
        await router.inbox.accept(edited(slate, "900001", "mended", clock.now + 2))
        await clock.advance(31)
        assert await store.waiting_rows() == []
    again = House(clock, store, (slate, board))
    again.room("all", (slate, "s", "both"), (board, "b", "both"))
    async with again.run() as router:
        await router.inbox.accept(posted(slate, "900001", "broken"))
        await clock.let_work()

    assert board.texts("b") == ["mended"]


async def test_a_post_that_comes_after_its_deletion_is_never_shown(clock: FakeClock) -> None:
    slate, board = PaperConnector("slate", clock), PaperConnector("board", clock)
    store = SqliteStore.in_memory(clock)
    for late in ("900001", "900002"):
        house = House(clock, store, (slate, board))
        house.room("all", (slate, "s", "both"), (board, "b", "both"))
        async with house.run() as router:
            await router.inbox.accept(deleted(slate, "900001", "900002"))
            await clock.let_work()
            await router.inbox.accept(posted(slate, late, "too late"))
            await clock.let_work()

    assert [text for _, _, text in board.sent] == []
    assert await said(store, house.rooms[0].conversation) == []


async def test_an_edit_that_is_undone_wins_over_the_one_before_it(pair: Pair) -> None:
    house, slate, board = pair
    async with house.run() as router:
        now = house.clock.now
        await router.inbox.accept(posted(slate, "900001", "as it was"))
        await router.inbox.accept(edited(slate, "900001", "as it was", now + 9))
        await router.inbox.accept(edited(slate, "900001", "for a moment", now + 8))
        await house.clock.let_work()

    assert board.texts("b") == ["as it was"]
