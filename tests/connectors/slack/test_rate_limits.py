"""Read requests stay within the documented limit of their method without a refusal by Slack."""

from __future__ import annotations

import asyncio
import itertools

import pytest
from aiohttp import web

from bridge.errors import RateLimited
from connectors.slack.rate_limits import Pace, Urgency
from tests.connectors.slack.test_send import FakeClock, answering
from tests.router.fake_clock import FakeClock as StandingClock

METHOD = "conversations.history"


async def test_a_list_waits_for_its_turn_and_a_single_lookup_is_refused() -> None:
    times: list[float] = []
    clock = FakeClock()

    async def answer(_: web.Request) -> web.Response:
        times.append(clock.monotonic())
        return web.json_response({"ok": True, "messages": []})

    async with answering(answer, clock) as api:
        for _ in range(40):
            await api.read("conversations.history", channel="C1", limit="1")
        with pytest.raises(RateLimited) as caught:
            await api.read("conversations.history", channel="C1", limit="1")
        await api.read("conversations.replies", channel="C1", ts="1.000001")
        async for _page in api.pages("conversations.history", channel="C1"):
            pass

    assert caught.value.retry_after == pytest.approx(61.0)
    assert times == [0.0] * 41 + [pytest.approx(61.0)]


class Queue:
    """The waiting requests of one method, by name, in the order of their turns."""

    def __init__(self) -> None:
        self.clock = StandingClock()
        self.pace = Pace(self.clock)
        self.turns: list[tuple[str, float]] = []
        self._began = self.clock.monotonic()

    async def used_up(self) -> None:
        for _ in range(40):
            await self.pace.turn(METHOD)

    def wait(self, name: str, urgency: Urgency) -> asyncio.Task[None]:
        return asyncio.create_task(self._wait(name, urgency))

    async def _wait(self, name: str, urgency: Urgency) -> None:
        await self.pace.turn(METHOD, urgency)
        self.turns.append((name, self.clock.monotonic() - self._began))


async def test_a_blocked_lane_has_priority_over_catch_up() -> None:
    queue = Queue()
    await queue.used_up()
    tasks = [queue.wait(f"read {n}", Urgency.USUAL) for n in range(3)]
    await queue.clock.let_work()
    tasks.append(queue.wait("lane", Urgency.LANE))
    await queue.clock.let_work()
    assert queue.turns == [("lane", 0.0)]

    await queue.clock.advance(62)
    assert queue.turns[1:] == [(f"read {n}", 61.0) for n in range(3)]
    await asyncio.gather(*tasks)


async def test_urgent_requests_go_first_without_starving_others() -> None:
    queue = Queue()
    for _ in range(50):
        await queue.pace.turn(METHOD, Urgency.LANE)
    names = [("back", Urgency.READ_BACK), ("usual", Urgency.USUAL), ("lane", Urgency.LANE)]
    tasks = [queue.wait(f"{name} {n}", urgency) for n in range(2) for name, urgency in names]
    await queue.clock.advance(62)

    assert [name for name, _ in queue.turns] == [
        "lane 0", "lane 1", "usual 0", "usual 1", "back 0", "back 1",
    ]  # fmt: skip
    await asyncio.gather(*tasks)


async def test_a_cancelled_waiter_takes_no_turn() -> None:
    queue = Queue()
    await queue.used_up()
    given_up = [queue.wait(f"gone {n}", Urgency.USUAL) for n in range(200)]
    last = queue.wait("last", Urgency.USUAL)
    await queue.clock.let_work()
    for task in given_up:
        task.cancel()
    await queue.clock.advance(62)

    assert queue.turns == [("last", 61.0)]
    await asyncio.gather(last, *given_up, return_exceptions=True)


async def test_no_window_has_more_requests_than_the_limit() -> None:
    queue = Queue()
    kinds = itertools.cycle(Urgency)
    tasks = [queue.wait(str(n), next(kinds)) for n in range(160)]
    await queue.clock.advance(300)

    at = [when for _, when in queue.turns]
    assert len(at) == 160
    for begin in at:
        assert sum(begin <= when < begin + 61 for when in at) <= 50
    await asyncio.gather(*tasks)


@pytest.mark.parametrize(("ahead", "pause"), [(0, 61.0), (39, 61.0), (40, 122.0)])
async def test_a_caller_with_a_short_deadline_is_refused_with_the_wait(
    ahead: int, pause: float
) -> None:
    queue = Queue()
    await queue.used_up()
    tasks = [queue.wait(str(n), Urgency.USUAL) for n in range(ahead)]
    await queue.clock.let_work()
    with pytest.raises(RateLimited) as caught:
        await queue.pace.turn(METHOD, wait_limit=5.0)

    assert caught.value.retry_after == pytest.approx(pause)
    await queue.clock.advance(70)
    await asyncio.gather(*tasks)


async def test_background_reads_always_leave_room_for_live_events() -> None:
    queue = Queue()
    tasks = [queue.wait(f"read {n}", Urgency.CATCH_UP) for n in range(60)]
    await queue.clock.let_work()
    assert len(queue.turns) == 35
    tasks += [queue.wait(f"live {n}", Urgency.LIVE) for n in range(10)]
    await queue.clock.let_work()
    assert [when for name, when in queue.turns if name.startswith("live")] == [0.0] * 10

    await queue.clock.advance(200)
    reads = [when for name, when in queue.turns if name.startswith("read")]
    assert reads == [0.0] * 35 + [61.0] * 25
    await asyncio.gather(*tasks)


async def test_a_rate_limit_from_slack_blocks_every_caller() -> None:
    queue = Queue()
    queue.pace.block(METHOD, 30.0)
    with pytest.raises(RateLimited) as caught:
        await queue.pace.turn(METHOD, Urgency.LIVE, wait_limit=5.0)
    waiting = queue.wait("lane", Urgency.LANE)
    await queue.clock.advance(40)

    assert caught.value.retry_after == pytest.approx(30.0)
    assert queue.turns == [("lane", 30.0)]
    await waiting
