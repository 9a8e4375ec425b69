"""What it means when a person deletes one of our copies."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bridge.model import Level
from bridge.router import RoomOptions
from bridge.router.rooms.options import Moderation
from tests.router.conftest import House
from tests.router.inbound.test_changes import trio
from tests.router.inbound.test_routing import said
from tests.router.paper import PaperConnector

__all__ = ["trio"]  # a fixture
Trio = tuple[House, PaperConnector, PaperConnector]


def moderated(trio: Trio, moderation: Moderation) -> Trio:
    house = trio[0]
    house.rooms = [replace(house.rooms[0], options=RoomOptions(moderation=moderation))]
    return trio


@pytest.mark.parametrize(
    ("moderation", "elsewhere", "original", "kept"),
    [
        ("off", ["hello", "stays"], ["hello", "stays"], ["hello", "stays"]),
        ("mirror", ["stays"], ["hello", "stays"], ["hello", "stays"]),
        ("room", ["stays"], ["stays"], ["stays"]),
    ],
)
async def test_a_moderators_deletion_goes_as_far_as_the_room_wants(
    trio: Trio, moderation: Moderation, elsewhere: list[str], original: list[str], kept: list[str]
) -> None:
    house, slate, board = moderated(trio, moderation)
    slate.capabilities = slate.capabilities.model_copy(
        update={"features": {"delete_others": Level.FULL}}
    )
    async with house.run():
        await slate.say("s", "hello")
        await slate.say("s", "stays")
        await house.clock.let_work()
        await board.delete("b", board.channels["b"][0].id)
        await house.clock.let_work()

    assert board.texts("b") == ["stays"]
    assert board.texts("c") == elsewhere
    assert slate.texts("s") == original
    assert await said(house.store, house.rooms[0].conversation) == kept
    assert await house.store.dead_letters() == []


async def test_where_we_may_not_delete_the_original_its_channel_is_told(trio: Trio) -> None:
    house, slate, board = moderated(trio, "room")
    async with house.run():
        await slate.say("s", "hello")
        await house.clock.let_work()
        await board.delete("b", board.channels["b"][0].id)
        await house.clock.let_work()

    first, *note = slate.texts("s")
    assert first == "hello"
    assert "".join(note).startswith("A moderator deleted this message")
    assert board.texts("b") == board.texts("c") == []
    assert await said(house.store, house.rooms[0].conversation) == []


async def test_our_own_deletions_coming_back_moderate_nothing(trio: Trio) -> None:
    house, slate, board = moderated(trio, "room")
    async with house.run():
        first = await slate.say("s", "hello")
        await house.clock.let_work()
        copy = board.channels["b"][0].id
        await slate.delete("s", first)
        await house.clock.let_work()
        await board.delete("b", copy)  # as the platform tells us of our own deletion
        await house.clock.let_work()

    assert slate.texts("s") == []
    assert [kind for _, kind, _ in board.sent].count("b") == 2


async def test_a_shorter_edit_takes_copies_away_and_is_no_moderation(trio: Trio) -> None:
    house, slate, board = moderated(trio, "room")
    async with house.run():
        first = await slate.say("s", "x" * 150)
        await house.clock.let_work()
        second = board.channels["b"][1].id

        async def tell(call: object) -> None:
            board.before_send = None
            await board.delete("b", second)  # told before the answer
            board.channels["b"] = board.channels["b"][:1]
            await house.clock.let_work()

        board.before_send = tell
        await slate.edit("s", first, "x")
        await house.clock.let_work()

    assert slate.texts("s") == ["x"]
    assert board.texts("c")[0] == "x"


async def test_an_edit_does_not_bring_back_what_a_person_took_away(trio: Trio) -> None:
    house, slate, board = trio
    async with house.run():
        first = await slate.say("s", "helo")
        await house.clock.let_work()
        await board.delete("b", board.channels["b"][0].id)
        await house.clock.let_work()
        await slate.edit("s", first, "hello")
        await house.clock.let_work()

    assert board.texts("c") == ["hello"]
    assert board.texts("b") == []


@pytest.mark.parametrize(
    ("moderation", "elsewhere", "original"),
    [("off", False, False), ("mirror", True, False), ("room", True, True)],
)
async def test_a_moderators_pin_goes_as_far_as_the_room_wants(
    trio: Trio, moderation: Moderation, elsewhere: bool, original: bool
) -> None:
    house, slate, board = moderated(trio, moderation)
    async with house.run():
        await slate.say("s", "hello")
        await house.clock.let_work()
        copy = board.channels["b"][0]
        await board.pin("b", copy.id)
        await house.clock.let_work()
        (other,), (said,) = board.channels["c"], slate.channels["s"]
        assert (other.pinned, said.pinned) == (elsewhere, original)
        await board.pin("b", copy.id, pinned=False)
        await house.clock.let_work()

    assert (copy.pinned, other.pinned, said.pinned) == (False, False, False)
    assert len(board.marked) == 2 * elsewhere
    assert len(slate.marked) == 2 * original


async def test_a_pin_of_the_original_is_on_every_copy_whatever_the_moderation(trio: Trio) -> None:
    house, slate, board = moderated(trio, "off")
    async with house.run():
        said = await slate.say("s", "hello")
        await house.clock.let_work()
        await slate.pin("s", said)
        await house.clock.let_work()
        await board.pin("b", board.channels["b"][0].id, pinned=False)  # there alone
        await house.clock.let_work()

    assert slate.channels["s"][0].pinned
    assert board.channels["c"][0].pinned
    assert not board.channels["b"][0].pinned


async def test_nobody_puts_words_into_the_mouth_of_a_copys_author(trio: Trio) -> None:
    house, slate, board = moderated(trio, "room")
    async with house.run():
        await slate.say("s", "hello")
        await house.clock.let_work()
        await board.edit("b", board.channels["b"][0].id, "something else")
        await house.clock.let_work()

    assert slate.texts("s") == board.texts("c") == ["hello"]
    assert await said(house.store, house.rooms[0].conversation) == ["hello"]
