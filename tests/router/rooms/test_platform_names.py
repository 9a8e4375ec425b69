"""Platforms are called as people write them, wherever the bridge speaks of one."""

from __future__ import annotations

from dataclasses import replace

from bridge.errors import Refused
from bridge.model import AccountId, Call, MemberJoined
from bridge.router.rooms.features import platform_name
from bridge.router.rooms.options import MemberOptions, RoomOptions
from connectors.irc.capabilities import capabilities_of
from tests.router.conftest import House
from tests.router.fake_clock import FakeClock
from tests.router.rooms.test_direct_messages import Garden


def labelled(house: House) -> None:
    for one in house.connectors.values():
        one.capabilities = one.capabilities.model_copy(update={"label": "PaPer"})


def test_without_a_label_a_platform_has_its_id_with_a_capital_letter(house: House) -> None:
    assert platform_name(house.connectors, "paper") == "Paper"
    assert platform_name({}, "gone") == "Gone"


def test_irc_is_written_in_capitals(house: House) -> None:
    slate = house.connectors[AccountId("slate")]
    slate.capabilities = capabilities_of(5, 1.0)

    assert platform_name(house.connectors, "irc") == "IRC"


async def test_who_joined_and_what_did_not_arrive_are_told_with_the_label(house: House) -> None:
    labelled(house)
    options = RoomOptions(tells=frozenset({"joins"}))
    house.rooms = [replace(room, options=options) for room in house.rooms]
    slate, board, wall = house.connectors.values()

    def refuse(_call: Call) -> None:
        raise Refused("read-only")

    async with house.run():
        await slate.happen(MemberJoined, "s", by="dan")
        await house.clock.let_work()
        wall.before_send = refuse
        await slate.say("s", "news")
        await house.clock.let_work()

    assert board.texts("b")[0].endswith(" joined (PaPer)")
    assert "did not reach PaPer w" in slate.texts("s")[-1]


async def test_names_have_the_label_in_marks_and_in_templates(house: House) -> None:
    labelled(house)
    (room,) = house.rooms
    first, second, third = room.members
    second = replace(second, options=MemberOptions(names="{name} on {platform}"))
    house.rooms = [replace(room, members=(first, second, third))]
    slate, board, wall = house.connectors.values()

    async with house.run():
        await slate.say("s", "hello", author="u1", name="Bridge")
        await house.clock.let_work()

    assert [post.author for post in wall.channels["w"]] == ["Bridge (PaPer)"]
    assert [post.author for post in board.channels["b"]] == ["Bridge on PaPer"]


async def test_direct_messages_are_confirmed_with_the_label(clock: FakeClock) -> None:
    garden = Garden(clock)
    labelled(garden.house)
    async with garden.house.run():
        await garden.meet("ann", "bob")
        await garden.slate.command("dm nobody hello", "ann")
        await garden.slate.command("dm Bob hello", "ann")
        await garden.clock.let_work()

    assert "You may write to: Bob (PaPer)" in garden.answers(garden.slate)
    assert "Written to Bob (PaPer)." in garden.answers(garden.slate)
