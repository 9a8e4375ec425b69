"""What happens to messages that nobody knows yet waits for them, and holds nothing up."""

from __future__ import annotations

from dataclasses import replace

import orjson
import pytest

from bridge.model import ChannelRef, Raw
from bridge.ports.abilities import Abilities
from bridge.store import SqliteStore
from tests.router.conftest import RouterRig
from tests.router.fake_clock import FakeClock
from tests.router.fake_connector import FakeConnector, FakeWithHistory
from tests.router.inbound.test_routing import texts_in


class FakeThatFetches(FakeWithHistory):
    """The same platform, where one message can be asked for."""

    requests = 0

    def own_abilities(self) -> Abilities:
        return replace(super().own_abilities(), lookup=self)

    async def fetch(self, channel: ChannelRef, native_id: str, thread: str | None) -> Raw | None:
        self.requests += 1
        for post in self.channels[channel.channel]:
            if post.id == native_id:
                return posted(self, post.id, post.text)
        return None


def posted(sales: FakeConnector, native_id: str, text: str, channel: str = "s") -> Raw:
    payload = {"id": native_id, "author": "ann", "text": text, "thread": None}
    return Raw(
        account=sales.account, kind="post", dedupe_key=native_id, order_key=native_id,
        channel=sales.channel(channel), payload=orjson.dumps(payload),
    )  # fmt: skip


def edited(sales: FakeConnector, native_id: str, text: str, at: float) -> Raw:
    payload = {"id": native_id, "author": "ann", "text": text, "at": at}
    return Raw(
        account=sales.account, kind="edit", dedupe_key=f"edit {native_id} {at}",
        order_key=native_id + "~", channel=sales.channel("s"), payload=orjson.dumps(payload),
    )  # fmt: skip


def deleted(sales: FakeConnector, *native_ids: str, at: float = 1.0) -> Raw:
    payload = {"ids": native_ids, "author": "ann", "at": at}
    return Raw(
        account=sales.account, kind="delete", dedupe_key=f"delete {native_ids}",
        order_key=native_ids[0] + "~", channel=sales.channel("s"), payload=orjson.dumps(payload),
    )  # fmt: skip


@pytest.fixture
def pair(clock: FakeClock) -> tuple[RouterRig, FakeThatFetches, FakeConnector]:
    sales, billing = FakeThatFetches("sales", clock), FakeConnector("billing", clock)
    rig = RouterRig(clock, SqliteStore.in_memory(clock), (sales, billing))
    rig.room("all", (sales, "s", "both"), (billing, "b", "both"))
    return rig, sales, billing


Pair = tuple[RouterRig, FakeThatFetches, FakeConnector]


async def test_an_edit_that_comes_before_its_post_waits_for_it_and_holds_nothing_up(
    pair: Pair,
) -> None:
    rig, sales, billing = pair
    async with rig.run() as router:
        await router.inbox.accept(edited(sales, "900001", "mended", rig.clock.now + 2))
        await router.inbox.accept(edited(sales, "900001", "mended twice", rig.clock.now + 3))
        await router.inbox.accept(posted(sales, "900002", "another"))
        await rig.clock.let_work()
        assert billing.texts("b") == ["another"]

        await rig.clock.advance(10)
        await router.inbox.accept(posted(sales, "900001", "broken"))
        await rig.clock.let_work()

    assert billing.texts("b") == ["another", "mended twice"]
    assert sales.requests == 0


async def test_a_message_that_does_not_come_is_fetched(pair: Pair) -> None:
    rig, sales, billing = pair
    async with rig.run() as router:
        lost = sales.raw("s", "now it says this")
        await router.inbox.accept(edited(sales, lost.dedupe_key, "now it says this", 5e9))
        await rig.clock.advance(31)

    assert billing.texts("b") == ["now it says this"]


async def test_an_edit_of_a_message_from_before_the_bridge_joined_does_not_bring_it_into_the_room(
    pair: Pair,
) -> None:
    rig, sales, billing = pair
    old = sales.raw("s", "said long ago")
    async with rig.run() as router:
        await router.inbox.accept(edited(sales, old.dedupe_key, "edited now", 5e9))
        await rig.clock.advance(31)
        row = await rig.store.inbox_row(1)

    assert row is not None
    assert sales.requests == 1
    assert billing.texts("b") == []
    assert await rig.store.waiting_rows() == []


async def test_an_orphan_waits_through_a_restart(clock: FakeClock) -> None:
    sales, billing = FakeConnector("sales", clock), FakeConnector("billing", clock)
    store = SqliteStore.in_memory(clock)
    first = RouterRig(clock, store, (sales, billing))
    first.room("all", (sales, "s", "both"), (billing, "b", "both"))
    async with first.run() as router:
        await router.inbox.accept(edited(sales, "900001", "mended", clock.now + 2))
        await clock.advance(3)
    again = RouterRig(clock, store, (sales, billing))
    again.room("all", (sales, "s", "both"), (billing, "b", "both"))
    async with again.run() as router:
        await router.inbox.accept(posted(sales, "900001", "broken"))
        await clock.let_work()

    assert billing.texts("b") == ["mended"]


async def test_an_edit_that_was_given_up_happens_when_its_post_comes_after_all(
    clock: FakeClock,
) -> None:
    sales, billing = FakeConnector("sales", clock), FakeConnector("billing", clock)
    store = SqliteStore.in_memory(clock)
    rig = RouterRig(clock, store, (sales, billing))
    rig.room("all", (sales, "s", "both"), (billing, "b", "both"))
    async with rig.run() as router:
        await router.inbox.accept(edited(sales, "900001", "mended", clock.now + 2))
        await clock.advance(31)
        assert await store.waiting_rows() == []
    again = RouterRig(clock, store, (sales, billing))
    again.room("all", (sales, "s", "both"), (billing, "b", "both"))
    async with again.run() as router:
        await router.inbox.accept(posted(sales, "900001", "broken"))
        await clock.let_work()

    assert billing.texts("b") == ["mended"]


async def test_a_post_that_comes_after_its_deletion_is_never_shown(clock: FakeClock) -> None:
    sales, billing = FakeConnector("sales", clock), FakeConnector("billing", clock)
    store = SqliteStore.in_memory(clock)
    for late in ("900001", "900002"):
        rig = RouterRig(clock, store, (sales, billing))
        rig.room("all", (sales, "s", "both"), (billing, "b", "both"))
        async with rig.run() as router:
            await router.inbox.accept(deleted(sales, "900001", "900002"))
            await clock.let_work()
            await router.inbox.accept(posted(sales, late, "too late"))
            await clock.let_work()

    assert [text for _, _, text in billing.sent] == []
    assert await texts_in(store, rig.rooms[0].conversation) == []


async def test_an_edit_that_is_undone_wins_over_the_one_before_it(pair: Pair) -> None:
    rig, sales, billing = pair
    async with rig.run() as router:
        now = rig.clock.now
        await router.inbox.accept(posted(sales, "900001", "as it was"))
        await router.inbox.accept(edited(sales, "900001", "as it was", now + 9))
        await router.inbox.accept(edited(sales, "900001", "for a moment", now + 8))
        await rig.clock.let_work()

    assert billing.texts("b") == ["as it was"]
