"""Platforms are called as people write them, wherever the bridge speaks of one."""

from __future__ import annotations

from dataclasses import replace

from bridge.errors import Refused
from bridge.model import AccountId, Call, MemberJoined
from bridge.router.rooms.features import platform_name
from bridge.router.rooms.options import MemberOptions, RoomOptions
from connectors.irc.capabilities import capabilities_of
from tests.router.conftest import RouterRig
from tests.router.fake_clock import FakeClock
from tests.router.rooms.test_direct_messages import Garden


def labelled(rig: RouterRig) -> None:
    for connector in rig.connectors.values():
        connector.capabilities = connector.capabilities.model_copy(update={"label": "FaKe"})


def test_without_a_label_a_platform_has_its_id_with_a_capital_letter(rig: RouterRig) -> None:
    assert platform_name(rig.connectors, "fake") == "Fake"
    assert platform_name({}, "gone") == "Gone"


def test_irc_is_written_in_capitals(rig: RouterRig) -> None:
    sales = rig.connectors[AccountId("sales")]
    sales.capabilities = capabilities_of(5, 1.0)

    assert platform_name(rig.connectors, "irc") == "IRC"


async def test_notices_of_joins_and_failures_use_the_platforms_label(rig: RouterRig) -> None:
    labelled(rig)
    options = RoomOptions(announce=frozenset({"joins"}))
    rig.rooms = [replace(room, options=options) for room in rig.rooms]
    sales, billing, web = rig.connectors.values()

    def refuse(_call: Call) -> None:
        raise Refused("read-only")

    async with rig.run():
        await sales.happen(MemberJoined, "s", by="dan")
        await rig.clock.let_work()
        web.before_send = refuse
        await sales.say("s", "news")
        await rig.clock.let_work()

    assert billing.texts("b")[0].endswith(" joined (FaKe)")
    assert "did not reach FaKe w" in sales.texts("s")[-1]


async def test_names_have_the_label_in_marks_and_in_templates(rig: RouterRig) -> None:
    labelled(rig)
    (room,) = rig.rooms
    first, second, third = room.members
    second = replace(second, options=MemberOptions(names="{name} on {platform}"))
    rig.rooms = [replace(room, members=(first, second, third))]
    sales, billing, web = rig.connectors.values()

    async with rig.run():
        await sales.say("s", "hello", author="u1", name="Bridge")
        await rig.clock.let_work()

    assert [post.author for post in web.channels["w"]] == ["Bridge (FaKe)"]
    assert [post.author for post in billing.channels["b"]] == ["Bridge on FaKe"]


async def test_direct_messages_are_confirmed_with_the_label(clock: FakeClock) -> None:
    garden = Garden(clock)
    labelled(garden.rig)
    async with garden.rig.run():
        await garden.meet("ann", "bob")
        await garden.sales.command("dm nobody hello", "ann")
        await garden.sales.command("dm Bob hello", "ann")
        await garden.clock.let_work()

    assert "You may write to: Bob (FaKe)" in garden.answers(garden.sales)
    assert "Written to Bob (FaKe)." in garden.answers(garden.sales)
