"""A clock that only tests move."""

from __future__ import annotations

import asyncio

START = 1_700_000_000.0


class ManualClock:
    """A clock that stands still until a test sets `now` or sleeps.

    `now` is in seconds since 1970.
    """

    def __init__(self, now: float = START) -> None:
        self.now = now

    def time(self) -> float:
        """Return `now`."""
        return self.now

    def monotonic(self) -> float:
        """Return `now`."""
        return self.now

    async def sleep(self, seconds: float) -> None:
        """Move `now` on by `seconds` and let other tasks run once."""
        self.now += seconds
        await asyncio.sleep(0)
