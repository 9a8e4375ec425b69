"""kill -9 at random moments while people talk, change and delete: nothing lost, doubled, out of
order or left as it was."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.e2e.processes import BridgeProcess, bridge_beside, rooms_across, sandbox_beside
from tests.e2e.reckoning import reckon, settled
from tests.e2e.tally import TeamsLog, always
from tests.e2e.traffic import Mix, Traffic

CHANNELS = 7  # in each of two workspaces, guilds and teams: 42 channels, 14 rooms
FEW = 3  # 18 channels, 6 rooms
# Slack tells reactions again that were not acknowledged; Discord does not.
MIX = Mix(reacting=("slack",))
SEED = int(os.environ.get("KILL_SEED", "1"))


async def survive(
    kills: int,
    events: int,
    folder: Path,
    *,
    pause: float,
    limits: bool,
    channels: int = CHANNELS,
    platforms: Sequence[str] = ("slack", "discord", "teams"),  # IRC: see test_irc_kills.py
    mix: Mix = MIX,
) -> None:
    """The whole of it; prints what was counted."""
    chance = random.Random(SEED)
    store = folder / "bridge.sqlite3"
    async with sandbox_beside(channels=channels, limits=limits) as local:
        parts, rooms = rooms_across(local, platforms)
        settings = {**parts, "store": {"path": str(store)}}
        traffic = Traffic(local, rooms, random.Random(SEED + 1), mix)
        log = TeamsLog(local)
        async with bridge_beside(local, settings, folder) as bridge:
            await bridge.start()
            await bridge.connected(180)
            await traffic.one_each()
            assert (await settled(local, traffic, bridge, log, always, 120, store)).settled
            for left in range(kills, 0, -1):
                acting = asyncio.create_task(
                    traffic.act((events - traffic.events) // (left + 1), pause)
                )
                await moment(bridge, chance)
                await bridge.kill()
                await asyncio.sleep(chance.uniform(0.0, 0.5))  # some is done while nobody hears
                await bridge.start()
                await acting
            await traffic.act(events - traffic.events, pause)
            await bridge.connected(180)
            # On Slack the bridge reads what it missed at 50 requests a minute, limits or none.
            reckoning = await reckon(local, traffic, bridge, log, always, seconds=1500, store=store)
        refusals = await local.refusals()
    print(
        f"\n{kills} kills, {traffic.events} events, {len(traffic.posts)} of them posts, in "
        f"{sum(map(len, rooms))} channels: {reckoning}\nrefused: {refusals}"
    )
    reckoning.hold(unproved_per_lane=kills)


async def moment(bridge: BridgeProcess, chance: random.Random) -> None:
    """Wait until the kill: mostly at work, sometimes while it starts."""
    if chance.random() < 0.3:
        await asyncio.sleep(chance.uniform(0.0, 3.0))
        return
    await bridge.connected(180)
    await asyncio.sleep(chance.uniform(0.0, 3.0))


@pytest.mark.timeout(400)
async def test_kills_lose_duplicate_and_reorder_nothing(tmp_path: Path) -> None:
    await survive(kills=5, events=250, folder=tmp_path, pause=0.08, limits=False, channels=FEW)


@pytest.mark.long
@pytest.mark.timeout(3600)
async def test_two_hundred_kills_during_ten_thousand_events(tmp_path: Path) -> None:
    await survive(kills=200, events=10_000, folder=tmp_path, pause=0.1, limits=False)


@pytest.mark.long
@pytest.mark.timeout(1800)
async def test_fifty_kills_within_the_limits(tmp_path: Path) -> None:
    await survive(kills=50, events=2000, folder=tmp_path, pause=0.08, limits=True)
