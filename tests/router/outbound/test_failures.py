"""Whoever wrote what did not arrive is told so, and may have it tried again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from bridge.content.cards.interactions import action_token
from bridge.content.cards.reader import Cards
from bridge.errors import FormRefused, Refused
from bridge.model import Call, MessageId
from bridge.router.outbound.failure_marks import MARK
from bridge.router.outbound.notices import notice_id
from bridge.store import SqliteStore
from tests.router.conftest import RouterRig
from tests.router.fake_clock import FakeClock
from tests.router.inbound.test_presses import KEY, PressedFake

Pair = tuple[RouterRig, PressedFake, PressedFake]


@pytest.fixture
def pair(clock: FakeClock) -> Pair:
    sales, billing = PressedFake("sales", clock), PressedFake("billing", clock)
    rig = RouterRig(clock, SqliteStore.in_memory(clock), (sales, billing))
    rig.cards = Cards({}, KEY)
    rig.room("all", (sales, "s", "both"), (billing, "b", "both"))
    return rig, sales, billing


def refusing(reason: str = "channel is read-only; let the bot write") -> Callable[[Call], None]:
    def refuse(call: Call) -> None:
        raise Refused(reason)

    return refuse


async def undelivered(rig: RouterRig, sales: PressedFake) -> tuple[MessageId, str]:
    """A message that the billing refused, and the text of the notice under it."""
    native = await sales.say("s", "news")
    await rig.clock.let_work()
    message = await rig.store.resolve(sales.channel("s"), native)
    assert message
    return message, sales.texts("s")[-1]


async def press_again(sales: PressedFake, message: MessageId) -> None:
    token = action_token(KEY, notice_id("undelivered", message), "/content/0/data/nodes/1")
    await sales.press("s", sales.channels["s"][1].id, token)


async def test_a_refused_post_is_reported_to_its_channel_with_the_reason(pair: Pair) -> None:
    rig, sales, billing = pair
    billing.before_send = refusing()
    async with rig.run():
        _, notice = await undelivered(rig, sales)

    assert "did not reach Fake b: channel is read-only; let the bot write" in notice
    assert len(sales.texts("s")) == 2


async def test_the_button_tries_again_and_the_notice_says_that_it_arrived(pair: Pair) -> None:
    rig, sales, billing = pair
    billing.before_send = refusing()
    async with rig.run():
        message, _ = await undelivered(rig, sales)
        billing.before_send = None
        await press_again(sales, message)
        await rig.clock.let_work()

    assert billing.texts("b") == ["news"]
    assert sales.texts("s")[:2] == ["news", "This was delivered after all."]
    assert await rig.store.dead_letters() == []


async def test_a_retry_that_fails_updates_the_same_notice(pair: Pair) -> None:
    rig, sales, billing = pair
    billing.before_send = refusing("not yet")
    async with rig.run():
        message, _ = await undelivered(rig, sales)
        billing.before_send = refusing("never")
        await press_again(sales, message)
        await press_again(sales, message)
        await rig.clock.let_work()

    said = [text for text in sales.texts("s") if text]  # a press leaves an empty post
    assert len(said) == 2
    assert "never" in said[-1]


async def test_a_failure_before_a_stop_is_reported_once_at_the_next_start(pair: Pair) -> None:
    rig, sales, billing = pair
    billing.before_send = refusing()
    silent = [replace(room, undelivered="off") for room in rig.rooms]
    telling, rig.rooms = rig.rooms, silent
    async with rig.run():
        await undelivered(rig, sales)
    assert sales.texts("s") == ["news"]

    rig.rooms = telling
    for _ in range(2):
        async with rig.run():
            await rig.clock.let_work()

    assert len(sales.texts("s")) == 2


async def test_a_notice_that_is_refused_itself_leads_to_no_other(pair: Pair) -> None:
    rig, sales, billing = pair
    billing.before_send = sales.before_send = refusing()
    async with rig.run():
        await undelivered(rig, sales)
        await rig.clock.let_work()

    assert sales.texts("s") == ["news"]
    assert len(await rig.store.dead_letters()) == 2


async def test_one_notice_lists_all_channels_that_a_message_did_not_reach(clock: FakeClock) -> None:
    sales, billing = PressedFake("sales", clock), PressedFake("billing", clock)
    rig = RouterRig(clock, SqliteStore.in_memory(clock), (sales, billing))
    rig.cards = Cards({}, KEY)
    rig.room("all", (sales, "s", "both"), (billing, "b", "both"), (billing, "c", "both"))
    billing.before_send = refusing()
    async with rig.run():
        message, _ = await undelivered(rig, sales)

    notice = "".join(sales.texts("s")[1:])  # two pieces: the fake connector takes 100 characters
    assert notice.count("Fake b") == notice.count("Fake c") == 1
    assert await rig.store.message(notice_id("undelivered", message))


async def test_the_failure_mark_is_added_once_and_removed_after_delivery(pair: Pair) -> None:
    rig, sales, billing = pair
    rig.rooms = [replace(room, undelivered="reaction") for room in rig.rooms]
    billing.before_send = refusing("not yet")
    async with rig.run() as router:
        await undelivered(rig, sales)
        assert sales.channels["s"][0].emoji() == {MARK}
        failures = router.parts.outbound.failures
        await failures.retry_in(rig.rooms[0], sales.channel("s"))
        await rig.clock.let_work()
        assert sales.marked == [("add_reaction", MARK)]
        ((_, why),) = await failures.undelivered_in(rig.rooms[0], sales.channel("s"))
        assert why == "“news”: This did not reach Fake b: not yet"
        assert await failures.undelivered_in(rig.rooms[0], billing.channel("b")) == []
        billing.before_send = None
        assert await failures.retry_in(rig.rooms[0], sales.channel("s")) == 1
        await rig.clock.let_work()
        assert await failures.undelivered_in(rig.rooms[0], sales.channel("s")) == []

    assert sales.texts("s") == ["news"]
    assert sales.channels["s"][0].emoji() == set()


async def test_a_notice_replaces_a_failure_mark_that_the_platform_refuses(pair: Pair) -> None:
    rig, sales, billing = pair
    rig.rooms = [replace(room, undelivered="reaction") for room in rig.rooms]
    billing.before_send = refusing()

    def refuse_marks(call: Call) -> None:
        if call.method == "add_reaction":
            raise FormRefused("reactions are closed")

    sales.before_send = refuse_marks
    async with rig.run():
        _, notice = await undelivered(rig, sales)

    assert "did not reach Fake b" in notice
    assert sales.channels["s"][0].emoji() == set()


async def test_a_failure_mark_that_a_person_also_uses_as_a_reaction_stays(pair: Pair) -> None:
    rig, sales, billing = pair
    rig.room("more", (sales, "s", "both"), (billing, "c", "both"))
    rig.rooms = [replace(room, undelivered="reaction") for room in rig.rooms]
    billing.before_send = lambda call: (
        refusing()(call) if call.channel == billing.channel("b") else None
    )
    async with rig.run() as router:
        await undelivered(rig, sales)
        await billing.react("c", billing.channels["c"][0].id, MARK, author="bob")
        await rig.clock.let_work()
        billing.before_send = None
        await router.parts.outbound.failures.retry_in(rig.rooms[0], sales.channel("s"))
        await rig.clock.let_work()
        assert billing.texts("b") == ["news"]

    assert sales.channels["s"][0].emoji() == {MARK}
