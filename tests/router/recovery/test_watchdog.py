"""A connection that stands and hears nothing of what is said is noticed and made anew."""

from __future__ import annotations

import asyncio

import pytest

from bridge.model import Call, ChannelRef, Echo, Raw
from bridge.ports.connector import Inbox
from bridge.store import SqliteStore
from tests.router.conftest import House
from tests.router.fake_clock import FakeClock
from tests.router.paper import PaperConnector, PaperWithHistory


class PaperThatConnects(PaperWithHistory):
    """The same platform; `deaf` connections stand, and hear nothing."""

    connections = 0
    probed = 0

    async def newest(self, channel: ChannelRef) -> str:
        self.probed += 1
        return await super().newest(channel)

    async def run(self, inbox: Inbox) -> None:
        self.connections += 1
        self.inbox = inbox
        inbox.session_began(self.account)
        await asyncio.Event().wait()


@pytest.fixture
def pair(clock: FakeClock) -> tuple[House, PaperThatConnects, PaperConnector]:
    slate, board = PaperThatConnects("slate", clock), PaperConnector("board", clock)
    house = House(clock, SqliteStore.in_memory(clock), (slate, board))
    house.room("all", (slate, "s", "both"), (board, "b", "both"))
    return house, slate, board


Pair = tuple[House, PaperThatConnects, PaperConnector]


async def test_a_deaf_account_is_connected_anew_and_catches_up(pair: Pair) -> None:
    house, slate, board = pair
    async with house.run() as router:
        await slate.say("s", "heard")
        await house.clock.advance(60)
        slate.raw("s", "not heard")
        await house.clock.advance(400)

        assert slate.connections == 2
        assert "nothing of what is said is heard" in router.operations.why_deaf(slate.account)
        assert board.texts("b") == ["heard", "not heard"]

        await slate.say("s", "heard again")
        assert router.operations.why_deaf(slate.account) == ""


async def test_a_quiet_channel_is_no_deafness(pair: Pair) -> None:
    house, slate, _ = pair
    async with house.run() as router:
        await slate.say("s", "heard")
        await house.clock.advance(3600)

        assert slate.connections == 1
        assert router.operations.why_deaf(slate.account) == ""


async def test_an_account_that_stays_deaf_is_asked_less_and_less_and_says_what_to_do(
    pair: Pair,
) -> None:
    house, slate, _ = pair
    async with house.run() as router:
        await house.clock.advance(60)
        for _ in range(40):
            slate.raw("s", "not heard")
            await house.clock.advance(600)

        assert 3 <= slate.connections < 12
        assert "which events the app is subscribed to" in router.operations.why_deaf(slate.account)


async def test_an_account_that_does_not_hear_its_own_post_is_probed_soon(clock: FakeClock) -> None:
    slate, board = PaperThatConnects("slate", clock, echo=True), PaperConnector("board", clock)
    house = House(clock, SqliteStore.in_memory(clock), (slate, board))
    house.room("all", (slate, "s", "both"), (board, "b", "both"))
    async with house.run():
        await slate.say("s", "heard")
        await clock.advance(100)
        await board.say("b", "to slate")
        await clock.advance(60)

    assert slate.texts("s") == ["heard", "to slate"]
    assert slate.connections == 2


async def test_an_echo_that_comes_before_its_answer_was_heard(clock: FakeClock) -> None:
    slate, board = PaperThatConnects("slate", clock, echo=True), PaperConnector("board", clock)
    house = House(clock, SqliteStore.in_memory(clock), (slate, board))
    house.room("all", (slate, "s", "both"), (board, "b", "both"))

    async def come_back(call: Call) -> None:
        assert slate.inbox
        await slate.inbox.accept(
            Raw(account=slate.account, kind="post", dedupe_key="echo", order_key="echo",
                channel=call.channel, echo=Echo(), payload=b"{}")
        )  # fmt: skip
        await clock.sleep(2)

    async with house.run():
        await clock.advance(100)
        before = slate.probed
        slate.before_send = come_back
        await board.say("b", "to slate")
        await clock.advance(200)

    assert slate.texts("s") == ["to slate"]
    assert slate.probed == before
