"""Measures how late the event loop runs what is due: all accounts and agents share it."""

from __future__ import annotations

import asyncio

from prometheus_client import Histogram

EVERY = 0.5  # seconds between two measurements

LAG = Histogram(
    "bridge_event_loop_lag_seconds",
    "How late the event loop ran a timer, measured twice a second",
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)


async def measure_lag(every: float = EVERY) -> None:
    """Measure until cancelled."""
    loop = asyncio.get_running_loop()
    while True:
        due = loop.time() + every
        await asyncio.sleep(every)
        LAG.observe(max(0.0, loop.time() - due))
