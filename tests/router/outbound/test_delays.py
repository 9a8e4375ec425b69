"""A channel that is behind is said to be so in the others, once, until it has caught up."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bridge.errors import RateLimited
from bridge.model import Call
from bridge.router import Room
from tests.router.conftest import RouterRig
from tests.router.fake_connector import FakeConnector


def boards(rig: RouterRig) -> list[FakeConnector]:
    return list(rig.connectors.values())


def limited(call: Call) -> None:
    raise RateLimited("the platform asks for patience", retry_after=600)


async def test_a_lane_that_is_behind_is_announced_in_the_other_channels(rig: RouterRig) -> None:
    sales, billing, web = boards(rig)
    billing.before_send = limited
    async with rig.run():
        await sales.say("s", "hello")
        await rig.clock.advance(150)

        late = "⏳ Fake b is 2 minutes behind: the platform asks for patience"
        assert sales.texts("s") == web.texts("w") == ["hello", late]
        assert billing.texts("b") == []


async def test_the_notice_grows_with_the_delay_and_ends_with_it(rig: RouterRig) -> None:
    sales, billing, web = boards(rig)
    billing.before_send = limited
    async with rig.run():
        await sales.say("s", "hello")
        await rig.clock.advance(420)
        assert web.texts("w")[1].startswith("⏳ Fake b is 4 minutes behind")
        billing.before_send = None
        await rig.clock.advance(600)

    assert billing.texts("b") == ["hello"]
    assert sales.texts("s") == web.texts("w") == ["hello", "Fake b is up to date."]


async def test_the_end_of_a_delay_after_a_restart_is_announced(rig: RouterRig) -> None:
    sales, billing, web = boards(rig)
    billing.before_send = limited
    async with rig.run():
        await sales.say("s", "hello")
        await rig.clock.advance(150)
    billing.before_send = None
    async with rig.run():
        await rig.clock.advance(800)

    assert web.texts("w") == ["hello", "Fake b is up to date."]


@pytest.mark.parametrize("restarted", [False, True])
async def test_a_channel_that_leaves_its_room_is_not_late_there_for_ever(
    rig: RouterRig, restarted: bool
) -> None:
    sales, billing, web = boards(rig)
    billing.before_send = limited

    def without_board(room: Room) -> Room:
        return replace(room, members=tuple(m for m in room.members if m.account != "billing"))

    async with rig.run() as router:
        await sales.say("s", "hello")
        await rig.clock.advance(150)
        assert web.texts("w")[1].startswith("⏳ Fake b is 2 minutes behind")
        if not restarted:
            router.reconfigure.change_rooms([without_board(room) for room in rig.rooms])
            await rig.clock.advance(800)
    if restarted:
        rig.rooms = [without_board(room) for room in rig.rooms]
        async with rig.run():
            await rig.clock.advance(800)

    assert web.texts("w") == ["hello", "Fake b is not in this room any more."]


async def test_a_short_delay_is_not_announced(rig: RouterRig) -> None:
    sales, billing, web = boards(rig)
    billing.before_send = limited
    rig.timeouts = replace(rig.timeouts, late_after=700.0)
    async with rig.run():
        await sales.say("s", "hello")
        await rig.clock.advance(590)
        billing.before_send = None
        await rig.clock.advance(100)

    assert billing.texts("b") == web.texts("w") == ["hello"]


async def test_late_reactions_are_not_announced(rig: RouterRig) -> None:
    sales, billing, web = boards(rig)
    async with rig.run():
        first = await sales.say("s", "hello")
        await rig.clock.let_work()
        billing.before_send = limited
        await sales.react("s", first, "👍")
        await rig.clock.advance(300)
        billing.before_send = None
        await sales.say("s", "on it goes")
        await rig.clock.advance(700)

    assert web.texts("w") == billing.texts("b") == ["hello", "on it goes"]
