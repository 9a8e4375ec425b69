"""What goes round is stopped: other bridges' copies, floods, and who is barred stays outside."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bridge.model import ActorId, RoomId
from bridge.router import RoomOptions
from tests.router.conftest import House
from tests.router.inbound.test_changes import trio
from tests.router.inbound.test_routing import said
from tests.router.paper import PaperConnector

__all__ = ["trio"]  # a fixture
Trio = tuple[House, PaperConnector, PaperConnector]
ROOM = RoomId("all")
BOB = ActorId("paper:slate:bob")


def limited(house: House, bots_per_minute: int | None) -> None:
    options = RoomOptions(bots_per_minute=bots_per_minute)
    house.rooms = [replace(house.rooms[0], options=options)]


@pytest.mark.parametrize(
    "copy", ["hello, world", "*hello,*  WORLD", "<Ann> hello, world", "[paper] <Ann> hello, world",
             "**Ann**: hello, world"],
)  # fmt: skip
async def test_another_bridges_copy_of_what_was_said_is_not_carried_back(
    trio: Trio, copy: str
) -> None:
    house, slate, board = trio
    async with house.run():
        await slate.say("s", "hello, world")
        await house.clock.let_work()
        await board.say("b", copy, author="otherbridge", bot=True)
        await house.clock.let_work()

    assert slate.texts("s") == ["hello, world"]
    assert board.texts("c") == ["hello, world"]


@pytest.mark.parametrize("signs", ["👍", "?!", "👍🏽 🎉"])
async def test_signs_and_emoji_alone_are_not_carried_back_either(trio: Trio, signs: str) -> None:
    house, slate, board = trio
    async with house.run():
        await slate.say("s", signs)
        await house.clock.let_work()
        await board.say("b", signs, author="otherbridge", bot=True)
        await house.clock.let_work()

    assert slate.texts("s") == [signs]


async def test_a_bot_may_say_what_nobody_else_said_and_a_person_anything(trio: Trio) -> None:
    house, slate, board = trio
    async with house.run():
        await slate.say("s", "ok")
        await board.say("b", "build: ok, really", author="ci", bot=True)
        await board.say("b", "ok", author="bob")
        await house.clock.advance(100)
        await board.say("b", "ok", author="ci", bot=True)
        await house.clock.let_work()

    assert slate.texts("s") == ["ok", "build: ok, really", "ok", "ok"]


async def test_bots_that_say_too_much_pause_the_room_and_everybody_is_told(trio: Trio) -> None:
    house, slate, board = trio
    limited(house, 5)
    async with house.run() as router:
        for n in range(9):
            await slate.say("s", f"tick {n}", author="clock", bot=True)
        await slate.say("s", "and I?", author="ann")
        await house.clock.let_work()
        assert router.parts.rooms.bans.paused(ROOM)

        await house.clock.advance(601)
        await slate.say("s", "again", author="ann")
        await house.clock.let_work()

    shown = board.texts("b")
    assert [text for text in shown if text.startswith("tick")] == [f"tick {n}" for n in range(5)]
    assert "".join(shown[5:]).count("This room is paused") == 1
    assert shown[-1] == "again"
    assert "and I?" not in shown
    assert "This room is paused" in "".join(slate.texts("s"))


async def test_people_may_say_as_much_as_they_like(trio: Trio) -> None:
    house, slate, board = trio
    limited(house, 5)
    async with house.run() as router:
        for n in range(200):
            await slate.say("s", f"fast {n}")
            await board.say("b", "gg")
        await house.clock.advance(1)

        assert not router.parts.rooms.bans.paused(ROOM)
    assert len(board.texts("c")) == 400


async def test_what_nobody_foresaw_goes_round_a_few_times_and_is_stopped(trio: Trio) -> None:
    """Another bridge speaks through people's own accounts, and adds nothing."""
    house, slate, board = trio
    limited(house, None)
    async with house.run() as router:
        text = "a sentence that nobody says twice"
        for n in range(100):
            await (slate.say("s", text) if n % 2 else board.say("b", text))
            await house.clock.let_work()
        await slate.say("s", "and what do you say?")
        await house.clock.let_work()
        assert not router.parts.rooms.bans.paused(ROOM)

    carried = [one for one in board.texts("c") if one == text]
    assert 1 <= len(carried) < 40
    assert board.texts("c")[-1] == "and what do you say?"


@pytest.mark.parametrize("text", ["ok", "a sentence that nobody says twice"])
async def test_a_member_who_repeats_what_a_bot_said_pauses_nothing(trio: Trio, text: str) -> None:
    house, slate, board = trio
    async with house.run() as router:
        await slate.say("s", text, author="ci", bot=True)
        for _ in range(12):
            await board.say("b", text, author="bob")
            await house.clock.let_work()
        await board.say("b", "and I?", author="ann")
        await house.clock.let_work()
        assert not router.parts.rooms.bans.paused(ROOM)

    assert slate.texts("s") == [*[text] * 13, "and I?"]


async def test_a_text_that_people_repeat_is_refused_and_no_other(trio: Trio) -> None:
    house, slate, board = trio
    async with house.run() as router:
        text = "a sentence that nobody says twice"
        await slate.say("s", text, author="ann")
        for _ in range(40):
            await board.say("b", text, author="bob")
            await house.clock.let_work()
        await board.say("b", "and I?", author="bob")
        await house.clock.let_work()
        assert not router.parts.rooms.bans.paused(ROOM)

    assert board.texts("c") == [*[text] * 29, "and I?"]


async def test_a_member_who_makes_bots_say_too_much_pauses_nothing(trio: Trio) -> None:
    house, slate, board = trio
    limited(house, 5)
    async with house.run() as router:
        for n in range(9):
            await slate.say("s", "!tick", author="bob")
            await slate.say("s", f"tick {n}", author="clock", bot=True)
        await house.clock.let_work()
        assert not router.parts.rooms.bans.paused(ROOM)

    assert [one for one in board.texts("b") if one.startswith("tick")] == [
        f"tick {n}" for n in range(5)
    ]
    assert board.texts("b").count("!tick") == 9


async def test_catch_up_of_long_ago_is_no_flood(trio: Trio) -> None:
    house, slate, board = trio
    limited(house, 5)
    async with house.run() as router:
        for n in range(20):
            at = house.clock.time() - 86_400 + 30 * n
            await slate.say("s", f"alert {n}", author="ci", bot=True, at=at)
        await house.clock.let_work()
        assert not router.parts.rooms.bans.paused(ROOM)

    assert len(board.texts("b")) == 20


async def test_who_is_blocked_is_not_admitted_until_unblocked_also_after_a_restart(
    trio: Trio,
) -> None:
    house, slate, board = trio
    async with house.run() as router:
        first = await slate.say("s", "before", author="bob")
        await house.clock.let_work()
        await router.parts.rooms.bans.bar(BOB, "blocked", "cli", ROOM)
        await slate.say("s", "blocked", author="bob")
        await slate.edit("s", first, "edited")
        await slate.say("s", "of others")
        await house.clock.let_work()
    async with house.run() as router:
        await slate.say("s", "still blocked", author="bob")
        await house.clock.let_work()
        assert board.texts("b") == ["before", "of others"]
        assert await router.parts.rooms.bans.unbar(BOB, "blocked", ROOM)
        await slate.say("s", "back", author="bob")
        await slate.delete("s", first)
        await house.clock.let_work()

    assert board.texts("b") == ["of others", "back"]
    assert await said(house.store, house.rooms[0].conversation) == ["of others", "back"]


async def test_blocking_one_account_blocks_the_person(trio: Trio) -> None:
    house, _, board = trio
    other = ActorId("paper:board:robert")
    await house.store.link_people(BOB, other, "command")
    async with house.run() as router:
        await router.parts.rooms.bans.bar(BOB, "opted_out", BOB, None)
        await board.say("b", "from the other account", author="robert")
        await house.clock.let_work()

    assert board.texts("c") == []


async def test_what_a_blocked_person_deletes_is_deleted(trio: Trio) -> None:
    house, slate, board = trio
    async with house.run() as router:
        first = await slate.say("s", "mine", author="ann")
        await house.clock.let_work()
        await router.parts.rooms.bans.bar(ActorId("paper:slate:ann"), "opted_out", "self", None)
        await slate.delete("s", first)
        await house.clock.let_work()

    assert board.texts("b") == []
