"""A clock that stands still until a test moves it on."""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections.abc import Awaitable, Callable


class FakeClock:
    """Sleepers wake in the order of their time when `advance` passes it."""

    def __init__(self, start: float = 1_700_000_000.0) -> None:
        self.now = start
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._numbers = itertools.count()
        self._later: set[asyncio.Future[None]] = set()

    def time(self) -> float:
        return self.now

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        woken = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self.now + seconds, next(self._numbers), woken))
        await woken

    async def advance(self, seconds: float) -> None:
        """Move on, stopping at every sleeper on the way so that each acts at its own time."""
        end = self.now + seconds
        await self.let_work()
        while self._sleepers and self._sleepers[0][0] <= end:
            when, _, woken = heapq.heappop(self._sleepers)
            self.now = max(self.now, when)
            if not woken.done():
                woken.set_result(None)
                await self.let_work()
        self.now = end
        await self.let_work()

    def later(self, seconds: float, work: Callable[[], Awaitable[None]]) -> None:
        """Do something when so much time has passed."""

        async def waiting() -> None:
            await self.sleep(seconds)
            await work()

        self._later.add(asyncio.ensure_future(waiting()))

    async def let_work(self) -> None:
        """Return when every other task waits for time to pass, or after 200 turns of the loop."""
        ready = getattr(asyncio.get_running_loop(), "_ready")  # noqa: B009, no public name tells
        idle = 0
        for _ in range(200):
            await asyncio.sleep(0)
            idle = 0 if ready else idle + 1
            if idle == 3:  # what a thread or a socket has just answered is looked for twice more
                return
