"""Threads whose first message the bridge never heard: who asks there is answered there."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence

import pytest

from bridge.errors import NotFound
from bridge.model import Call, message_id_of
from bridge.model.turns import AgentEvent, TextDelta, Turn, TurnFailed
from bridge.router.outbound.notices import notice_id
from bridge.store import SqliteStore
from tests.router.conftest import House
from tests.router.fake_clock import FakeClock
from tests.router.paper import PaperConnector, Post
from tests.router.turns.test_queue import Script, at_once, house_with, slowly

ROOT = "000900"  # said in slate's channel before anybody listened


async def fails(_turn: Turn) -> AsyncGenerator[AgentEvent, None]:
    yield TurnFailed(reason="out of order")


async def fails_halfway(_turn: Turn) -> AsyncGenerator[AgentEvent, None]:
    yield TextDelta(text="It begins ")
    raise ValueError("broken")


def threads(posts: Sequence[Post], text: str) -> list[str | None]:
    return [post.thread for post in posts if text in post.text]


@pytest.mark.parametrize(
    ("script", "said"),
    [(at_once, "It is done."), (fails, "could not finish"), (fails_halfway, "could not finish")],
)
async def test_a_question_in_a_thread_with_an_unknown_root_is_answered_in_that_thread(
    clock: FakeClock, script: Script, said: str
) -> None:
    house, slate, board, _ = house_with(clock, script)

    async with house.run():
        question = await slate.say("s", "@helper what now?", thread=ROOT, addresses_us=True)
        await clock.advance(30)

    assert slate.channels["s"][0].id == question
    assert threads(slate.channels["s"], said) == [ROOT]
    copy = board.channels["b"][0]
    assert (copy.thread, copy.text) == (None, "@helper what now?")
    assert threads(board.channels["b"], said) == [copy.id]


async def test_an_answer_that_grows_in_a_thread_with_an_unknown_root_stays_there(
    clock: FakeClock,
) -> None:
    house, slate, board, _ = house_with(clock, slowly(clock))

    async with house.run():
        await slate.say("s", "@helper count", thread=ROOT, addresses_us=True)
        await clock.advance(3)
        assert threads(slate.channels["s"], "one ") == [ROOT]
        await clock.advance(30)

    assert threads(slate.channels["s"], "six") == [ROOT]
    assert threads(board.channels["b"], "six") == [board.channels["b"][0].id]


async def test_all_that_is_said_in_such_a_thread_stands_in_one_thread_in_every_channel(
    clock: FakeClock,
) -> None:
    slate, board, wall = (PaperConnector(name, clock) for name in ("slate", "board", "wall"))
    house = House(clock, SqliteStore.in_memory(clock), (slate, board, wall))
    house.room("all", (slate, "s", "both"), (board, "b", "both"), (wall, "w", "both"))

    async with house.run():
        await slate.say("s", "first", thread=ROOT)
        await clock.advance(1)
        first = board.channels["b"][0].id
        await slate.say("s", "second", thread=ROOT)
        await board.say("b", "from the board", thread=first)
        await clock.advance(1)

    assert threads(slate.channels["s"], "from the board") == [ROOT]
    assert threads(board.channels["b"], "second") == [first]
    below = wall.channels["w"][0].id
    assert [post.thread for post in wall.channels["w"]] == [None, below, below]


async def test_an_unknown_thread_that_is_gone_is_begun_anew_once(clock: FakeClock) -> None:
    house, slate, _board, _ = house_with(clock, at_once)

    def harm(call: Call) -> None:
        if call.thread == ROOT:
            raise NotFound("the thread is gone")

    slate.before_send = harm
    async with house.run():
        await slate.say("s", "@helper what now?", thread=ROOT, addresses_us=True)
        await clock.advance(5)
        await slate.say("s", "@helper and now?", thread=ROOT, addresses_us=True)
        await clock.advance(5)

    begun = next(post for post in slate.channels["s"] if post.text == "It is done.")
    assert threads(slate.channels["s"], "It is done.") == [None, begun.id]
    assert await house.store.dead_letters() == []


async def test_a_notice_about_an_unknown_thread_goes_into_it(clock: FakeClock) -> None:
    house, slate, _, _ = house_with(clock, at_once)
    room = house.rooms[0]

    async with house.run() as router:
        root = message_id_of(slate.channel("s"), ROOT)
        await router.parts.outbound.notices.say(
            notice_id("test"), "a word", room.id, room.listeners(), root=root
        )
        await clock.advance(1)

    assert threads(slate.channels["s"], "a word") == [ROOT]
