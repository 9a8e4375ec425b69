"""What people edit and delete changes wherever it is shown; older news and other hands do not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bridge.content.messages.metadata import read_bridge_metadata
from bridge.errors import RateLimited, Unavailable
from bridge.model import Call, message_id_of
from bridge.store import SqliteStore
from tests.router.conftest import RouterRig
from tests.router.fake_clock import FakeClock
from tests.router.fake_connector import FakeConnector, FakeWithHistory
from tests.router.inbound.test_routing import texts_in


@pytest.fixture
def trio(clock: FakeClock) -> tuple[RouterRig, FakeConnector, FakeConnector]:
    sales, billing = FakeWithHistory("sales", clock), FakeWithHistory("billing", clock)
    rig = RouterRig(clock, SqliteStore.in_memory(clock), (sales, billing))
    rig.room("all", (sales, "s", "both"), (billing, "b", "both"), (billing, "c", "both"))
    return rig, sales, billing


Trio = tuple[RouterRig, FakeConnector, FakeConnector]


async def test_an_edit_changes_every_copy_and_the_archive(trio: Trio) -> None:
    rig, sales, billing = trio
    async with rig.run():
        first = await sales.say("s", "helo")
        await sales.say("s", "world")
        await rig.clock.let_work()
        await sales.edit("s", first, "hello")
        await rig.clock.let_work()

    assert billing.texts("b") == billing.texts("c") == ["hello", "world"]
    messages = (await rig.store.conversation(rig.rooms[0].conversation)).messages
    assert [read_bridge_metadata(one)[0].state for one in messages] == ["edited", None]
    assert await texts_in(rig.store, rig.rooms[0].conversation) == ["hello", "world"]


async def test_the_archive_knows_who_edited_and_deleted_a_message_and_how_often(
    trio: Trio,
) -> None:
    rig, sales, _ = trio
    async with rig.run():
        first = await sales.say("s", "helo")
        await rig.clock.let_work()
        await sales.edit("s", first, "hello")
        await rig.clock.let_work()
        await sales.delete("s", first)
        await rig.clock.let_work()

    own_id = message_id_of(sales.channel("s"), first)
    message = (await rig.store.archived([own_id]))[own_id]
    assert (message.deleted, message.versions) == (True, 2)
    assert message.editor is not None
    assert message.editor.startswith("fake:sales:")


async def test_a_longer_edit_makes_more_copies_and_a_shorter_one_keeps_order(trio: Trio) -> None:
    rig, sales, billing = trio
    async with rig.run():
        first = await sales.say("s", "short")
        await rig.clock.let_work()
        await sales.edit("s", first, "x" * 150)
        await rig.clock.let_work()

    assert billing.texts("b") == ["x" * 100, "x" * 50]


async def test_a_deletion_takes_every_copy_away_and_out_of_the_archive(trio: Trio) -> None:
    rig, sales, billing = trio
    async with rig.run():
        first = await sales.say("s", "a" * 150)
        await sales.say("s", "stays")
        await rig.clock.let_work()
        await sales.delete("s", first)
        await rig.clock.let_work()

    assert billing.texts("b") == billing.texts("c") == ["stays"]
    assert await texts_in(rig.store, rig.rooms[0].conversation) == ["stays"]


async def test_many_deletions_at_once_are_each_carried(trio: Trio) -> None:
    rig, sales, billing = trio
    async with rig.run():
        ids = [await sales.say("s", text) for text in ("one", "two", "three")]
        await rig.clock.let_work()
        await sales.delete("s", ids[0], ids[2], "unknown")
        await rig.clock.let_work()

    assert billing.texts("b") == ["two"]


async def test_an_older_edit_never_wins_and_a_deletion_is_final(trio: Trio) -> None:
    rig, sales, billing = trio
    now = rig.clock.time()
    async with rig.run():
        first, second = [await sales.say("s", text) for text in ("a", "b")]
        await rig.clock.let_work()
        await sales.edit("s", first, "newest", at=now + 20)
        await sales.edit("s", first, "late news of an older state", at=now + 10)
        await sales.edit("s", second, "seen", at=now + 20)
        await rig.clock.let_work()
        await sales.delete("s", second, at=now + 30)
        sales.channels["s"] = []
        await rig.clock.let_work()

    assert billing.texts("b") == ["newest"]


async def test_an_edit_before_the_post_went_out_is_one_post(trio: Trio) -> None:
    rig, sales, billing = trio
    billing.before_send = busy_for_a_while(rig.clock)
    async with rig.run():
        first = await sales.say("s", "helo")
        await rig.clock.let_work()
        await sales.edit("s", first, "hello")
        await rig.clock.advance(60)

    assert billing.texts("b") == billing.texts("c") == ["hello"]
    assert {text for _, _, text in billing.sent} == {"hello"}


async def test_a_message_that_is_deleted_before_it_is_sent_is_never_sent(trio: Trio) -> None:
    rig, sales, billing = trio
    billing.before_send = busy_for_a_while(rig.clock)
    async with rig.run():
        first = await sales.say("s", "oops")
        await sales.say("s", "good")
        await rig.clock.let_work()
        await sales.delete("s", first)
        await rig.clock.advance(60)

    assert billing.texts("b") == billing.texts("c") == ["good"]
    assert {text for _, _, text in billing.sent} == {"good"}
    assert await rig.store.dead_letters() == []


def busy_for_a_while(clock: FakeClock) -> Callable[[Call], None]:
    until = clock.time() + 10

    def harm(_call: Call) -> None:
        if clock.time() < until:
            raise RateLimited("slow down", retry_after=until - clock.time())

    return harm


async def test_an_edit_that_fails_for_a_while_arrives_in_its_order(trio: Trio) -> None:
    rig, sales, billing = trio
    async with rig.run():
        first = await sales.say("s", "helo")
        await rig.clock.let_work()
        failures = [Unavailable("gone")] * 2

        def harm(call: Call) -> None:
            if call.kind == "edit" and failures:
                raise failures.pop()

        billing.before_send = harm
        await sales.edit("s", first, "hello")
        await sales.say("s", "after")
        await rig.clock.advance(100)

    assert billing.texts("b") == billing.texts("c") == ["hello", "after"]


async def test_changes_of_unknown_messages_and_of_our_copies_are_kept_and_go_nowhere(
    trio: Trio,
) -> None:
    rig, sales, billing = trio
    async with rig.run():
        await sales.say("s", "hello")
        await rig.clock.let_work()
        copy = billing.channels["b"][0].id
        await billing.edit("b", copy, "forged")
        await billing.delete("b", copy)
        await sales.delete("s", "of long ago")
        await rig.clock.let_work()

    assert billing.texts("c") == ["hello"]
    assert sales.texts("s") == ["hello"]
    assert await texts_in(rig.store, rig.rooms[0].conversation) == ["hello"]


async def test_an_edit_without_a_change_sends_nothing(trio: Trio) -> None:
    rig, sales, billing = trio
    async with rig.run():
        first = await sales.say("s", "hello")
        await rig.clock.let_work()
        sent = len(billing.sent)
        await sales.edit("s", first, "hello")
        await rig.clock.let_work()

    assert len(billing.sent) == sent


async def test_our_own_edit_coming_back_goes_nowhere(trio: Trio) -> None:
    rig, sales, billing = trio
    async with rig.run():
        first = await sales.say("s", "hello")
        await rig.clock.let_work()
        await sales.edit("s", first, "ours", own=True)
        await rig.clock.let_work()

    assert billing.texts("b") == ["hello"]


async def test_a_channel_that_joined_later_gets_no_edit_of_an_older_message(
    clock: FakeClock,
) -> None:
    sales, billing = FakeConnector("sales", clock), FakeConnector("billing", clock)
    store = SqliteStore.in_memory(clock)
    rig = RouterRig(clock, store, (sales, billing))
    rig.room("all", (sales, "s", "both"), (billing, "b", "both"))
    async with rig.run():
        first = await sales.say("s", "hello")
        await clock.let_work()
    again = RouterRig(clock, store, (sales, billing))
    again.room("all", (sales, "s", "both"), (billing, "b", "both"), (billing, "new", "both"))
    async with again.run():
        await sales.edit("s", first, "hello there")
        await clock.let_work()

    assert billing.texts("b") == ["hello there"]
    assert billing.texts("new") == []
