"""How long a test waits for a state that must come, and how it moves the clock of the loop on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

# Seconds. Only a fault reaches this limit: a busy machine may make all else slow.
LONGEST_WAIT = 60.0


def pass_time(seconds: float) -> None:
    """Move the clock of the running loop on: everything in it that waits for that long wakes.

    For code whose deadlines go by the loop; a test that moves the clock waits for nothing. Code
    that keeps `loop.time` itself follows from the first call on, which may be of 0 seconds.
    """
    loop = asyncio.get_running_loop()
    moved = loop.time
    if not isinstance(moved, _MovedTime):
        moved = _MovedTime(moved)
        loop.time = moved
    moved.ahead += seconds


class _MovedTime:
    def __init__(self, by_itself: Callable[[], float]) -> None:
        self._by_itself = by_itself
        self.ahead = 0.0

    def __call__(self) -> float:
        return self._by_itself() + self.ahead
