"""What goes round is stopped: other bridges' copies, floods, and who is barred stays outside."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bridge.model import ActorId, RoomId
from bridge.router import RoomOptions
from tests.router.conftest import RouterRig
from tests.router.fake_connector import FakeConnector
from tests.router.inbound.test_changes import trio
from tests.router.inbound.test_routing import texts_in

__all__ = ["trio"]  # a fixture
Trio = tuple[RouterRig, FakeConnector, FakeConnector]
ROOM = RoomId("all")
BOB = ActorId("fake:sales:bob")


def limited(rig: RouterRig, bots_per_minute: int | None) -> None:
    options = RoomOptions(bots_per_minute=bots_per_minute)
    rig.rooms = [replace(rig.rooms[0], options=options)]


@pytest.mark.parametrize(
    "copy", ["hello, world", "*hello,*  WORLD", "<Ann> hello, world", "[fake] <Ann> hello, world",
             "**Ann**: hello, world"],
)  # fmt: skip
async def test_another_bridges_copy_of_our_message_is_not_carried_back(
    trio: Trio, copy: str
) -> None:
    rig, sales, billing = trio
    async with rig.run():
        await sales.say("s", "hello, world")
        await rig.clock.let_work()
        await billing.say("b", copy, author="otherbridge", bot=True)
        await rig.clock.let_work()

    assert sales.texts("s") == ["hello, world"]
    assert billing.texts("c") == ["hello, world"]


@pytest.mark.parametrize("signs", ["👍", "?!", "👍🏽 🎉"])
async def test_another_bridges_copy_of_emoji_alone_is_not_carried_back(
    trio: Trio, signs: str
) -> None:
    rig, sales, billing = trio
    async with rig.run():
        await sales.say("s", signs)
        await rig.clock.let_work()
        await billing.say("b", signs, author="otherbridge", bot=True)
        await rig.clock.let_work()

    assert sales.texts("s") == [signs]


async def test_a_bot_may_post_new_texts_and_a_person_may_repeat_any(trio: Trio) -> None:
    rig, sales, billing = trio
    async with rig.run():
        await sales.say("s", "ok")
        await billing.say("b", "build: ok, really", author="ci", bot=True)
        await billing.say("b", "ok", author="bob")
        await rig.clock.advance(100)
        await billing.say("b", "ok", author="ci", bot=True)
        await rig.clock.let_work()

    assert sales.texts("s") == ["ok", "build: ok, really", "ok", "ok"]


async def test_a_flood_of_bot_posts_pauses_the_room_and_notifies_everybody(trio: Trio) -> None:
    rig, sales, billing = trio
    limited(rig, 5)
    async with rig.run() as router:
        for n in range(9):
            await sales.say("s", f"tick {n}", author="clock", bot=True)
        await sales.say("s", "and I?", author="ann")
        await rig.clock.let_work()
        assert router.parts.rooms.bans.paused(ROOM)

        await rig.clock.advance(601)
        await sales.say("s", "again", author="ann")
        await rig.clock.let_work()

    shown = billing.texts("b")
    assert [text for text in shown if text.startswith("tick")] == [f"tick {n}" for n in range(5)]
    assert "".join(shown[5:]).count("This room is paused") == 1
    assert shown[-1] == "again"
    assert "and I?" not in shown
    assert "This room is paused" in "".join(sales.texts("s"))


async def test_people_may_say_as_much_as_they_like(trio: Trio) -> None:
    rig, sales, billing = trio
    limited(rig, 5)
    async with rig.run() as router:
        for n in range(200):
            await sales.say("s", f"fast {n}")
            await billing.say("b", "gg")
        await rig.clock.advance(1)

        assert not router.parts.rooms.bans.paused(ROOM)
    assert len(billing.texts("c")) == 400


async def test_an_unforeseen_loop_is_stopped_after_a_few_rounds(trio: Trio) -> None:
    """Another bridge speaks through people's own accounts, and adds nothing."""
    rig, sales, billing = trio
    limited(rig, None)
    async with rig.run() as router:
        text = "a sentence that nobody says twice"
        for n in range(100):
            await (sales.say("s", text) if n % 2 else billing.say("b", text))
            await rig.clock.let_work()
        await sales.say("s", "and what do you say?")
        await rig.clock.let_work()
        assert not router.parts.rooms.bans.paused(ROOM)

    carried = [one for one in billing.texts("c") if one == text]
    assert 1 <= len(carried) < 40
    assert billing.texts("c")[-1] == "and what do you say?"


@pytest.mark.parametrize("text", ["ok", "a sentence that nobody says twice"])
async def test_a_member_who_repeats_what_a_bot_said_pauses_nothing(trio: Trio, text: str) -> None:
    rig, sales, billing = trio
    async with rig.run() as router:
        await sales.say("s", text, author="ci", bot=True)
        for _ in range(12):
            await billing.say("b", text, author="bob")
            await rig.clock.let_work()
        await billing.say("b", "and I?", author="ann")
        await rig.clock.let_work()
        assert not router.parts.rooms.bans.paused(ROOM)

    assert sales.texts("s") == [*[text] * 13, "and I?"]


async def test_a_text_that_people_repeat_is_refused_and_no_other(trio: Trio) -> None:
    rig, sales, billing = trio
    async with rig.run() as router:
        text = "a sentence that nobody says twice"
        await sales.say("s", text, author="ann")
        for _ in range(40):
            await billing.say("b", text, author="bob")
            await rig.clock.let_work()
        await billing.say("b", "and I?", author="bob")
        await rig.clock.let_work()
        assert not router.parts.rooms.bans.paused(ROOM)

    assert billing.texts("c") == [*[text] * 29, "and I?"]


async def test_a_member_who_makes_bots_say_too_much_pauses_nothing(trio: Trio) -> None:
    rig, sales, billing = trio
    limited(rig, 5)
    async with rig.run() as router:
        for n in range(9):
            await sales.say("s", "!tick", author="bob")
            await sales.say("s", f"tick {n}", author="clock", bot=True)
        await rig.clock.let_work()
        assert not router.parts.rooms.bans.paused(ROOM)

    assert [text for text in billing.texts("b") if text.startswith("tick")] == [
        f"tick {n}" for n in range(5)
    ]
    assert billing.texts("b").count("!tick") == 9


async def test_catch_up_of_long_ago_is_no_flood(trio: Trio) -> None:
    rig, sales, billing = trio
    limited(rig, 5)
    async with rig.run() as router:
        for n in range(20):
            at = rig.clock.time() - 86_400 + 30 * n
            await sales.say("s", f"alert {n}", author="ci", bot=True, at=at)
        await rig.clock.let_work()
        assert not router.parts.rooms.bans.paused(ROOM)

    assert len(billing.texts("b")) == 20


async def test_a_banned_person_is_not_admitted_until_unbanned_also_after_a_restart(
    trio: Trio,
) -> None:
    rig, sales, billing = trio
    async with rig.run() as router:
        first = await sales.say("s", "before", author="bob")
        await rig.clock.let_work()
        await router.parts.rooms.bans.ban(BOB, "banned", "cli", ROOM)
        await sales.say("s", "blocked", author="bob")
        await sales.edit("s", first, "edited")
        await sales.say("s", "of others")
        await rig.clock.let_work()
    async with rig.run() as router:
        await sales.say("s", "still blocked", author="bob")
        await rig.clock.let_work()
        assert billing.texts("b") == ["before", "of others"]
        assert await router.parts.rooms.bans.unban(BOB, "banned", ROOM)
        await sales.say("s", "back", author="bob")
        await sales.delete("s", first)
        await rig.clock.let_work()

    assert billing.texts("b") == ["of others", "back"]
    assert await texts_in(rig.store, rig.rooms[0].conversation) == ["of others", "back"]


async def test_blocking_one_account_blocks_the_person(trio: Trio) -> None:
    rig, _, billing = trio
    other = ActorId("fake:billing:robert")
    await rig.store.link_people(BOB, other, "command")
    async with rig.run() as router:
        await router.parts.rooms.bans.ban(BOB, "opted_out", BOB, None)
        await billing.say("b", "from the other account", author="robert")
        await rig.clock.let_work()

    assert billing.texts("c") == []


async def test_a_deletion_by_a_banned_person_is_carried(trio: Trio) -> None:
    rig, sales, billing = trio
    async with rig.run() as router:
        first = await sales.say("s", "mine", author="ann")
        await rig.clock.let_work()
        await router.parts.rooms.bans.ban(ActorId("fake:sales:ann"), "opted_out", "self", None)
        await sales.delete("s", first)
        await rig.clock.let_work()

    assert billing.texts("b") == []
