"""People talk, change and delete while the platforms fail in every way they know: 429 storms, 5xx,
hangs, lost answers, dropped sockets, events twice, late and in another order. When it is over, all
sides say the same."""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.e2e.processes import SandboxProcess, bridge_beside, rooms_across, sandbox_beside
from tests.e2e.reckoning import reckon, settled
from tests.e2e.tally import TeamsLog, always
from tests.e2e.traffic import Mix, Traffic

CHANNELS = 7
FEW = 3
SEED = int(os.environ.get("STORM_SEED", "1"))
# Without IRC: people of IRC cannot edit, and its lines stay after an edit.
PLATFORMS = ("slack", "discord", "teams")
# Requests that change something, by the sandbox's names of them: (platform, glob).
CALLS = (
    "slack:chat.*", "discord:webhook.*", "teams:activity.*", "slack:*", "discord:*", "teams:*",
)  # fmt: skip
# Teams cannot be asked whether a post arrived, so that hangs and lost answers there end as
# `unproved`: they are counted, and bounded by how many there were.
UNKNOWN = ("hang", "lose_answer")


class Weather:
    """Faults at random; `done` counts them."""

    def __init__(self, sandbox: SandboxProcess, chance: random.Random) -> None:
        self.done: Counter[str] = Counter()
        self._sandbox = sandbox
        self._random = chance

    async def blow(self, seconds: float, pause: float) -> None:
        """A fault after random pauses of `pause` seconds on average; then all faults end."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            await self._gust()
            await asyncio.sleep(self._random.expovariate(1 / pause))
        await self._sandbox.no_faults()

    async def _gust(self) -> None:
        kind = self._random.choice(
            ("rate_limited", "status", "hang", "lose_answer", "events", "events", "socket")
        )
        if kind == "socket":
            platform = self._random.choice(PLATFORMS)
            await self._sandbox.disconnect(platform)
            self.done[f"{kind} {platform}"] += 1
            return
        if kind == "events":
            kind = self._random.choice(("delay", "duplicate", "reorder"))
            where = f"{self._random.choice(PLATFORMS)}:event:*"
        else:
            where = self._random.choice(CALLS)
        times = self._random.randint(1, 30 if kind in ("rate_limited", "status") else 4)
        await self._sandbox.fault(
            kind, where, times=times, seconds=self._random.uniform(0.1, 1.5),
            status=self._random.choice((500, 502, 503)),
        )  # fmt: skip
        self.done[f"{kind} {where.partition(':')[0]}"] += times


async def weather(
    seconds: float, folder: Path, *, pause: float, gusts: float, channels: int = CHANNELS
) -> None:
    """The whole of it; prints what was counted. `pause` is between events, `gusts` between faults,
    both in seconds on average."""
    store = folder / "bridge.sqlite3"
    async with sandbox_beside(channels=channels, limits=False) as local:
        parts, rooms = rooms_across(local)
        settings = {**parts, "store": {"path": str(store)}}
        traffic = Traffic(local, rooms, random.Random(SEED), Mix())
        log = TeamsLog(local)
        async with bridge_beside(local, settings, folder) as bridge:
            await bridge.start()
            await bridge.connected(120)
            await traffic.one_each()
            assert (await settled(local, traffic, bridge, log, always, 120, store)).settled
            storm = Weather(local, random.Random(SEED + 1))
            blowing = asyncio.create_task(storm.blow(seconds, gusts))
            while not blowing.done():
                await traffic.act(10, pause)
            await blowing
            await bridge.connected(120)
            reckoning = await reckon(local, traffic, bridge, log, always, seconds=1500, store=store)
    print(
        f"\n{seconds:g} s, {traffic.events} events, {len(traffic.posts)} of them posts, in "
        f"{sum(map(len, rooms))} channels, faults asked for: {dict(sorted(storm.done.items()))}\n"
        f"{reckoning}"
    )
    doubtful = sum(storm.done[f"{kind} teams"] for kind in UNKNOWN) + storm.done["status teams"]
    reckoning.hold(unproved_per_lane=doubtful, in_order=False)  # they came in another order


@pytest.mark.timeout(400)
async def test_all_platforms_agree_after_a_short_storm_of_faults(tmp_path: Path) -> None:
    await weather(12, tmp_path, pause=0.06, gusts=0.5, channels=FEW)


@pytest.mark.long
@pytest.mark.timeout(4200)
async def test_all_platforms_agree_after_half_an_hour_of_faults(tmp_path: Path) -> None:
    await weather(1800, tmp_path, pause=0.15, gusts=1.0)
