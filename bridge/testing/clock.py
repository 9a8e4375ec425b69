"""A clock that tests move by hand."""

from __future__ import annotations

import asyncio

START = 1_700_000_000.0


class ManualClock:
    """A clock that stands still; set `now` or sleep to move it. Times are seconds since 1970."""

    def __init__(self, now: float = START) -> None:
        self.now = now

    def time(self) -> float:
        return self.now

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        await asyncio.sleep(0)
