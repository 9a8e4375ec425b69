"""How long a test waits for a state that must come, and how it moves the clock of the loop on."""

from __future__ import annotations

import asyncio

# Seconds. Only a fault reaches this limit: a busy machine may make all else slow.
LONGEST_WAIT = 60.0


def pass_time(seconds: float) -> None:
    """Move the clock of the running loop on: everything in it that waits for that long wakes.

    For code whose deadlines go by the loop; a test that moves the clock waits for nothing.
    """
    loop = asyncio.get_running_loop()
    before = loop.time
    loop.time = lambda: before() + seconds
