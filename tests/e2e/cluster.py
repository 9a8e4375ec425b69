"""Many bridges over one PostgreSQL store, behind one address, as processes that are killed and
stopped."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import signal
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from bridge.store.postgresql.address import Address
from bridge.store.seal import load_or_make_key
from tests.e2e.processes import BridgeProcess, SandboxProcess, end
from tests.free_ports import free_port
from tests.waiting import LONGEST_WAIT

_CONNECT_SECONDS = 0.3


@dataclass
class Balancer:
    """Passes each connection on to a process that answers, as a load balancer does."""

    ports: Sequence[int]
    chance: random.Random
    server: asyncio.Server | None = None
    tasks: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])

    async def open(self) -> int:
        self.server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self.server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        if self.server is not None:
            self.server.close()
        for task in list(self.tasks):
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.tasks.add(task)
        try:
            if (there := await self._somebody()) is None:
                return
            target_reader, target_writer = there
            try:
                await asyncio.wait(
                    {
                        asyncio.create_task(_pump(reader, target_writer)),
                        asyncio.create_task(_pump(target_reader, writer)),
                    },
                    return_when=asyncio.ALL_COMPLETED,
                )
            finally:
                target_writer.close()
        finally:
            writer.close()
            self.tasks.discard(task)

    async def _somebody(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        for port in self.chance.sample(self.ports, len(self.ports)):
            with contextlib.suppress(OSError, TimeoutError):
                async with asyncio.timeout(_CONNECT_SECONDS):
                    return await asyncio.open_connection("127.0.0.1", port)
        return None


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
    with contextlib.suppress(OSError):
        writer.write_eof()


@dataclass
class Cluster:
    """The processes, each of which may be killed, stopped and started again."""

    processes: Sequence[BridgeProcess]

    async def start(self) -> None:
        for process in self.processes:
            await process.start()

    async def supervise(self) -> None:
        """Start those that ended by themselves: they could not work with their database when they
        began."""
        for process in self.processes:
            if process.process is None or process.process.returncode is not None:
                await process.start()

    async def connected(self, seconds: float = LONGEST_WAIT) -> None:
        """Wait until every account is heard by some process."""
        async with asyncio.timeout(seconds):
            while not await self.hears():  # noqa: ASYNC110 - another program
                await asyncio.sleep(0.05)

    async def hears(self) -> bool:
        """Whether every account is heard by some process."""
        found = [health for health in await self.healths() if health is not None]
        accounts = {name for health in found for name in health["accounts"]}
        return bool(accounts) and all(
            any(_hears(health["accounts"].get(name)) for health in found) for name in accounts
        )

    async def healths(self) -> list[dict[str, Any] | None]:
        return list(await asyncio.gather(*(process.health() for process in self.processes)))

    async def health(self) -> dict[str, Any] | None:
        """The state of all as if they were one; None while nobody answers. Starts those that ended
        by themselves."""
        await self.supervise()
        found = [health for health in await self.healths() if health is not None]
        if not found:
            return None
        counts = ("catching_up", "reconciling", "files_awaited")
        return {
            "outbox": found[0]["outbox"],
            **{what: sum(health[what] for health in found) for what in counts},
        }

    async def stop(self) -> int:
        """SIGTERM to all that run; the largest exit code."""
        running = [one for one in self.processes if one.process and one.process.returncode is None]
        return max(await asyncio.gather(*(process.stop() for process in running)))


def _hears(account: Mapping[str, Any] | None) -> bool:
    return account is not None and account["state"] in ("connected", "listening")


def freeze(process: BridgeProcess) -> None:
    """SIGSTOP: it does nothing, and knows nothing of that."""
    assert process.process
    process.process.send_signal(signal.SIGSTOP)


def thaw(process: BridgeProcess) -> None:
    assert process.process
    process.process.send_signal(signal.SIGCONT)


@asynccontextmanager
async def cluster_beside(
    sandbox: SandboxProcess,
    settings: Mapping[str, Any],
    folder: Path,
    database: Address,
    *,
    count: int,
    nats: str | None,
    seed: int = 1,
    shared: bool = True,
) -> AsyncGenerator[Cluster, None]:
    """`count` processes with these settings, not started yet; gone when the block ends. They have
    one folder of files and one key."""
    ports = [free_port() for _ in range(count)]
    balancer = Balancer(ports, random.Random(seed))
    address = f"http://127.0.0.1:{await balancer.open()}"
    processes: list[BridgeProcess] = []
    load_or_make_key(folder / "bridge.key")
    for number, port in enumerate(ports):
        own = folder / f"process-{number}"
        own.mkdir()
        whole = {
            **settings,
            "store": {"path": str(folder / "bridge.sqlite3"), "url": database.url},
            "cluster": {"nats": nats} if shared else None,
            "web": {"port": port},
        }
        config = own / "bridge.yaml"
        config.write_text(yaml.safe_dump(json.loads(json.dumps(whole))))
        processes.append(BridgeProcess(sandbox, config, whole, own / "bridge.log"))
    for name, account in settings["accounts"].items():
        if account["platform"] == "teams":
            body = {"app": account["app_id"], "url": f"{address}/{name}/messages"}
            await sandbox.ask("POST", "/teams/_control/endpoint", body)
    try:
        yield Cluster(processes)
    finally:
        for process in processes:
            if process.process:
                with contextlib.suppress(ProcessLookupError):
                    process.process.send_signal(signal.SIGCONT)
                await end(process.process)
        await balancer.close()
