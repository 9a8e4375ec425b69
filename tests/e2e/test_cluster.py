"""Many processes over one store share the accounts and take over from one another; while they are
killed, stopped and started at random, nothing is lost, doubled or out of order."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import statistics
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest

from bridge.app.settings.store import StoreSettings
from bridge.store.postgresql.address import Address, connect
from tests.e2e.cluster import Cluster, cluster_beside, freeze, thaw
from tests.e2e.processes import (
    BridgeProcess,
    SandboxProcess,
    Spot,
    rooms_across,
    sandbox_beside,
)
from tests.e2e.reckoning import reckon, settled
from tests.e2e.servers import NatsServer, PostgresServer, nats_server, postgres_server
from tests.e2e.tally import TeamsLog, always
from tests.e2e.traffic import Mix, Traffic
from tests.store.postgresql_server import empty_store

pytestmark = [pytest.mark.process, pytest.mark.timeout(300)]  # processes start side by side

MIX = Mix(reacting=("slack",))
SEED = int(os.environ.get("KILL_SEED", "1"))
_END_CONNECTIONS = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
"""


@dataclass
class Scene:
    local: SandboxProcess
    rooms: list[tuple[Spot, ...]]
    cluster: Cluster
    database: Address
    settings: dict[str, Any]
    nats: NatsServer | None
    postgres: PostgresServer | None

    def owners(self) -> dict[str, str | None]:
        """Which process works for what."""
        with closing(connect(self.database)) as db:
            return dict(db.rows("SELECT name, process FROM assignments"))

    def members(self) -> dict[int, str]:
        """The processes in the store, by their pids."""
        with closing(connect(self.database)) as db:
            rows: list[tuple[str, str]] = list(db.rows("SELECT name, id FROM processes"))
        return {int(name.rpartition("pid ")[2]): process for name, process in rows}


@asynccontextmanager
async def scene(
    folder: Path,
    *,
    count: int,
    channels: int = 1,
    accounts: int = 4,
    limits: bool = False,
    postgres: PostgresServer | None = None,
    database: Address | None = None,
) -> AsyncGenerator[Scene]:
    if database is None:
        database = empty_store() if postgres is None else postgres.address
    # Each workspace has an account; the first two guilds share one, as do the first two teams.
    workspaces = -(-(accounts + 2) // 3)
    async with (
        nats_server() as nats,
        sandbox_beside(channels=channels, workspaces=workspaces, limits=limits) as local,
    ):
        parts, rooms = rooms_across(local)
        url = nats and nats.url
        async with cluster_beside(
            local, parts, folder, database, count=count, nats=url, seed=SEED
        ) as cluster:
            await cluster.start()
            await cluster.connected(150)
            yield Scene(local, rooms, cluster, database, parts, nats, postgres)


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


@dataclass(frozen=True)
class Faults:
    """How many of each; `frozen`: for how many seconds a process is stopped; `ends`: by SIGTERM."""

    kills: int
    stops: int
    frozen: float
    of_nats: int
    of_postgres: int
    ends: int = 0

    def shuffled(self, chance: random.Random) -> list[str]:
        names = ["kill"] * self.kills + ["stop"] * self.stops
        names += ["nats"] * self.of_nats + ["postgres"] * self.of_postgres + ["end"] * self.ends
        chance.shuffle(names)
        return names


@dataclass
class Strikes:
    """What happened to whom. `owned_again`: seconds until all that a process worked for was owned
    by another, by fault, and whether another process ran then."""

    frozen: dict[int, asyncio.Task[None]] = field(default_factory=dict[int, asyncio.Task[None]])
    watching: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])
    owned_again: list[tuple[str, bool, float]] = field(
        default_factory=list[tuple[str, bool, float]]
    )

    def running(self, cluster: Cluster) -> list[BridgeProcess]:
        """Those that are not stopped."""
        return [one for one in cluster.processes if _pid(one) not in self.frozen]

    async def watch(self, here: Scene, fault: str, process: BridgeProcess) -> None:
        """Measure from now how long what the process works for is without an owner."""
        running = [one for one in self.running(here.cluster) if one is not process]
        others = any(await asyncio.gather(*(one.health() for one in running)))
        try:
            own, owners = here.members().get(_pid(process)), here.owners()
        except psycopg.Error:
            return  # the database is away
        names = [name for name, owner in owners.items() if owner == own]
        if own is not None and names:
            coro = self._measure(here, fault, own, names, others=others)
            self.watching.add(asyncio.create_task(coro, name=fault))

    async def measured(self) -> None:
        """Wait until nothing is measured any more. A process that was stopped keeps its work where
        no other could take it."""
        left = {task for task in self.watching if not task.done()}
        if left:
            _, left = await asyncio.wait(left, timeout=10)
        for task in left:
            task.cancel()
        assert {task.get_name() for task in left} <= {"stop"}

    async def _measure(
        self, here: Scene, fault: str, own: str, names: list[str], *, others: bool
    ) -> None:
        began = time.monotonic()
        while names:
            await asyncio.sleep(0.1)
            with contextlib.suppress(psycopg.Error):
                owners = await asyncio.to_thread(here.owners)
                names = [name for name in names if owners.get(name) in (None, own)]
        self.owned_again.append((fault, others, time.monotonic() - began))

    def __str__(self) -> str:
        lines: list[str] = []
        for fault in ("kill", "end", "stop"):
            for others in (True, False):
                took = sorted(s for name, o, s in self.owned_again if (name, o) == (fault, others))
                if took:
                    lines.append(
                        f"  {fault}, {'another process runs' if others else 'no other runs'}: "
                        f"owned again {len(took)} times, median {statistics.median(took):.2f} s, "
                        f"longest {', '.join(f'{s:.2f}' for s in took[-5:])} s"
                    )
        return "\n".join(lines)


def _pid(process: BridgeProcess) -> int:
    assert process.process
    return process.process.pid


async def survive(
    here: Scene, faults: Faults, *, events: int, pause: float, settle: float = 900
) -> None:
    """People talk while all of this happens; prints what was counted."""
    chance = random.Random(SEED)
    traffic = Traffic(here.local, here.rooms, random.Random(SEED + 1), MIX)
    log, store = TeamsLog(here.local), StoreSettings(url=here.database.url)
    await traffic.one_each()
    await settled(here.local, traffic, here.cluster, log, always, 120, store)
    names = faults.shuffled(chance)
    strikes = Strikes()
    for left, name in zip(range(len(names), 0, -1), names, strict=True):
        acting = asyncio.create_task(traffic.act((events - traffic.events) // (left + 1), pause))
        await asyncio.sleep(chance.uniform(0.5, 3.0))
        await strike(here, name, chance, faults.frozen, strikes)
        await acting
    await traffic.act(events - traffic.events, pause)
    await asyncio.gather(*strikes.frozen.values())
    await here.cluster.supervise()
    await here.cluster.connected(120)
    await strikes.measured()
    result = await reckon(
        here.local, traffic, here.cluster, log, always, seconds=settle, store=store
    )
    print(
        f"\n{len(here.cluster.processes)} processes, {faults}, {traffic.events} events, "
        f"{len(traffic.posts)} of them posts, {len(here.settings['accounts'])} accounts in "
        f"{sum(map(len, here.rooms))} channels: {result}\n{strikes}"
    )
    result.hold(unproved_per_lane=faults.kills + faults.stops)


async def strike(
    here: Scene, fault: str, chance: random.Random, frozen: float, strikes: Strikes
) -> None:
    if fault == "postgres":
        if here.postgres is None:
            with closing(connect(here.database)) as db:
                list(db.rows(_END_CONNECTIONS))
        else:
            await here.postgres.kill()
            await here.postgres.start()
    elif fault == "nats":
        if here.nats is not None:
            await here.nats.kill()
            await asyncio.sleep(chance.uniform(0.5, 3.0))
            await here.nats.start()
    elif fault in ("kill", "end"):
        await here.cluster.supervise()
        process = chance.choice(strikes.running(here.cluster))
        await strikes.watch(here, fault, process)
        await (process.kill() if fault == "kill" else process.stop())
        await asyncio.sleep(chance.uniform(0.0, 0.5))
        await process.start()
    else:
        await here.cluster.supervise()
        while len(running := strikes.running(here.cluster)) < 2:  # one hears what Teams says once
            await asyncio.wait(strikes.frozen.values(), return_when=asyncio.FIRST_COMPLETED)
        process = chance.choice(running)
        pid = _pid(process)
        await strikes.watch(here, fault, process)
        freeze(process)

        async def thaw_later() -> None:
            await asyncio.sleep(frozen)
            thaw(process)
            del strikes.frozen[pid]

        strikes.frozen[pid] = asyncio.create_task(thaw_later())


async def test_nothing_is_lost_or_doubled_while_processes_are_killed_and_stopped(
    tmp_path: Path,
) -> None:
    async with scene(tmp_path, count=2) as here:
        faults = Faults(kills=2, stops=1, frozen=6.0, of_nats=1, of_postgres=1)
        await survive(here, faults, events=60, pause=0.1)


@pytest.mark.long
@pytest.mark.timeout(7200)
async def test_many_kills_and_long_stops_lose_and_double_nothing(tmp_path: Path) -> None:
    def many(name: str, usual: int) -> int:
        return int(os.environ.get(f"CLUSTER_{name}", usual))

    channels, events = many("CHANNELS", 2), many("EVENTS", 3000)
    faults = Faults(
        kills=many("KILLS", 40), stops=many("STOPS", 6), frozen=60.0, of_nats=many("NATS", 3),
        of_postgres=many("POSTGRES", 2), ends=many("ENDS", 0),
    )  # fmt: skip
    async with (
        postgres_server(tmp_path) as postgres,
        scene(
            tmp_path, count=3, channels=channels, accounts=many("ACCOUNTS", 4), postgres=postgres
        ) as here,
    ):
        await survive(here, faults, events=events, pause=1 / many("RATE", 10))
