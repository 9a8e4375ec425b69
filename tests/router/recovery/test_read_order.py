"""After a gap, live events wait for their own channel alone, and no longer than limits allow."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import pytest

from bridge.errors import RateLimited
from bridge.model import ChannelRef, Raw
from bridge.model.assignments import account_assignment
from bridge.ports.store.key_values import ROUTER_VALUES
from bridge.store import SqliteStore
from tests.router.conftest import RouterRig
from tests.router.fake_clock import FakeClock
from tests.router.fake_connector import FakeConnector, FakeWithHistory
from tests.router.test_sharing import Others

CHANNELS = [f"s{number:02d}" for number in range(30)]
BACKGROUND, LIVE = 20.0, 0.2  # seconds until a reading has its turn


class Limited(FakeWithHistory):
    """Readings wait long for their turn, those that live events wait for but a moment. `refuses`:
    the limit does not even allow those, for so many seconds; `each`: seconds by which each of those
    has its turn later than the one before."""

    def __init__(self, account: str, clock: FakeClock) -> None:
        super().__init__(account, clock)
        self.reads: list[tuple[str, float | None]] = []
        self.refuses = 0.0
        self.each = 0.0
        self.live = LIVE
        self._fake = clock

    async def read_after(
        self,
        channel: ChannelRef,
        cursor: str,
        threads: Sequence[str],
        *,
        wait_limit: float | None = None,
    ) -> AsyncIterator[Raw]:
        self.reads.append((channel.channel, wait_limit))
        if wait_limit is not None and self.refuses > wait_limit:
            raise RateLimited("later", retry_after=self.refuses)
        if wait_limit is not None:
            self.refuses += self.each
        await self._fake.sleep(BACKGROUND if wait_limit is None else self.live + self.refuses)
        async for raw in super().read_after(channel, cursor, threads):
            yield raw


class ChannelPairs:
    """Each channel of `sales` is shown in one of `billing`."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.sales, self.billing = Limited("sales", clock), FakeConnector("billing", clock)
        self.rig = RouterRig(clock, SqliteStore.in_memory(clock), (self.sales, self.billing))
        for name in CHANNELS:
            self.rig.room(name, (self.sales, name, "both"), (self.billing, name, "both"))

    async def begin(self) -> None:
        """The channels are known to the store, and current; then the bridge stops."""
        async with self.rig.run():
            for name in CHANNELS:
                await self.sales.say(name, "before")
            await self.clock.advance(BACKGROUND * 10)
        self.sales.reads.clear()

    async def crash(self) -> None:
        """As if the last process had not stopped in order."""
        await self.begin()
        await self.rig.store.remove_value(ROUTER_VALUES, "stopped")


@pytest.fixture
def pairs(clock: FakeClock) -> ChannelPairs:
    return ChannelPairs(clock)


async def test_a_channel_with_live_events_is_read_before_all_others(pairs: ChannelPairs) -> None:
    await pairs.crash()
    last = CHANNELS[0]  # the others have later news
    pairs.sales.raw(last, "missed")
    async with pairs.rig.run() as router:
        await pairs.clock.advance(1)
        assert last not in [name for name, _ in pairs.sales.reads]
        await pairs.sales.say(last, "live")
        await pairs.clock.advance(1)
        assert pairs.billing.texts(last) == ["before", "missed", "live"]
        assert router.operations.catching_up > 20


async def test_a_reading_that_waits_for_its_turn_is_begun_anew_when_a_live_event_comes(
    pairs: ChannelPairs,
) -> None:
    await pairs.crash()
    first = CHANNELS[-1]
    pairs.sales.raw(first, "missed")
    async with pairs.rig.run():
        await pairs.clock.advance(1)
        assert (first, None) in pairs.sales.reads
        await pairs.sales.say(first, "live")
        await pairs.clock.advance(1)

    assert pairs.billing.texts(first) == ["before", "missed", "live"]


async def test_every_channel_may_have_live_events_at_once(pairs: ChannelPairs) -> None:
    await pairs.crash()
    for name in CHANNELS:
        pairs.sales.raw(name, "missed")
    async with pairs.rig.run():
        for name in CHANNELS:
            await pairs.sales.say(name, "live")
        await pairs.clock.advance(2)
        shown = [pairs.billing.texts(name) for name in CHANNELS]

    assert shown == [["before", "missed", "live"]] * len(CHANNELS)


async def test_after_a_clean_stop_no_live_event_waits_two_seconds_however_many_channels_speak(
    pairs: ChannelPairs,
) -> None:
    await pairs.begin()
    pairs.sales.each = 0.3  # the last of the channels could be read after nine seconds
    async with pairs.rig.run():
        for name in CHANNELS:
            await pairs.sales.say(name, "live")
        await pairs.clock.advance(2)
        shown = [pairs.billing.texts(name) for name in CHANNELS]
        await pairs.clock.advance(BACKGROUND * len(CHANNELS))

    assert shown == [["before", "live"]] * len(CHANNELS)
    assert pairs.billing.texts(CHANNELS[-1]) == ["before", "live"]


async def test_where_the_limits_allow_no_reading_live_events_go_on_and_nothing_is_lost(
    pairs: ChannelPairs,
) -> None:
    await pairs.crash()
    pairs.sales.refuses = 50.0
    name = CHANNELS[0]
    pairs.sales.raw(name, "missed")
    async with pairs.rig.run():
        await pairs.sales.say(name, "live")
        await pairs.clock.advance(1)
        assert pairs.billing.texts(name) == ["before", "live"]
        await pairs.sales.say(name, "live, too")
        await pairs.clock.advance(1)
        assert pairs.billing.texts(name) == ["before", "live", "live, too"]
        await pairs.clock.advance(300)
        assert pairs.billing.texts(name) == ["before", "live", "live, too", "missed"]
        await pairs.sales.say(name, "last")
        await pairs.clock.advance(1)

    assert pairs.billing.texts(name)[-1] == "last"


async def test_a_platform_that_does_not_answer_holds_live_events_for_a_while_only(
    pairs: ChannelPairs,
) -> None:
    await pairs.crash()
    pairs.sales.live = 1000.0
    name = CHANNELS[0]
    async with pairs.rig.run():
        await pairs.sales.say(name, "live")
        await pairs.clock.advance(pairs.rig.timeouts.longest_live_wait - 1)
        assert pairs.billing.texts(name) == ["before"]
        await pairs.clock.advance(2)
        assert pairs.billing.texts(name) == ["before", "live"]


async def test_the_first_events_of_a_channel_that_was_never_read_wait_for_nothing(
    pairs: ChannelPairs,
) -> None:
    async def never(_channel: ChannelRef) -> str:
        await pairs.clock.sleep(1000.0)
        return "000000"

    pairs.sales.newest = never  # type: ignore[method-assign]
    async with pairs.rig.run():
        await pairs.sales.say(CHANNELS[0], "first")
        await pairs.clock.advance(1)
        assert pairs.billing.texts(CHANNELS[0]) == ["first"]


async def test_rows_from_before_a_crash_with_no_gap_before_them_are_carried_at_once(
    pairs: ChannelPairs,
) -> None:
    await pairs.crash()
    pairs.sales.live = 1000.0
    kept = pairs.sales.raw(CHANNELS[0], "kept, then the crash")
    await pairs.rig.store.accept(kept, advance=True)
    async with pairs.rig.run():
        await pairs.clock.advance(1)
        assert pairs.billing.texts(CHANNELS[0]) == ["before", "kept, then the crash"]


@pytest.mark.parametrize(
    ("stop", "away", "timeout"),
    [("clean", 1.0, "live_wait_after_clean_stop"), ("clean", 3600.0, "live_wait"),
     ("crash", 1.0, "live_wait"), ("again", 1.0, "live_wait")],
)  # fmt: skip
async def test_live_events_wait_less_for_the_limits_after_a_clean_stop_a_moment_ago(
    pairs: ChannelPairs, stop: str, away: float, timeout: str
) -> None:
    await (pairs.crash() if stop == "crash" else pairs.begin())
    await pairs.clock.advance(away)
    async with pairs.rig.run() as router:
        if stop == "again":
            router.inbox.session_began(pairs.sales.account)
        await pairs.sales.say(CHANNELS[0], "live")
        await pairs.clock.advance(1)

    wait_limit = getattr(pairs.rig.timeouts, timeout)
    assert (CHANNELS[0], wait_limit) in pairs.sales.reads


@pytest.mark.parametrize(
    ("end", "timeout"), [("given up", "live_wait_after_clean_stop"), ("crashed", "live_wait")]
)
async def test_live_events_wait_less_where_another_process_gave_the_account_up(
    pairs: ChannelPairs, end: str, timeout: str
) -> None:
    everything = {account_assignment(account) for account in pairs.rig.connectors}
    pairs.rig.cluster = others = Others(*everything)
    async with pairs.rig.run() as router:
        await router.sharing.take(everything)
        await pairs.clock.advance(BACKGROUND * 10)
        if end == "given up":
            others.own.clear()
            await router.sharing.give_up(everything)
    pairs.sales.reads.clear()
    others.own = set(everything)
    async with pairs.rig.run() as router:
        await router.sharing.take(everything)
        await pairs.clock.let_work()
        await pairs.sales.say(CHANNELS[0], "live")
        await pairs.clock.advance(1)

    assert (CHANNELS[0], getattr(pairs.rig.timeouts, timeout)) in pairs.sales.reads


async def test_a_channel_that_was_not_read_before_a_clean_stop_counts_as_after_a_crash(
    pairs: ChannelPairs,
) -> None:
    await pairs.crash()
    async with pairs.rig.run():
        await pairs.clock.advance(1)
    pairs.sales.reads.clear()
    async with pairs.rig.run():
        await pairs.sales.say(CHANNELS[0], "live")
        await pairs.clock.advance(1)

    assert (CHANNELS[0], pairs.rig.timeouts.live_wait) in pairs.sales.reads


async def test_the_progress_of_catch_up_is_reported(pairs: ChannelPairs) -> None:
    await pairs.crash()
    async with pairs.rig.run() as router:
        await pairs.clock.advance(BACKGROUND + 1)
        progress = router.operations.progress(pairs.sales.account)
        assert progress is not None
        assert (progress.channels, progress.unread, progress.uncompared) == (30, 26, 0)
        assert progress.seconds_left == pytest.approx(136.5)
        assert progress.waiting == tuple(pairs.sales.channel(n).key for n in CHANNELS[:5])
        await pairs.clock.advance(BACKGROUND * 10)
        assert router.operations.progress(pairs.sales.account) is None


async def test_a_stop_leaves_live_events_that_wait_for_a_reading_to_the_next_start(
    clock: FakeClock,
) -> None:
    sales, billing = FakeWithHistory("sales", clock), FakeConnector("billing", clock)
    sales.takes = {"s": 3}
    rig = RouterRig(clock, SqliteStore.in_memory(clock), (sales, billing))
    rig.room("all", (sales, "s", "both"), (billing, "b", "both"))
    async with rig.run() as router:
        await clock.advance(20)
        sales.raw("s", "missed")
        router.inbox.session_began(sales.account)
        await sales.say("s", "live")

    async with rig.run():
        await clock.advance(20)
        assert billing.texts("b") == ["missed", "live"]
