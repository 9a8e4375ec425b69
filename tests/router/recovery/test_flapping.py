"""A connection that breaks again and again: each time all channels are read anew, and meanwhile
people go on reading one another."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import pytest

from bridge.errors import Unavailable
from bridge.model import ChannelRef, Raw
from bridge.router import Router
from bridge.store import SqliteStore
from tests.router.conftest import House
from tests.router.fake_clock import FakeClock
from tests.router.paper import PaperConnector, PaperWithHistory

CHANNELS = [f"s{number}" for number in range(7)]
TAKES = 3.0  # seconds to read one channel
BREAKS = 2.0  # ... between two sessions: sooner than all channels are read
ROUND = 2 * TAKES  # ... to read them all, four at a time


class Slow(PaperWithHistory):
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
        patience: float | None = None,
    ) -> AsyncIterator[Raw]:
        self.reads.append((channel.channel, cursor))
        found = [raw async for raw in super().read_after(channel, cursor, threads)]
        await self._fake.sleep(TAKES)
        if self.down:
            raise Unavailable("down")
        for raw in found:
            yield raw


class Street:
    """Each channel of `slate` is shown in one of `board`."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.slate, self.board = Slow("slate", clock), PaperConnector("board", clock)
        self.house = House(clock, SqliteStore.in_memory(clock), (self.slate, self.board))
        for name in CHANNELS:
            self.house.room(name, (self.slate, name, "both"), (self.board, name, "both"))

    async def begin(self) -> None:
        """The channels are known to the store."""
        async with self.house.run():
            for name in CHANNELS:
                await self.slate.say(name, "before")
            await self.clock.advance(20)
        self.slate.reads.clear()

    async def flap(self, router: Router, times: int) -> list[str]:
        """A session after the other; each time one thing is said live in each channel, and one that
        nobody tells. Gives both."""
        said: list[str] = []
        for number in range(times):
            for name in CHANNELS:
                self.slate.raw(name, f"missed {number}")
            router.inbox.session_began(self.slate.account)
            for name in CHANNELS:
                await self.slate.say(name, f"live {number}")
            said += [f"missed {number}", f"live {number}"]
            await self.clock.advance(BREAKS)
        return said

    def shown(self) -> list[list[str]]:
        return [self.board.texts(name) for name in CHANNELS]


@pytest.fixture
async def street(clock: FakeClock) -> Street:
    street = Street(clock)
    await street.begin()
    return street


async def test_what_is_said_meanwhile_is_shown_and_nothing_is_missing_at_the_end(
    street: Street,
) -> None:
    async with street.house.run() as router:
        said = await street.flap(router, 30)
        old = len(said) - 2 * round((2 * ROUND + TAKES) / BREAKS)
        assert all(texts[: old + 1] == ["before", *said[:old]] for texts in street.shown())
        await street.clock.advance(2 * ROUND)
        assert router.operations.catching_up == 0

    assert all(texts == ["before", *said] for texts in street.shown())


async def test_sessions_that_come_sooner_than_a_reading_ends_share_the_next_one(
    street: Street,
) -> None:
    async with street.house.run() as router:
        await street.flap(router, 30)
        took = 30 * BREAKS
        await street.clock.advance(2 * ROUND)

    for name in CHANNELS:
        assert took / ROUND / 2 <= [read[0] for read in street.slate.reads].count(name)
    assert len(street.slate.reads) <= (took + 2 * ROUND) / TAKES * 4  # four at a time, no more


async def test_each_reading_begins_near_where_the_one_before_began(street: Street) -> None:
    async with street.house.run() as router:
        await street.flap(router, 30)
        for name in CHANNELS:
            cursors = [cursor for channel, cursor in street.slate.reads if channel == name]
            assert cursors == sorted(cursors)
            assert len(set(cursors)) >= len(cursors) - 2
            assert int(cursors[-1]) > 2 * len(CHANNELS) * (30 - 2 * ROUND / BREAKS)


async def test_channels_that_cannot_be_read_go_on_unread(street: Street) -> None:
    street.slate.down = True
    async with street.house.run() as router:
        said = await street.flap(router, 30)
        live = [text for text in said if text.startswith("live")]
        assert all(texts[1:] == live for texts in street.shown())
        street.slate.down = False
        await street.clock.advance(200)

    assert all(sorted(texts[1:]) == sorted(said) for texts in street.shown())


async def test_what_follows_the_first_look_at_a_channel_is_not_lost(clock: FakeClock) -> None:
    street = Street(clock)
    async with street.house.run() as router:
        for name in CHANNELS:
            street.slate.raw(name, "missed")
        router.inbox.session_began(street.slate.account)
        await clock.advance(3 * ROUND)

    assert all(texts in ([], ["missed"]) for texts in street.shown())
