"""What people edit and delete changes wherever it is shown; older news and other hands do not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bridge.content.messages.metadata import read_bridge_metadata
from bridge.errors import RateLimited, Unavailable
from bridge.model import Call
from bridge.store import SqliteStore
from tests.router.conftest import House
from tests.router.fake_clock import FakeClock
from tests.router.inbound.test_routing import said
from tests.router.paper import PaperConnector, PaperWithHistory


@pytest.fixture
def trio(clock: FakeClock) -> tuple[House, PaperConnector, PaperConnector]:
    slate, board = PaperWithHistory("slate", clock), PaperWithHistory("board", clock)
    house = House(clock, SqliteStore.in_memory(clock), (slate, board))
    house.room("all", (slate, "s", "both"), (board, "b", "both"), (board, "c", "both"))
    return house, slate, board


Trio = tuple[House, PaperConnector, PaperConnector]


async def test_an_edit_changes_every_copy_and_the_archive(trio: Trio) -> None:
    house, slate, board = trio
    async with house.run():
        first = await slate.say("s", "helo")
        await slate.say("s", "world")
        await house.clock.let_work()
        await slate.edit("s", first, "hello")
        await house.clock.let_work()

    assert board.texts("b") == board.texts("c") == ["hello", "world"]
    known = (await house.store.conversation(house.rooms[0].conversation)).messages
    assert [read_bridge_metadata(one)[0].state for one in known] == ["edited", None]
    assert await said(house.store, house.rooms[0].conversation) == ["hello", "world"]


async def test_a_longer_edit_makes_more_copies_and_a_shorter_one_keeps_order(trio: Trio) -> None:
    house, slate, board = trio
    async with house.run():
        first = await slate.say("s", "short")
        await house.clock.let_work()
        await slate.edit("s", first, "x" * 150)
        await house.clock.let_work()

    assert board.texts("b") == ["x" * 100, "x" * 50]


async def test_a_deletion_takes_every_copy_away_and_out_of_the_archive(trio: Trio) -> None:
    house, slate, board = trio
    async with house.run():
        first = await slate.say("s", "a" * 150)
        await slate.say("s", "stays")
        await house.clock.let_work()
        await slate.delete("s", first)
        await house.clock.let_work()

    assert board.texts("b") == board.texts("c") == ["stays"]
    assert await said(house.store, house.rooms[0].conversation) == ["stays"]


async def test_many_deletions_at_once_are_each_carried(trio: Trio) -> None:
    house, slate, board = trio
    async with house.run():
        ids = [await slate.say("s", text) for text in ("one", "two", "three")]
        await house.clock.let_work()
        await slate.delete("s", ids[0], ids[2], "unknown")
        await house.clock.let_work()

    assert board.texts("b") == ["two"]


async def test_an_older_edit_never_wins_and_a_deletion_is_final(trio: Trio) -> None:
    house, slate, board = trio
    now = house.clock.time()
    async with house.run():
        first, second = [await slate.say("s", text) for text in ("a", "b")]
        await house.clock.let_work()
        await slate.edit("s", first, "newest", at=now + 20)
        await slate.edit("s", first, "late news of an older state", at=now + 10)
        await slate.edit("s", second, "seen", at=now + 20)
        await house.clock.let_work()
        await slate.delete("s", second, at=now + 30)
        slate.channels["s"] = []
        await house.clock.let_work()

    assert board.texts("b") == ["newest"]


async def test_an_edit_before_the_post_went_out_is_one_post(trio: Trio) -> None:
    house, slate, board = trio
    board.before_send = busy_for_a_while(house.clock)
    async with house.run():
        first = await slate.say("s", "helo")
        await house.clock.let_work()
        await slate.edit("s", first, "hello")
        await house.clock.advance(60)

    assert board.texts("b") == board.texts("c") == ["hello"]
    assert {text for _, _, text in board.sent} == {"hello"}


async def test_what_is_deleted_before_it_went_out_is_never_sent(trio: Trio) -> None:
    house, slate, board = trio
    board.before_send = busy_for_a_while(house.clock)
    async with house.run():
        first = await slate.say("s", "oops")
        await slate.say("s", "good")
        await house.clock.let_work()
        await slate.delete("s", first)
        await house.clock.advance(60)

    assert board.texts("b") == board.texts("c") == ["good"]
    assert {text for _, _, text in board.sent} == {"good"}
    assert await house.store.dead_letters() == []


def busy_for_a_while(clock: FakeClock) -> Callable[[Call], None]:
    until = clock.time() + 10

    def harm(_call: Call) -> None:
        if clock.time() < until:
            raise RateLimited("slow down", retry_after=until - clock.time())

    return harm


async def test_an_edit_that_fails_for_a_while_arrives_in_its_order(trio: Trio) -> None:
    house, slate, board = trio
    async with house.run():
        first = await slate.say("s", "helo")
        await house.clock.let_work()
        failures = [Unavailable("gone")] * 2

        def harm(call: Call) -> None:
            if call.kind == "edit" and failures:
                raise failures.pop()

        board.before_send = harm
        await slate.edit("s", first, "hello")
        await slate.say("s", "after")
        await house.clock.advance(100)

    assert board.texts("b") == board.texts("c") == ["hello", "after"]


async def test_changes_of_unknown_messages_and_of_our_copies_are_kept_and_go_nowhere(
    trio: Trio,
) -> None:
    house, slate, board = trio
    async with house.run():
        await slate.say("s", "hello")
        await house.clock.let_work()
        copy = board.channels["b"][0].id
        await board.edit("b", copy, "forged")
        await board.delete("b", copy)
        await slate.delete("s", "of long ago")
        await house.clock.let_work()

    assert board.texts("c") == ["hello"]
    assert slate.texts("s") == ["hello"]
    assert await said(house.store, house.rooms[0].conversation) == ["hello"]


async def test_an_edit_that_says_the_same_sends_nothing(trio: Trio) -> None:
    house, slate, board = trio
    async with house.run():
        first = await slate.say("s", "hello")
        await house.clock.let_work()
        sent = len(board.sent)
        await slate.edit("s", first, "hello")
        await house.clock.let_work()

    assert len(board.sent) == sent


async def test_our_own_edit_coming_back_goes_nowhere(trio: Trio) -> None:
    house, slate, board = trio
    async with house.run():
        first = await slate.say("s", "hello")
        await house.clock.let_work()
        await slate.edit("s", first, "ours", own=True)
        await house.clock.let_work()

    assert board.texts("b") == ["hello"]


async def test_a_channel_that_joined_later_gets_no_edit_of_what_it_never_had(
    clock: FakeClock,
) -> None:
    slate, board = PaperConnector("slate", clock), PaperConnector("board", clock)
    store = SqliteStore.in_memory(clock)
    house = House(clock, store, (slate, board))
    house.room("all", (slate, "s", "both"), (board, "b", "both"))
    async with house.run():
        first = await slate.say("s", "hello")
        await clock.let_work()
    again = House(clock, store, (slate, board))
    again.room("all", (slate, "s", "both"), (board, "b", "both"), (board, "new", "both"))
    async with again.run():
        await slate.edit("s", first, "hello there")
        await clock.let_work()

    assert board.texts("b") == ["hello there"]
    assert board.texts("new") == []
