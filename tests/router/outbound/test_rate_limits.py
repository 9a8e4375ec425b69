"""Rate limits are kept, and a full limit delays only the requests that count against it."""

from __future__ import annotations

import asyncio

import pytest

from bridge.model import AccountId, Rate, RateLimitKey
from bridge.router.outbound.rate_limits import Priority, RateLimits
from tests.router.fake_clock import FakeClock

ANN = AccountId("ann")
CHANNEL = {"channel": (Rate(count=1, seconds=1.0),), "account": (Rate(count=3, seconds=10.0),)}


def keys(channel: str) -> list[RateLimitKey]:
    return [RateLimitKey(rule="channel", of=channel), RateLimitKey(rule="account", of="a")]


class Senders:
    """Requests that note when they got permission."""

    def __init__(self, clock: FakeClock, rate_limits: RateLimits) -> None:
        self.clock = clock
        self.rate_limits = rate_limits
        self.granted: list[tuple[str, float]] = []
        self.tasks: list[asyncio.Task[None]] = []
        self.began = clock.now

    def send(
        self, name: str, channel: str, *, takes: float = 0.0, priority: Priority = Priority.POST
    ) -> None:
        async def work() -> None:
            async with self.rate_limits.permission(ANN, keys(channel), priority):
                self.granted.append((name, self.clock.now - self.began))
                await self.clock.sleep(takes)

        self.tasks.append(asyncio.create_task(work()))

    async def done(self) -> None:
        await asyncio.gather(*self.tasks)
        await self.rate_limits.close()


async def test_a_window_is_counted_from_the_answer() -> None:
    clock = FakeClock()
    senders = Senders(clock, RateLimits(clock, {ANN: CHANNEL}))

    senders.send("one", "c", takes=0.25)
    senders.send("two", "c")
    await clock.advance(5)

    assert senders.granted == [("one", 0.0), ("two", 1.25)]
    await senders.done()


async def test_a_waiting_request_does_not_hold_up_another_channel() -> None:
    clock = FakeClock()
    rate_limits = RateLimits(clock, {ANN: CHANNEL})
    senders = Senders(clock, rate_limits)
    rate_limits.block(ANN, keys("slow")[:1], 30.0)

    senders.send("slow", "slow")
    senders.send("quick", "quick")
    await clock.advance(0.1)

    assert senders.granted == [("quick", 0.0)]
    await clock.advance(40)
    assert senders.granted[-1] == ("slow", 30.0)
    await senders.done()


@pytest.mark.parametrize("waits", [(30.0, 5.0), (5.0, 30.0), (30.0, 0.0)])
async def test_a_shorter_429_never_shortens_a_longer_wait(waits: tuple[float, float]) -> None:
    clock = FakeClock()
    rate_limits = RateLimits(clock, {ANN: CHANNEL})
    senders = Senders(clock, rate_limits)

    for seconds in waits:
        rate_limits.block(ANN, keys("c")[:1], seconds)
    senders.send("post", "c")
    await clock.advance(60)

    assert senders.granted == [("post", 30.0)]
    await senders.done()


async def test_a_shorter_429_never_shortens_the_wait_of_a_request_that_waits_already() -> None:
    clock = FakeClock()
    rate_limits = RateLimits(clock, {ANN: CHANNEL})
    senders = Senders(clock, rate_limits)
    rate_limits.block(ANN, keys("c")[:1], 30.0)
    senders.send("post", "c")
    await clock.advance(10)

    rate_limits.block(ANN, keys("c")[:1], 1.0)
    await clock.advance(60)

    assert senders.granted == [("post", 30.0)]
    await senders.done()


async def test_the_more_urgent_goes_first_where_a_limit_is_shared() -> None:
    clock = FakeClock()
    senders = Senders(clock, RateLimits(clock, {ANN: CHANNEL}))
    for name in ("a", "b", "c"):
        senders.send(name, name)
    await clock.let_work()

    senders.send("edit", "d", priority=Priority.STREAM_EDIT)
    senders.send("post", "e", priority=Priority.POST)
    senders.send("answer", "f", priority=Priority.ANSWER)
    await clock.advance(60)

    assert [name for name, _ in senders.granted[3:]] == ["answer", "post", "edit"]
    await senders.done()


async def test_no_window_is_ever_exceeded() -> None:
    clock = FakeClock()
    senders = Senders(clock, RateLimits(clock, {ANN: CHANNEL}))
    for number in range(30):
        senders.send(str(number), f"c{number % 4}", takes=0.1)
    await clock.advance(200)

    times = sorted(when for _, when in senders.granted)
    assert len(times) == 30
    assert all(later - earlier >= 10 for earlier, later in zip(times, times[3:], strict=False))
    await senders.done()


async def test_a_cancelled_request_gives_its_place_away() -> None:
    clock = FakeClock()
    senders = Senders(clock, RateLimits(clock, {ANN: CHANNEL}))
    senders.send("one", "c")
    senders.send("given up", "c")
    senders.send("two", "c")
    await clock.let_work()

    senders.tasks.pop(1).cancel()
    await clock.advance(3)

    assert senders.granted == [("one", 0.0), ("two", 1.0)]
    await senders.done()
