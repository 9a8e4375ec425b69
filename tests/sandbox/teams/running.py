"""Runs the local Teams in a thread of its own, as another process would be to a bot."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine
from pathlib import Path
from typing import Any, Self, TypeVar

import uvicorn
from starlette.applications import Starlette

from bridge.sandbox.faults import Fault
from bridge.sandbox.feed import Shown
from bridge.sandbox.platform import LocalPlatform, Surroundings
from bridge.sandbox.server import serve_sandbox
from bridge.sandbox.teams import LocalTeams
from bridge.sandbox.teams.state import Bot

T = TypeVar("T")


class RunningTeams:
    """A served local Teams; what touches it runs in its own loop."""

    around: Surroundings
    teams: LocalTeams

    def __init__(self, *, limits: bool = False, channels: int = 3) -> None:
        self._limits = limits
        self._channels = channels
        self._ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(20)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._serving.cancel)
        self._thread.join(20)

    async def do(self, work: Coroutine[Any, Any, T]) -> T:
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    async def call(self, act: Callable[[], T]) -> T:
        async def called() -> T:
            return act()

        return await self.do(called())

    async def say(
        self, text: str, *, channel: str = "", person: int = 0, thread: str | None = None
    ) -> Shown:
        who = list(self.teams.tenant.people)[person]
        where = channel or self.channel
        return await self.do(self.teams.post_as(self.tenant, where, who, text, thread))

    async def listen(self, key: str, url: str) -> None:
        await self.call(lambda: self.teams.set_endpoint(key, url))

    async def settled(self) -> None:
        """Wait until every event is handed over or lost."""
        await self.do(self.teams.outbox.idle())

    async def fault(self, fault: Fault) -> None:
        await self.call(lambda: self.around.faults.add(fault))

    async def texts(self, channel: str = "") -> list[str]:
        where = channel or self.channel
        return [m.text for m in await self.call(lambda: self.teams.messages(self.tenant, where))]

    def bot(self, key: str) -> Bot:
        found = self.teams.tenant.bot(key)
        assert found
        return found

    @contextlib.asynccontextmanager
    async def tls(self, certificate: Path, key: Path) -> AsyncGenerator[str]:
        """The same Teams behind TLS, at another address."""
        app = Starlette(routes=self.teams.routes())
        config = uvicorn.Config(
            app,
            port=0,
            log_level="critical",
            ssl_certfile=certificate,
            ssl_keyfile=key,
        )
        server = uvicorn.Server(config)
        sock = config.bind_socket()
        serving = asyncio.run_coroutine_threadsafe(server.serve(sockets=[sock]), self._loop)
        try:
            while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
                await asyncio.sleep(0.01)
            yield f"https://127.0.0.1:{sock.getsockname()[1]}"
        finally:
            server.should_exit = True
            await asyncio.wrap_future(serving)

    @property
    def base_url(self) -> str:
        return self.around.base_url

    @property
    def tenant(self) -> str:
        return self.teams.tenant.id

    @property
    def channel(self) -> str:
        """The second channel of the first team."""
        return self.teams.world().places[1].channel

    @property
    def token_url(self) -> str:
        return f"{self.base_url}/teams/login/{self.tenant}/oauth2/v2.0/token"

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._serving = self._loop.create_task(
            serve_sandbox(
                channels=self._channels,
                limits=self._limits,
                names=("teams",),
                on_ready=self._on_ready,
            )
        )
        try:
            self._loop.run_until_complete(self._serving)
        except asyncio.CancelledError:
            pass
        finally:
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()

    def _on_ready(self, around: Surroundings, platforms: dict[str, LocalPlatform]) -> None:
        teams = platforms["teams"]
        assert isinstance(teams, LocalTeams)
        self.around, self.teams = around, teams
        self._ready.set()
