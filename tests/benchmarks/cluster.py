"""What a message costs with many processes: `python -m tests.benchmarks.cluster [MESSAGES]`.

People write in rooms of three channels (1 message in, 2 out) on local platforms without limits, to
one process that has its PostgreSQL store for itself, to one of a cluster, and to three. The CPU is
that of the bridges' processes and, apart, that of a database of the benchmark's own. On a machine
with few cores the rate says little; messages for each second of CPU say what more would carry.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
import tempfile
import time
from contextlib import AsyncExitStack, closing
from dataclasses import dataclass
from pathlib import Path

from bridge.store.postgresql.address import Address, connect
from tests.e2e.cluster import Cluster, cluster_beside
from tests.e2e.processes import SandboxProcess, Spot, rooms_across, sandbox_beside
from tests.e2e.servers import PostgresServer, nats_server, postgres_server

_TICKS = os.sysconf("SC_CLK_TCK")
_AT_ONCE = 48  # people who write at the same time
_CHANNELS = 24  # of each workspace: Slack takes one post a second in each


@dataclass(frozen=True)
class Cost:
    """Of one run: seconds, and CPU seconds of the bridges and of the database."""

    messages: int
    seconds: float
    bridges: float
    database: float

    @property
    def each(self) -> float:
        """Milliseconds of the bridges' CPU for a message."""
        return 1000 * self.bridges / self.messages

    def __str__(self) -> str:
        return (
            f"{self.messages / self.seconds:6.1f} messages/s, {self.each:5.2f} ms of the bridges' "
            f"CPU and {1000 * self.database / self.messages:5.2f} ms of the database's for each"
        )


def cpu_of(pid: int) -> float:
    """The CPU seconds of a process and of its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(") ")[2].split()
    return sum(map(int, fields[11:15])) / _TICKS


def cpu_of_database(server: PostgresServer) -> float:
    assert server.process
    own = server.process.pid
    children = Path(f"/proc/{own}/task/{own}/children").read_text("utf-8").split()
    return cpu_of(own) + sum(map(cpu_of, map(int, children)))


def cpu_of_bridges(cluster: Cluster) -> float:
    return sum(cpu_of(one.process.pid) for one in cluster.processes if one.process)


async def measure(messages: int, count: int, *, shared: bool) -> Cost:
    """Let `count` processes relay this many messages."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        await asyncio.to_thread(folder.chmod, 0o755)  # the database has a user of its own
        postgres = await stack.enter_async_context(postgres_server(folder))
        assert postgres, "PostgreSQL's programs are not installed"
        nats = await stack.enter_async_context(nats_server())
        local = await stack.enter_async_context(sandbox_beside(channels=_CHANNELS, limits=False))
        settings, rooms = rooms_across(local)
        cluster = await stack.enter_async_context(
            cluster_beside(
                local, settings, folder, postgres.address, count=count,
                nats=nats and nats.url, shared=shared,
            )
        )  # fmt: skip
        await cluster.start()
        await cluster.connected(60)
        await relay(local, rooms, postgres.address, 2 * len(rooms))  # warm up
        before = cpu_of_bridges(cluster), cpu_of_database(postgres)
        began = time.monotonic()
        await relay(local, rooms, postgres.address, messages)
        seconds = time.monotonic() - began
        return Cost(
            messages, seconds, cpu_of_bridges(cluster) - before[0],
            cpu_of_database(postgres) - before[1],
        )  # fmt: skip


async def relay(
    local: SandboxProcess, rooms: list[tuple[Spot, ...]], database: Address, messages: int
) -> None:
    """Write this many messages, and wait until nothing is left to send."""
    chance = random.Random(1)
    spots = [spot for room in rooms for spot in room]
    shuffled = [spots[number % len(spots)] for number in range(messages)]
    chance.shuffle(shuffled)
    waiting = iter(enumerate(shuffled))

    async def write() -> None:
        for number, spot in waiting:
            await local.say(spot, spot.people[0], f"message {number} with some more words in it")

    sent = await asyncio.to_thread(_sent, database)
    await asyncio.gather(*(write() for _ in range(_AT_ONCE)))
    expected = sent + messages * (len(rooms[0]) - 1)
    async with asyncio.timeout(300):
        while await asyncio.to_thread(_sent, database) < expected:  # noqa: ASYNC110
            await asyncio.sleep(0.1)


def _sent(database: Address) -> int:
    with closing(connect(database)) as db:
        ((count,),) = db.rows("SELECT count(*) FROM operations WHERE state = 'done'")
    return count


async def main(messages: int) -> None:
    alone = await measure(messages, 1, shared=False)
    print(f"one process alone:        {alone}", flush=True)
    one = await measure(messages, 1, shared=True)
    print(f"one process of a cluster: {one}", flush=True)
    three = await measure(messages, 3, shared=True)
    print(f"three processes:          {three}", flush=True)
    print(
        f"three carry {3 * one.each / three.each:.2f} times as much for their CPU as one of a "
        f"cluster, {3 * alone.each / three.each:.2f} times as much as one alone"
    )


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 600))
