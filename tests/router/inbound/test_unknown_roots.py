"""Threads whose first message the bridge never heard: who asks there is answered there."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence

import pytest

from bridge.errors import NotFound
from bridge.model import Call, message_id_of
from bridge.model.turns import AgentEvent, TextDelta, Turn, TurnFailed
from bridge.router.outbound.notices import notice_id
from bridge.store import SqliteStore
from tests.router.conftest import RouterRig
from tests.router.fake_clock import FakeClock
from tests.router.fake_connector import FakeConnector, Post
from tests.router.turns.test_queue import Script, at_once, rig_with, slowly

ROOT = "000900"  # said in sales's channel before anybody listened


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
    rig, sales, billing, _ = rig_with(clock, script)

    async with rig.run():
        question = await sales.say("s", "@helper what now?", thread=ROOT, addresses_us=True)
        await clock.advance(30)

    assert sales.channels["s"][0].id == question
    assert threads(sales.channels["s"], said) == [ROOT]
    copy = billing.channels["b"][0]
    assert (copy.thread, copy.text) == (None, "@helper what now?")
    assert threads(billing.channels["b"], said) == [copy.id]


async def test_an_answer_that_grows_in_a_thread_with_an_unknown_root_stays_there(
    clock: FakeClock,
) -> None:
    rig, sales, billing, _ = rig_with(clock, slowly(clock))

    async with rig.run():
        await sales.say("s", "@helper count", thread=ROOT, addresses_us=True)
        await clock.advance(3)
        assert threads(sales.channels["s"], "one ") == [ROOT]
        await clock.advance(30)

    assert threads(sales.channels["s"], "six") == [ROOT]
    assert threads(billing.channels["b"], "six") == [billing.channels["b"][0].id]


async def test_all_messages_of_a_thread_with_an_unknown_root_share_one_thread_in_every_channel(
    clock: FakeClock,
) -> None:
    sales, billing, web = (FakeConnector(name, clock) for name in ("sales", "billing", "web"))
    rig = RouterRig(clock, SqliteStore.in_memory(clock), (sales, billing, web))
    rig.room("all", (sales, "s", "both"), (billing, "b", "both"), (web, "w", "both"))

    async with rig.run():
        await sales.say("s", "first", thread=ROOT)
        await clock.advance(1)
        first = billing.channels["b"][0].id
        await sales.say("s", "second", thread=ROOT)
        await billing.say("b", "from the billing", thread=first)
        await clock.advance(1)

    assert threads(sales.channels["s"], "from the billing") == [ROOT]
    assert threads(billing.channels["b"], "second") == [first]
    below = web.channels["w"][0].id
    assert [post.thread for post in web.channels["w"]] == [None, below, below]


async def test_an_unknown_thread_that_is_gone_is_begun_anew_once(clock: FakeClock) -> None:
    rig, sales, _board, _ = rig_with(clock, at_once)

    def harm(call: Call) -> None:
        if call.thread == ROOT:
            raise NotFound("the thread is gone")

    sales.before_send = harm
    async with rig.run():
        await sales.say("s", "@helper what now?", thread=ROOT, addresses_us=True)
        await clock.advance(5)
        await sales.say("s", "@helper and now?", thread=ROOT, addresses_us=True)
        await clock.advance(5)

    begun = next(post for post in sales.channels["s"] if post.text == "It is done.")
    assert threads(sales.channels["s"], "It is done.") == [None, begun.id]
    assert await rig.store.dead_letters() == []


async def test_a_notice_about_an_unknown_thread_goes_into_it(clock: FakeClock) -> None:
    rig, sales, _, _ = rig_with(clock, at_once)
    room = rig.rooms[0]

    async with rig.run() as router:
        root = message_id_of(sales.channel("s"), ROOT)
        await router.parts.outbound.notices.post(
            notice_id("test"), "a word", room.id, room.listeners(), root=root
        )
        await clock.advance(1)

    assert threads(sales.channels["s"], "a word") == [ROOT]
