"""What it means when a person deletes one of our copies."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bridge.model import Level
from bridge.router import RoomOptions
from bridge.router.rooms.options import Moderation
from tests.router.conftest import RouterRig
from tests.router.fake_connector import FakeConnector
from tests.router.inbound.test_changes import trio
from tests.router.inbound.test_routing import texts_in

__all__ = ["trio"]  # a fixture
Trio = tuple[RouterRig, FakeConnector, FakeConnector]


def moderated(trio: Trio, moderation: Moderation) -> Trio:
    rig = trio[0]
    rig.rooms = [replace(rig.rooms[0], options=RoomOptions(moderation=moderation))]
    return trio


@pytest.mark.parametrize(
    ("moderation", "elsewhere", "original", "kept"),
    [
        ("off", ["hello", "stays"], ["hello", "stays"], ["hello", "stays"]),
        ("mirror", ["stays"], ["hello", "stays"], ["hello", "stays"]),
        ("room", ["stays"], ["stays"], ["stays"]),
    ],
)
async def test_the_rooms_option_decides_how_far_a_moderators_deletion_reaches(
    trio: Trio, moderation: Moderation, elsewhere: list[str], original: list[str], kept: list[str]
) -> None:
    rig, sales, billing = moderated(trio, moderation)
    sales.capabilities = sales.capabilities.model_copy(
        update={"features": {"delete_others": Level.FULL}}
    )
    async with rig.run():
        await sales.say("s", "hello")
        await sales.say("s", "stays")
        await rig.clock.let_work()
        await billing.delete("b", billing.channels["b"][0].id)
        await rig.clock.let_work()

    assert billing.texts("b") == ["stays"]
    assert billing.texts("c") == elsewhere
    assert sales.texts("s") == original
    assert await texts_in(rig.store, rig.rooms[0].conversation) == kept
    assert await rig.store.dead_letters() == []


async def test_the_channel_of_an_original_that_we_may_not_delete_gets_a_notice(trio: Trio) -> None:
    rig, sales, billing = moderated(trio, "room")
    async with rig.run():
        await sales.say("s", "hello")
        await rig.clock.let_work()
        await billing.delete("b", billing.channels["b"][0].id)
        await rig.clock.let_work()

    first, *note = sales.texts("s")
    assert first == "hello"
    assert "".join(note).startswith("A moderator deleted this message")
    assert billing.texts("b") == billing.texts("c") == []
    assert await texts_in(rig.store, rig.rooms[0].conversation) == []


async def test_our_own_deletions_coming_back_moderate_nothing(trio: Trio) -> None:
    rig, sales, billing = moderated(trio, "room")
    async with rig.run():
        first = await sales.say("s", "hello")
        await rig.clock.let_work()
        copy = billing.channels["b"][0].id
        await sales.delete("s", first)
        await rig.clock.let_work()
        await billing.delete("b", copy)  # as the platform tells us of our own deletion
        await rig.clock.let_work()

    assert sales.texts("s") == []
    assert [kind for _, kind, _ in billing.sent].count("b") == 2


async def test_a_shorter_edit_takes_copies_away_and_is_no_moderation(trio: Trio) -> None:
    rig, sales, billing = moderated(trio, "room")
    async with rig.run():
        first = await sales.say("s", "x" * 150)
        await rig.clock.let_work()
        second = billing.channels["b"][1].id

        async def tell(call: object) -> None:
            billing.before_send = None
            await billing.delete("b", second)  # told before the answer
            billing.channels["b"] = billing.channels["b"][:1]
            await rig.clock.let_work()

        billing.before_send = tell
        await sales.edit("s", first, "x")
        await rig.clock.let_work()

    assert sales.texts("s") == ["x"]
    assert billing.texts("c")[0] == "x"


async def test_an_edit_does_not_restore_a_copy_that_a_person_deleted(trio: Trio) -> None:
    rig, sales, billing = trio
    async with rig.run():
        first = await sales.say("s", "helo")
        await rig.clock.let_work()
        await billing.delete("b", billing.channels["b"][0].id)
        await rig.clock.let_work()
        await sales.edit("s", first, "hello")
        await rig.clock.let_work()

    assert billing.texts("c") == ["hello"]
    assert billing.texts("b") == []


@pytest.mark.parametrize(
    ("moderation", "elsewhere", "original"),
    [("off", False, False), ("mirror", True, False), ("room", True, True)],
)
async def test_the_rooms_option_decides_how_far_a_moderators_pin_reaches(
    trio: Trio, moderation: Moderation, elsewhere: bool, original: bool
) -> None:
    rig, sales, billing = moderated(trio, moderation)
    async with rig.run():
        await sales.say("s", "hello")
        await rig.clock.let_work()
        copy = billing.channels["b"][0]
        await billing.pin("b", copy.id)
        await rig.clock.let_work()
        (other,), (texts_in,) = billing.channels["c"], sales.channels["s"]
        assert (other.pinned, texts_in.pinned) == (elsewhere, original)
        await billing.pin("b", copy.id, pinned=False)
        await rig.clock.let_work()

    assert (copy.pinned, other.pinned, texts_in.pinned) == (False, False, False)
    assert len(billing.marked) == 2 * elsewhere
    assert len(sales.marked) == 2 * original


async def test_a_pin_of_the_original_is_on_every_copy_whatever_the_moderation(trio: Trio) -> None:
    rig, sales, billing = moderated(trio, "off")
    async with rig.run():
        texts_in = await sales.say("s", "hello")
        await rig.clock.let_work()
        await sales.pin("s", texts_in)
        await rig.clock.let_work()
        await billing.pin("b", billing.channels["b"][0].id, pinned=False)  # there alone
        await rig.clock.let_work()

    assert sales.channels["s"][0].pinned
    assert billing.channels["c"][0].pinned
    assert not billing.channels["b"][0].pinned


async def test_another_persons_edit_of_a_copy_changes_nothing(trio: Trio) -> None:
    rig, sales, billing = moderated(trio, "room")
    async with rig.run():
        await sales.say("s", "hello")
        await rig.clock.let_work()
        await billing.edit("b", billing.channels["b"][0].id, "something else")
        await rig.clock.let_work()

    assert sales.texts("s") == billing.texts("c") == ["hello"]
    assert await texts_in(rig.store, rig.rooms[0].conversation) == ["hello"]
