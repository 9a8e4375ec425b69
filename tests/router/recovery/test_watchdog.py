"""A connection that stands and hears nothing of what is said is noticed and made anew."""

from __future__ import annotations

import asyncio

import pytest

from bridge.model import Call, ChannelRef, Echo, Raw
from bridge.ports.inbox import Inbox
from bridge.store import SqliteStore
from tests.router.conftest import RouterRig
from tests.router.fake_clock import FakeClock
from tests.router.fake_connector import FakeConnector, FakeWithHistory


class FakeThatConnects(FakeWithHistory):
    """A platform with history that counts connections and probes."""

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
def pair(clock: FakeClock) -> tuple[RouterRig, FakeThatConnects, FakeConnector]:
    sales, billing = FakeThatConnects("sales", clock), FakeConnector("billing", clock)
    rig = RouterRig(clock, SqliteStore.in_memory(clock), (sales, billing))
    rig.room("all", (sales, "s", "both"), (billing, "b", "both"))
    return rig, sales, billing


Pair = tuple[RouterRig, FakeThatConnects, FakeConnector]


async def test_a_stalled_account_reconnects_and_catches_up(pair: Pair) -> None:
    rig, sales, billing = pair
    async with rig.run() as router:
        await sales.say("s", "heard")
        await rig.clock.advance(60)
        sales.raw("s", "not heard")
        await rig.clock.advance(400)

        assert sales.connections == 2
        assert "nothing of what is said is heard" in router.operations.stall_fault(sales.account)
        assert billing.texts("b") == ["heard", "not heard"]

        await sales.say("s", "heard again")
        assert router.operations.stall_fault(sales.account) == ""


async def test_a_quiet_channel_is_not_a_stalled_connection(pair: Pair) -> None:
    rig, sales, _ = pair
    async with rig.run() as router:
        await sales.say("s", "heard")
        await rig.clock.advance(3600)

        assert sales.connections == 1
        assert router.operations.stall_fault(sales.account) == ""


async def test_a_permanently_stalled_account_is_probed_less_often_and_its_note_names_the_remedy(
    pair: Pair,
) -> None:
    rig, sales, _ = pair
    async with rig.run() as router:
        await rig.clock.advance(60)
        for _ in range(40):
            sales.raw("s", "not heard")
            await rig.clock.advance(600)

        assert 3 <= sales.connections < 12
        assert "which events the app is subscribed to" in router.operations.stall_fault(
            sales.account
        )


async def test_an_account_without_the_echo_of_its_own_post_is_probed_soon(clock: FakeClock) -> None:
    sales, billing = FakeThatConnects("sales", clock, echo=True), FakeConnector("billing", clock)
    rig = RouterRig(clock, SqliteStore.in_memory(clock), (sales, billing))
    rig.room("all", (sales, "s", "both"), (billing, "b", "both"))
    async with rig.run():
        await sales.say("s", "heard")
        await clock.advance(100)
        await billing.say("b", "to sales")
        await clock.advance(60)

    assert sales.texts("s") == ["heard", "to sales"]
    assert sales.connections == 2


async def test_an_echo_that_comes_before_the_answer_counts_as_received(clock: FakeClock) -> None:
    sales, billing = FakeThatConnects("sales", clock, echo=True), FakeConnector("billing", clock)
    rig = RouterRig(clock, SqliteStore.in_memory(clock), (sales, billing))
    rig.room("all", (sales, "s", "both"), (billing, "b", "both"))

    async def come_back(call: Call) -> None:
        assert sales.inbox
        await sales.inbox.accept(
            Raw(account=sales.account, kind="post", dedupe_key="echo", order_key="echo",
                channel=call.channel, echo=Echo(), payload=b"{}")
        )  # fmt: skip
        await clock.sleep(2)

    async with rig.run():
        await clock.advance(100)
        before = sales.probed
        sales.before_send = come_back
        await billing.say("b", "to sales")
        await clock.advance(200)

    assert sales.texts("s") == ["to sales"]
    assert sales.probed == before
