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
from tests.router.conftest import House
from tests.router.fake_clock import FakeClock
from tests.router.inbound.test_presses import KEY, PressedPaper

Pair = tuple[House, PressedPaper, PressedPaper]


@pytest.fixture
def pair(clock: FakeClock) -> Pair:
    slate, board = PressedPaper("slate", clock), PressedPaper("board", clock)
    house = House(clock, SqliteStore.in_memory(clock), (slate, board))
    house.cards = Cards({}, KEY)
    house.room("all", (slate, "s", "both"), (board, "b", "both"))
    return house, slate, board


def refusing(reason: str = "channel is read-only; let the bot write") -> Callable[[Call], None]:
    def refuse(call: Call) -> None:
        raise Refused(reason)

    return refuse


async def undelivered(house: House, slate: PressedPaper) -> tuple[MessageId, str]:
    """A message that the board refused, and the text of the notice under it."""
    native = await slate.say("s", "news")
    await house.clock.let_work()
    message = await house.store.resolve(slate.channel("s"), native)
    assert message
    return message, slate.texts("s")[-1]


async def press_again(slate: PressedPaper, message: MessageId) -> None:
    token = action_token(KEY, notice_id("undelivered", message), "/content/0/data/nodes/1")
    await slate.press("s", slate.channels["s"][1].id, token)


async def test_a_refused_post_is_said_where_it_was_written_with_its_reason(pair: Pair) -> None:
    house, slate, board = pair
    board.before_send = refusing()
    async with house.run():
        _, notice = await undelivered(house, slate)

    assert "did not reach Paper b: channel is read-only; let the bot write" in notice
    assert len(slate.texts("s")) == 2


async def test_the_button_tries_again_and_the_notice_says_that_it_arrived(pair: Pair) -> None:
    house, slate, board = pair
    board.before_send = refusing()
    async with house.run():
        message, _ = await undelivered(house, slate)
        board.before_send = None
        await press_again(slate, message)
        await house.clock.let_work()

    assert board.texts("b") == ["news"]
    assert slate.texts("s")[:2] == ["news", "This was delivered after all."]
    assert await house.store.dead_letters() == []


async def test_trying_in_vain_says_so_again_in_the_same_notice(pair: Pair) -> None:
    house, slate, board = pair
    board.before_send = refusing("not yet")
    async with house.run():
        message, _ = await undelivered(house, slate)
        board.before_send = refusing("never")
        await press_again(slate, message)
        await press_again(slate, message)
        await house.clock.let_work()

    said = [text for text in slate.texts("s") if text]  # a press leaves an empty line on paper
    assert len(said) == 2
    assert "never" in said[-1]


async def test_what_was_lost_before_a_stop_is_told_at_the_next_start_and_once(pair: Pair) -> None:
    house, slate, board = pair
    board.before_send = refusing()
    silent = [replace(room, undelivered="off") for room in house.rooms]
    telling, house.rooms = house.rooms, silent
    async with house.run():
        await undelivered(house, slate)
    assert slate.texts("s") == ["news"]

    house.rooms = telling
    for _ in range(2):
        async with house.run():
            await house.clock.let_work()

    assert len(slate.texts("s")) == 2


async def test_a_notice_that_is_refused_itself_leads_to_no_other(pair: Pair) -> None:
    house, slate, board = pair
    board.before_send = slate.before_send = refusing()
    async with house.run():
        await undelivered(house, slate)
        await house.clock.let_work()

    assert slate.texts("s") == ["news"]
    assert len(await house.store.dead_letters()) == 2


async def test_several_channels_that_missed_it_stand_in_one_notice(clock: FakeClock) -> None:
    slate, board = PressedPaper("slate", clock), PressedPaper("board", clock)
    house = House(clock, SqliteStore.in_memory(clock), (slate, board))
    house.cards = Cards({}, KEY)
    house.room("all", (slate, "s", "both"), (board, "b", "both"), (board, "c", "both"))
    board.before_send = refusing()
    async with house.run():
        message, _ = await undelivered(house, slate)

    notice = "".join(slate.texts("s")[1:])  # two pieces: paper takes 100 characters
    assert notice.count("Paper b") == notice.count("Paper c") == 1
    assert await house.store.message(notice_id("undelivered", message))


async def test_a_mark_is_put_once_and_taken_away_when_it_arrived(pair: Pair) -> None:
    house, slate, board = pair
    house.rooms = [replace(room, undelivered="reaction") for room in house.rooms]
    board.before_send = refusing("not yet")
    async with house.run() as router:
        await undelivered(house, slate)
        assert slate.channels["s"][0].emoji() == {MARK}
        told = router.parts.outbound.failures
        await told.retry_in(house.rooms[0], slate.channel("s"))
        await house.clock.let_work()
        assert slate.marked == [("add_reaction", MARK)]
        ((_, why),) = await told.lost_in(house.rooms[0], slate.channel("s"))
        assert why == "“news”: This did not reach Paper b: not yet"
        assert await told.lost_in(house.rooms[0], board.channel("b")) == []
        board.before_send = None
        assert await told.retry_in(house.rooms[0], slate.channel("s")) == 1
        await house.clock.let_work()
        assert await told.lost_in(house.rooms[0], slate.channel("s")) == []

    assert slate.texts("s") == ["news"]
    assert slate.channels["s"][0].emoji() == set()


async def test_where_the_mark_is_not_taken_a_notice_says_it(pair: Pair) -> None:
    house, slate, board = pair
    house.rooms = [replace(room, undelivered="reaction") for room in house.rooms]
    board.before_send = refusing()

    def refuse_marks(call: Call) -> None:
        if call.method == "add_reaction":
            raise FormRefused("reactions are closed")

    slate.before_send = refuse_marks
    async with house.run():
        _, notice = await undelivered(house, slate)

    assert "did not reach Paper b" in notice
    assert slate.channels["s"][0].emoji() == set()


async def test_a_mark_that_somebody_elsewhere_put_there_too_stays(pair: Pair) -> None:
    house, slate, board = pair
    house.room("more", (slate, "s", "both"), (board, "c", "both"))
    house.rooms = [replace(room, undelivered="reaction") for room in house.rooms]
    board.before_send = lambda call: (
        refusing()(call) if call.channel == board.channel("b") else None
    )
    async with house.run() as router:
        await undelivered(house, slate)
        await board.react("c", board.channels["c"][0].id, MARK, author="bob")
        await house.clock.let_work()
        board.before_send = None
        await router.parts.outbound.failures.retry_in(house.rooms[0], slate.channel("s"))
        await house.clock.let_work()
        assert board.texts("b") == ["news"]

    assert slate.channels["s"][0].emoji() == {MARK}
