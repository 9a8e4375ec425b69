"""Who joins a room is told who reads what is said there, and the others who reads there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from bridge.errors import Unavailable
from bridge.model import ChannelRef
from bridge.store import SqliteStore
from tests.router.conftest import House
from tests.router.fake_clock import FakeClock
from tests.router.paper import PaperConnector


class OpenPaper(PaperConnector):
    """Paper that lies about, for some to read."""

    readers: Sequence[str] = ()
    failing = False

    async def outsiders(self, channel: ChannelRef) -> Sequence[str]:
        if self.failing:
            raise Unavailable("nobody is there")
        return self.readers


Pair = tuple[House, OpenPaper, OpenPaper]


@pytest.fixture
def pair(clock: FakeClock) -> Pair:
    """Slate was there first; board has just joined."""
    slate, board = OpenPaper("slate", clock), OpenPaper("board", clock)
    house = House(clock, SqliteStore.in_memory(clock), (slate, board))
    house.room("all", (slate, "s", "both"), (board, "b", "both"))
    joined = {slate.channel("s").key: 0.0, board.channel("b").key: clock.time()}
    house.rooms = [replace(house.rooms[0], joined=joined)]
    return house, slate, board


def said(connector: PaperConnector, channel: str) -> str:
    return "".join(connector.texts(channel))


async def test_a_channel_that_joins_is_told_once_who_reads_the_others(pair: Pair) -> None:
    house, slate, board = pair
    slate.readers = ("2 guests",)
    for _ in range(2):
        async with house.run():
            await house.clock.let_work()

    assert said(board, "b").count("is bridged to Paper s") == 1
    assert said(board, "b").count("⚠️ Paper s is also read by 2 guests.") == 1
    assert slate.texts("s") == []


async def test_the_others_are_told_once_that_outsiders_read_from_now_on(pair: Pair) -> None:
    house, slate, board = pair
    board.readers = ("people of other organisations", "1 guest")
    for _ in range(2):
        async with house.run():
            await house.clock.let_work()

    told = "⚠️ Paper b joined this room: what is said here is also read by people of other"
    assert said(slate, "s") == f"{told} organisations and 1 guest."
    assert "⚠️" not in said(board, "b")


async def test_what_cannot_be_asked_is_not_warned_of(pair: Pair) -> None:
    house, slate, board = pair
    slate.failing = board.failing = True
    async with house.run():
        await house.clock.let_work()

    assert "is bridged to" in said(board, "b")
    assert "⚠️" not in said(board, "b")
    assert slate.texts("s") == []


async def test_a_channel_that_is_shown_nothing_opens_nothing(pair: Pair) -> None:
    house, slate, board = pair
    board.readers = ("2 guests",)
    members = [replace(m, flow="in") if m.account == "board" else m for m in house.rooms[0].members]
    house.rooms = [replace(house.rooms[0], members=tuple(members))]
    async with house.run():
        await house.clock.let_work()

    assert slate.texts("s") == board.texts("b") == []
