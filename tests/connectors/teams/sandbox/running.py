"""Runs the local Teams in its own thread, separate from the bots as in another process."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine
from pathlib import Path
from typing import Any, Self, TypeVar
from uuid import uuid4

import uvicorn
from starlette.applications import Starlette
from starlette.types import ASGIApp, Receive, Scope, Send

from bridge.sandbox.faults import Fault
from bridge.sandbox.feed import LocalMessage
from bridge.sandbox.platform import SandboxContext
from bridge.sandbox.server import sandbox_app
from bridge.sandbox.user_actions import LocalUser
from connectors.teams.sandbox import LocalTeams
from connectors.teams.sandbox.state import Bot

T = TypeVar("T")


class Host:
    """One server thread for all tests; each Teams has its own URL below it."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.apps: dict[str, ASGIApp] = {}
        self._ahead = 0.0
        by_itself = self.loop.time
        self.loop.time = lambda: by_itself() + self._ahead
        config = uvicorn.Config(
            self._serve, interface="asgi3", lifespan="off", log_level="warning", access_log=False
        )
        self._server = uvicorn.Server(config)
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.base_url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join(20)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(20)

    def pass_time(self, seconds: float) -> None:
        """Move the loop's clock on: everything that waits for that long wakes."""
        self._ahead += seconds

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        _, name, path = scope["path"].split("/", 2)
        await self.apps[name]({**scope, "path": f"/{path}"}, receive, send)

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self.loop) as runner:
            runner.run(self._server.serve(sockets=[self._socket]))


class RunningTeams:
    """A fresh local Teams on the host; its methods run in the host's loop."""

    def __init__(self, host: Host, *, limits: bool = False, channels: int = 3) -> None:
        self._host = host
        self._name = uuid4().hex
        self.context = SandboxContext(base_url=f"{host.base_url}/{self._name}", channels=channels)
        self.context.limits.on = limits

    def __enter__(self) -> Self:
        self.teams = LocalTeams(self.context)
        self._host.apps[self._name] = sandbox_app(self.context, {"teams": self.teams})
        return self

    def __exit__(self, *_: object) -> None:
        self._host.run(self.teams.close())
        del self._host.apps[self._name]

    async def do(self, work: Coroutine[Any, Any, T]) -> T:
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._host.loop))

    async def call(self, act: Callable[[], T]) -> T:
        async def called() -> T:
            return act()

        return await self.do(called())

    async def say(
        self, text: str, *, channel: str = "", person: int = 0, thread: str | None = None
    ) -> LocalMessage:
        person_id = list(self.teams.tenant.people)[person]
        where = channel or self.channel
        return await self.do(self.teams.post_as(self.tenant, where, person_id, text, thread))

    def user(self, person: int = 0, channel: str = "") -> LocalUser:
        """One person; their actions run in the host's loop."""
        person_id = list(self.teams.tenant.people)[person]
        return LocalUser(self.teams, self.tenant, channel or self.channel, person_id)

    async def listen(self, key: str, url: str) -> None:
        await self.call(lambda: self.teams.set_endpoint(key, url))

    async def settled(self) -> None:
        """Wait until every event is delivered or lost."""
        await self.do(self.teams.outbox.idle())

    async def pass_time(self, seconds: float) -> None:
        """Let so much time pass for Teams; the bots' clock stays as it is."""
        await self.call(lambda: self._host.pass_time(seconds))

    async def fault(self, fault: Fault) -> None:
        await self.call(lambda: self.context.faults.add(fault))

    async def texts(self, channel: str = "") -> list[str]:
        where = channel or self.channel
        return [m.text for m in await self.call(lambda: self.teams.messages(self.tenant, where))]

    def bot(self, key: str) -> Bot:
        bot = self.teams.tenant.bot(key)
        assert bot
        return bot

    @contextlib.asynccontextmanager
    async def tls(self, certificate: Path, key: Path) -> AsyncGenerator[str]:
        """The same Teams behind TLS, at another URL."""
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
        serving = asyncio.run_coroutine_threadsafe(server.serve(sockets=[sock]), self._host.loop)
        try:
            while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
                await asyncio.sleep(0.01)
            yield f"https://127.0.0.1:{sock.getsockname()[1]}"
        finally:
            server.should_exit = True
            await asyncio.wrap_future(serving)

    @property
    def base_url(self) -> str:
        return self.context.base_url

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
