"""Many processes over one store share the accounts and take over from one another; while they are
killed, stopped and started at random, nothing is lost, doubled or out of order."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bridge.app.settings.store import StoreSettings
from bridge.store.postgresql.address import Address, connect
from tests.e2e.cluster import Cluster, cluster_beside, freeze, thaw
from tests.e2e.processes import SandboxProcess, Spot, rooms_across, sandbox_beside
from tests.e2e.reckoning import reckon, settled
from tests.e2e.tally import TeamsLog, always
from tests.e2e.traffic import Mix, Traffic
from tests.store.postgresql_server import empty_store

pytestmark = pytest.mark.process

NATS = os.environ.get("UACS_NATS")  # without a server, the processes look into the store
MIX = Mix(reacting=("slack",))
SEED = int(os.environ.get("KILL_SEED", "1"))


@dataclass
class Scene:
    local: SandboxProcess
    rooms: list[tuple[Spot, ...]]
    cluster: Cluster
    database: Address
    settings: dict[str, Any]

    def owners(self) -> dict[str, str | None]:
        """Which process works for what."""
        with closing(connect(self.database)) as db:
            return dict(db.rows("SELECT name, process FROM assignments"))


@asynccontextmanager
async def scene(
    folder: Path, *, count: int, channels: int = 1, limits: bool = False
) -> AsyncGenerator[Scene]:
    database = empty_store()
    async with sandbox_beside(channels=channels, limits=limits) as local:
        parts, rooms = rooms_across(local)
        async with cluster_beside(
            local, parts, folder, database, count=count, nats=NATS, seed=SEED
        ) as cluster:
            await cluster.start()
            await cluster.connected(60)
            yield Scene(local, rooms, cluster, database, parts)


async def test_two_processes_share_the_accounts_and_relay_between_them(tmp_path: Path) -> None:
    async with scene(tmp_path, count=2) as here:
        owners = here.owners()
        assert {name for name in owners if name.startswith("account ")} == {
            f"account {name}" for name in here.settings["accounts"]
        }
        assert len(set(owners.values()) - {None}) == 2
        traffic = Traffic(here.local, here.rooms, random.Random(SEED), MIX)
        await traffic.one_each()
        await traffic.act(30, 0.02)
        result = await reckon(
            here.local, traffic, here.cluster, TeamsLog(here.local), always,
            seconds=60, store=StoreSettings(url=here.database.url),
        )  # fmt: skip
        result.hold(unproved_per_lane=0)
        assert set(here.owners().values()) == {None}  # all were given up


async def test_a_process_that_stops_hands_its_accounts_over(tmp_path: Path) -> None:
    async with scene(tmp_path, count=2) as here:
        first, second = here.cluster.processes
        before = asyncio.get_running_loop().time()
        assert await first.stop() == 0
        async with asyncio.timeout(10):
            while None in (owners := here.owners()).values() or len(set(owners.values())) > 1:  # noqa: ASYNC110 - another program
                await asyncio.sleep(0.02)
        took = asyncio.get_running_loop().time() - before
        print(f"handed over after {took:.2f} s")
        await second.connected(30)


async def survive(
    folder: Path,
    *,
    processes: int,
    channels: int,
    events: int,
    kills: int,
    freezes: int,
    frozen: float,
    restarts: int,
    pause: float,
) -> None:
    """Kills and stops of random processes while people talk; `restarts`: how often the database
    ends all connections."""
    chance = random.Random(SEED)
    store_of = StoreSettings
    async with scene(folder, count=processes, channels=channels) as here:
        traffic = Traffic(here.local, here.rooms, random.Random(SEED + 1), MIX)
        log, store = TeamsLog(here.local), store_of(url=here.database.url)
        await traffic.one_each()
        await settled(here.local, traffic, here.cluster, log, always, 120, store)
        faults = ["kill"] * kills + ["freeze"] * freezes + ["restart"] * restarts
        chance.shuffle(faults)
        thawing: set[asyncio.Task[None]] = set()
        for left, fault in zip(range(len(faults), 0, -1), faults, strict=True):
            acting = asyncio.create_task(
                traffic.act((events - traffic.events) // (left + 1), pause)
            )
            await asyncio.sleep(chance.uniform(0.5, 3.0))
            await strike(here, fault, chance, frozen, thawing)
            await acting
        await traffic.act(events - traffic.events, pause)
        await asyncio.gather(*thawing)
        await here.cluster.connected(120)
        result = await reckon(
            here.local, traffic, here.cluster, log, always, seconds=900, store=store
        )
    print(
        f"\n{processes} processes, {kills} kills, {freezes} stops of {frozen:g} s, {restarts} "
        f"restarts of the database, {traffic.events} events, {len(traffic.posts)} of them posts, "
        f"in {sum(map(len, here.rooms))} channels: {result}"
    )
    result.hold(unproved_per_lane=kills + freezes)


async def strike(
    here: Scene, fault: str, chance: random.Random, frozen: float, thawing: set[asyncio.Task[None]]
) -> None:
    process = chance.choice(here.cluster.processes)
    if fault == "restart":
        with closing(connect(here.database)) as db:
            list(
                db.rows(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
            )
    elif fault == "kill":
        await process.kill()
        await asyncio.sleep(chance.uniform(0.0, 0.5))
        await process.start()
    else:
        freeze(process)

        async def thaw_later() -> None:
            await asyncio.sleep(frozen)
            if process.process and process.process.returncode is None:
                thaw(process)

        thawing.add(asyncio.create_task(thaw_later()))


@pytest.mark.timeout(300)
async def test_nothing_is_lost_or_doubled_while_processes_are_killed_and_stopped(
    tmp_path: Path,
) -> None:
    await survive(
        tmp_path, processes=2, channels=1, events=60, kills=2, freezes=1, frozen=6.0, restarts=1,
        pause=0.1,
    )  # fmt: skip


@pytest.mark.long
@pytest.mark.timeout(7200)
async def test_many_kills_and_long_stops_lose_and_double_nothing(tmp_path: Path) -> None:
    await survive(
        tmp_path,
        processes=3,
        channels=int(os.environ.get("CLUSTER_CHANNELS", "3")),
        events=int(os.environ.get("CLUSTER_EVENTS", "4000")),
        kills=int(os.environ.get("CLUSTER_KILLS", "40")),
        freezes=int(os.environ.get("CLUSTER_STOPS", "6")),
        frozen=60.0,
        restarts=int(os.environ.get("CLUSTER_RESTARTS", "2")),
        pause=0.1,
    )
