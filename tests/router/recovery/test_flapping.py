"""A connection that breaks again and again: each time all channels are read anew, and meanwhile
people go on reading one another."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import pytest

from bridge.errors import Unavailable
from bridge.model import ChannelRef, Raw
from bridge.router import Router
from bridge.store import SqliteStore
from tests.router.conftest import RouterRig
from tests.router.fake_clock import FakeClock
from tests.router.fake_connector import FakeConnector, FakeWithHistory

CHANNELS = [f"s{number}" for number in range(7)]
TAKES = 3.0  # seconds to read one channel
BREAKS = 2.0  # ... between two sessions: sooner than all channels are read
ROUND = 2 * TAKES  # ... to read them all, four at a time


class Slow(FakeWithHistory):
    """Notes from where on it was read; `down` while nothing can be."""

    def __init__(self, account: str, clock: FakeClock) -> None:
        super().__init__(account, clock)
        self.reads: list[tuple[str, str]] = []
        self.down = False
        self._fake = clock

    async def read_after(
        self,
        channel: ChannelRef,
        cursor: str,
        threads: Sequence[str],
        *,
        wait_limit: float | None = None,
    ) -> AsyncIterator[Raw]:
        self.reads.append((channel.channel, cursor))
        found = [raw async for raw in super().read_after(channel, cursor, threads)]
        await self._fake.sleep(TAKES)
        if self.down:
            raise Unavailable("down")
        for raw in found:
            yield raw


class ChannelPairs:
    """Each channel of `sales` is shown in one of `billing`."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.sales, self.billing = Slow("sales", clock), FakeConnector("billing", clock)
        self.rig = RouterRig(clock, SqliteStore.in_memory(clock), (self.sales, self.billing))
        for name in CHANNELS:
            self.rig.room(name, (self.sales, name, "both"), (self.billing, name, "both"))

    async def begin(self) -> None:
        """The channels are known to the store."""
        async with self.rig.run():
            for name in CHANNELS:
                await self.sales.say(name, "before")
            await self.clock.advance(20)
        self.sales.reads.clear()

    async def flap(self, router: Router, times: int) -> list[str]:
        """A session after the other; each time one thing is said live in each channel, and one that
        nobody tells. Gives both."""
        said: list[str] = []
        for number in range(times):
            for name in CHANNELS:
                self.sales.raw(name, f"missed {number}")
            router.inbox.session_began(self.sales.account)
            for name in CHANNELS:
                await self.sales.say(name, f"live {number}")
            said += [f"missed {number}", f"live {number}"]
            await self.clock.advance(BREAKS)
        return said

    def shown(self) -> list[list[str]]:
        return [self.billing.texts(name) for name in CHANNELS]


@pytest.fixture
async def pairs(clock: FakeClock) -> ChannelPairs:
    pairs = ChannelPairs(clock)
    await pairs.begin()
    return pairs


async def test_what_is_said_meanwhile_is_shown_and_nothing_is_missing_at_the_end(
    pairs: ChannelPairs,
) -> None:
    async with pairs.rig.run() as router:
        said = await pairs.flap(router, 30)
        old = len(said) - 2 * round((2 * ROUND + TAKES) / BREAKS)
        assert all(texts[: old + 1] == ["before", *said[:old]] for texts in pairs.shown())
        await pairs.clock.advance(2 * ROUND)
        assert router.operations.catching_up == 0

    assert all(texts == ["before", *said] for texts in pairs.shown())


async def test_sessions_that_come_sooner_than_a_reading_ends_share_the_next_one(
    pairs: ChannelPairs,
) -> None:
    async with pairs.rig.run() as router:
        await pairs.flap(router, 30)
        took = 30 * BREAKS
        await pairs.clock.advance(2 * ROUND)

    for name in CHANNELS:
        assert took / ROUND / 2 <= [read[0] for read in pairs.sales.reads].count(name)
    assert len(pairs.sales.reads) <= (took + 2 * ROUND) / TAKES * 4  # four at a time, no more


async def test_each_reading_begins_near_where_the_one_before_began(pairs: ChannelPairs) -> None:
    async with pairs.rig.run() as router:
        await pairs.flap(router, 30)
        for name in CHANNELS:
            cursors = [cursor for channel, cursor in pairs.sales.reads if channel == name]
            assert cursors == sorted(cursors)
            assert len(set(cursors)) >= len(cursors) - 2
            assert int(cursors[-1]) > 2 * len(CHANNELS) * (30 - 2 * ROUND / BREAKS)


async def test_channels_that_cannot_be_read_go_on_unread(pairs: ChannelPairs) -> None:
    pairs.sales.down = True
    async with pairs.rig.run() as router:
        said = await pairs.flap(router, 30)
        live = [text for text in said if text.startswith("live")]
        assert all(texts[1:] == live for texts in pairs.shown())
        pairs.sales.down = False
        await pairs.clock.advance(200)

    assert all(sorted(texts[1:]) == sorted(said) for texts in pairs.shown())


async def test_what_follows_the_first_look_at_a_channel_is_not_lost(clock: FakeClock) -> None:
    pairs = ChannelPairs(clock)
    async with pairs.rig.run() as router:
        for name in CHANNELS:
            pairs.sales.raw(name, "missed")
        router.inbox.session_began(pairs.sales.account)
        await clock.advance(3 * ROUND)

    assert all(texts in ([], ["missed"]) for texts in pairs.shown())
