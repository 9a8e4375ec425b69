"""Who joins a room is told who reads what is said there, and the others who reads there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from bridge.errors import Unavailable
from bridge.model import ChannelRef
from bridge.ports.abilities import Abilities
from bridge.store import SqliteStore
from tests.router.conftest import RouterRig
from tests.router.fake_clock import FakeClock
from tests.router.fake_connector import FakeConnector


class OpenFake(FakeConnector):
    """A fake platform whose channels guests can read."""

    readers: Sequence[str] = ()
    failing = False

    def own_abilities(self) -> Abilities:
        return replace(super().own_abilities(), outsiders=self)

    async def of_channel(self, channel: ChannelRef) -> Sequence[str]:
        if self.failing:
            raise Unavailable("nobody is there")
        return self.readers


Pair = tuple[RouterRig, OpenFake, OpenFake]


@pytest.fixture
def pair(clock: FakeClock) -> Pair:
    """Slate was there first; billing has just joined."""
    sales, billing = OpenFake("sales", clock), OpenFake("billing", clock)
    rig = RouterRig(clock, SqliteStore.in_memory(clock), (sales, billing))
    rig.room("all", (sales, "s", "both"), (billing, "b", "both"))
    joined = {sales.channel("s").key: 0.0, billing.channel("b").key: clock.time()}
    rig.rooms = [replace(rig.rooms[0], joined=joined)]
    return rig, sales, billing


def texts_of(connector: FakeConnector, channel: str) -> str:
    return "".join(connector.texts(channel))


async def test_a_channel_that_joins_gets_one_notice_of_who_reads_the_others(pair: Pair) -> None:
    rig, sales, billing = pair
    sales.readers = ("2 guests",)
    for _ in range(2):
        async with rig.run():
            await rig.clock.let_work()

    assert texts_of(billing, "b").count("is bridged to Fake s") == 1
    assert texts_of(billing, "b").count("⚠️ Fake s is also read by 2 guests.") == 1
    assert sales.texts("s") == []


async def test_the_other_channels_are_warned_once_of_new_outside_readers(pair: Pair) -> None:
    rig, sales, billing = pair
    billing.readers = ("people of other organisations", "1 guest")
    for _ in range(2):
        async with rig.run():
            await rig.clock.let_work()

    notice = "⚠️ Fake b joined this room: what is said here is also read by people of other"
    assert texts_of(sales, "s") == f"{notice} organisations and 1 guest."
    assert "⚠️" not in texts_of(billing, "b")


async def test_what_cannot_be_asked_is_not_warned_of(pair: Pair) -> None:
    rig, sales, billing = pair
    sales.failing = billing.failing = True
    async with rig.run():
        await rig.clock.let_work()

    assert "is bridged to" in texts_of(billing, "b")
    assert "⚠️" not in texts_of(billing, "b")
    assert sales.texts("s") == []


async def test_an_in_channel_that_joins_warns_nobody_of_outsiders(pair: Pair) -> None:
    rig, sales, billing = pair
    billing.readers = ("2 guests",)
    members = [replace(m, flow="in") if m.account == "billing" else m for m in rig.rooms[0].members]
    rig.rooms = [replace(rig.rooms[0], members=tuple(members))]
    async with rig.run():
        await rig.clock.let_work()

    assert sales.texts("s") == billing.texts("b") == []
