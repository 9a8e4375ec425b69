"""A PostgreSQL and a NATS server of a test's own, which it may kill and start again."""

from __future__ import annotations

import asyncio
import contextlib
import glob
import os
import pwd
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from bridge.store.postgresql.address import Address, connect
from tests.free_ports import free_port
from tests.waiting import LONGEST_WAIT

_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin"
_POSTGRES = ("-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=")
_USER = "postgres"  # who owns the server: it refuses to run as root


@dataclass
class NatsServer:
    """Listens on a port of its own, also after it was killed."""

    program: str
    port: int = field(default_factory=free_port)
    process: asyncio.subprocess.Process | None = None

    @property
    def url(self) -> str:
        return f"nats://127.0.0.1:{self.port}"

    async def start(self) -> None:
        self.process = await asyncio.create_subprocess_exec(
            self.program, "-a", "127.0.0.1", "-p", str(self.port),
            stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip

    async def kill(self) -> None:
        if self.process is not None and self.process.returncode is None:
            self.process.kill()
            await self.process.wait()


@asynccontextmanager
async def nats_server() -> AsyncGenerator[NatsServer | None]:
    """A server until the block ends; None where the program nats-server is not installed."""
    program = shutil.which("nats-server", path=_PATH)
    if program is None:
        yield None
        return
    server = NatsServer(program)
    await server.start()
    try:
        yield server
    finally:
        await server.kill()


@dataclass
class PostgresServer:
    """Owns a folder; what was committed is there after it was killed."""

    programs: Path
    data: Path
    port: int
    process: asyncio.subprocess.Process | None = None

    @property
    def address(self) -> Address:
        return Address(f"postgresql://{_USER}@127.0.0.1:{self.port}/postgres")

    async def make(self) -> None:
        self.data.mkdir()
        if os.getuid() == 0:
            user = pwd.getpwnam(_USER)
            os.chown(self.data, user.pw_uid, user.pw_gid)
            for folder in self.data.parents:
                if folder.stat().st_uid == 0 and folder.is_relative_to("/tmp"):
                    folder.chmod(folder.stat().st_mode | 0o055)
        making = await self._run("initdb", "-D", str(self.data), "-U", _USER, "-A", "trust")
        assert await making.wait() == 0

    async def start(self) -> None:
        arguments = ("-D", str(self.data), "-p", str(self.port), *_POSTGRES)
        self.process = await self._run("postgres", *arguments)
        async with asyncio.timeout(LONGEST_WAIT):
            while not await asyncio.to_thread(self._answers):
                await asyncio.sleep(0.05)
                if self.process.returncode is not None:  # what it left before has not ended yet
                    self.process = await self._run("postgres", *arguments)

    async def kill(self) -> None:
        """It ends all connections and stops, as at a restart of its machine."""
        if self.process is not None and self.process.returncode is None:
            stopping = await self._run("pg_ctl", "-D", str(self.data), "-m", "immediate", "stop")
            await stopping.wait()
            await self.process.wait()

    async def _run(self, program: str, *arguments: str) -> asyncio.subprocess.Process:
        as_user = ["setpriv", f"--reuid={_USER}", f"--regid={_USER}", "--init-groups"]
        own = [] if os.getuid() else as_user
        return await asyncio.create_subprocess_exec(
            *own, str(self.programs / program), *arguments, cwd="/",
            stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip

    def _answers(self) -> bool:
        try:
            connect(self.address).close()
        except psycopg.Error:
            return False
        return True


@asynccontextmanager
async def postgres_server(folder: Path) -> AsyncGenerator[PostgresServer | None]:
    """A server until the block ends; None where its programs are not installed."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))  # noqa: PTH207
    if not found:
        yield None
        return
    server = PostgresServer(Path(found[-1]).parent, folder / "postgres", free_port())
    await server.make()
    await server.start()
    try:
        yield server
    finally:
        with contextlib.suppress(ProcessLookupError):
            await server.kill()
