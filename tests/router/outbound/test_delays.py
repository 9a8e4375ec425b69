"""A channel that is behind is said to be so in the others, once, until it has caught up."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bridge.errors import RateLimited
from bridge.model import Call
from bridge.router import Room
from tests.router.conftest import House
from tests.router.paper import PaperConnector


def boards(house: House) -> list[PaperConnector]:
    return list(house.connectors.values())


def limited(call: Call) -> None:
    raise RateLimited("the platform asks for patience", retry_after=600)


async def test_a_lane_that_is_behind_is_said_so_where_it_is_not(house: House) -> None:
    slate, board, wall = boards(house)
    board.before_send = limited
    async with house.run():
        await slate.say("s", "hello")
        await house.clock.advance(150)

        late = "⏳ Paper b is 2 minutes behind: the platform asks for patience"
        assert slate.texts("s") == wall.texts("w") == ["hello", late]
        assert board.texts("b") == []


async def test_the_notice_grows_with_the_delay_and_ends_with_it(house: House) -> None:
    slate, board, wall = boards(house)
    board.before_send = limited
    async with house.run():
        await slate.say("s", "hello")
        await house.clock.advance(420)
        assert wall.texts("w")[1].startswith("⏳ Paper b is 4 minutes behind")
        board.before_send = None
        await house.clock.advance(600)

    assert board.texts("b") == ["hello"]
    assert slate.texts("s") == wall.texts("w") == ["hello", "Paper b is up to date."]


async def test_lateness_that_ends_after_a_restart_is_still_said_to_be_over(house: House) -> None:
    slate, board, wall = boards(house)
    board.before_send = limited
    async with house.run():
        await slate.say("s", "hello")
        await house.clock.advance(150)
    board.before_send = None
    async with house.run():
        await house.clock.advance(800)

    assert wall.texts("w") == ["hello", "Paper b is up to date."]


@pytest.mark.parametrize("restarted", [False, True])
async def test_a_channel_that_leaves_its_room_is_not_late_there_for_ever(
    house: House, restarted: bool
) -> None:
    slate, board, wall = boards(house)
    board.before_send = limited

    def without_board(room: Room) -> Room:
        return replace(room, members=tuple(m for m in room.members if m.account != "board"))

    async with house.run() as router:
        await slate.say("s", "hello")
        await house.clock.advance(150)
        assert wall.texts("w")[1].startswith("⏳ Paper b is 2 minutes behind")
        if not restarted:
            router.reconfigure.change_rooms([without_board(room) for room in house.rooms])
            await house.clock.advance(800)
    if restarted:
        house.rooms = [without_board(room) for room in house.rooms]
        async with house.run():
            await house.clock.advance(800)

    assert wall.texts("w") == ["hello", "Paper b is not in this room any more."]


async def test_nobody_is_told_of_a_short_delay(house: House) -> None:
    slate, board, wall = boards(house)
    board.before_send = limited
    house.policy = replace(house.policy, late_after=700.0)
    async with house.run():
        await slate.say("s", "hello")
        await house.clock.advance(590)
        board.before_send = None
        await house.clock.advance(100)

    assert board.texts("b") == wall.texts("w") == ["hello"]


async def test_nobody_is_told_of_late_reactions(house: House) -> None:
    slate, board, wall = boards(house)
    async with house.run():
        first = await slate.say("s", "hello")
        await house.clock.let_work()
        board.before_send = limited
        await slate.react("s", first, "👍")
        await house.clock.advance(300)
        board.before_send = None
        await slate.say("s", "on it goes")
        await house.clock.advance(700)

    assert wall.texts("w") == board.texts("b") == ["hello", "on it goes"]
