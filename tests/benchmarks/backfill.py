"""Latency of live messages while a backfill runs, against the same without one.

`python -m tests.benchmarks.backfill [POSTS]`: people first post so much in each of a few channels;
the bridge starts, and live posts are timed, in turns with and without a backfill of these channels.
Limits are on.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bridge.app.control import RunningBridge, running_bridge
from tests.benchmarks.relay import WHO, Metered, metered, warm
from tests.e2e.processes import bridge_beside, rooms_across

ROUNDS = 3
LIVE = 120  # posts of a round from each platform
RATE = 4.0  # a second
PLATFORMS = ("slack", "discord")


async def measure(posts: int) -> None:
    """Print both latencies of each platform, and the ratios."""
    async with metered(limits=True) as sandbox:
        parts, rooms = rooms_across(sandbox.sandbox)
        for room in rooms[:3]:
            for spot in room[:2]:
                for number in range(posts):
                    await sandbox.sandbox.say(spot, spot.people[0], f"long ago {number}")
        with tempfile.TemporaryDirectory(prefix="uacs-benchmark-") as made:
            store = Path(made) / "bridge.sqlite3"
            settings = {"accounts": parts["accounts"], "rooms": parts["rooms"]}
            settings |= {"store": {"path": str(store)}, "files": parts["files"]}
            async with bridge_beside(
                sandbox.sandbox, settings, Path(made), module=WHO["bridge"]
            ) as bridge:
                await bridge.start()
                await bridge.connected(120)
                await warm(sandbox)
                control = running_bridge(store)
                assert control
                waits: dict[bool, list[float]] = {False: [], True: []}
                for number in range(2 * ROUNDS):
                    busy = number % 2 == 1
                    await _switch(control, sorted(parts["rooms"])[:3], number, on=busy)
                    waits[busy] += await _live(sandbox)
                listed = control.ask("/admin/backfill", {})["backfills"]
    read = sum(one["added"] + one["known"] for one in listed)
    print(f"{read} messages were read by {sum(one['requests'] for one in listed)} requests")
    for name, share in (("p50", 0.5), ("p95", 0.95)):
        without, during = (_at(waits[busy], share) for busy in (False, True))
        print(f"{name}: {without:.1f} ms without, {during:.1f} ms during, {during / without:.3f}")
    print(f"longest: {max(waits[False]):.0f} ms without, {max(waits[True]):.0f} ms during")


async def _switch(control: RunningBridge, rooms: Sequence[str], number: int, *, on: bool) -> None:
    """Begin backfills of these rooms anew, or stop them."""
    if not on:
        await asyncio.to_thread(control.ask, "/admin/backfill", {"stop": True})
        return
    for room in rooms:
        order = {"begin": room, "since": float(number)}
        await asyncio.to_thread(control.ask, "/admin/backfill", order)


async def _live(sandbox: Metered) -> list[float]:
    waits: list[float] = []
    for platform in PLATFORMS:
        waits += (await sandbox.post(platform, LIVE, rate=RATE))["waits_ms"]
    return waits


def _at(waits: Sequence[float], share: float) -> float:
    return statistics.quantiles(waits, n=100, method="inclusive")[int(share * 100) - 1]


if __name__ == "__main__":
    asyncio.run(measure(int(sys.argv[1]) if len(sys.argv) > 1 else 400))
