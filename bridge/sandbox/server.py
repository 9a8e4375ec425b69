"""One Starlette app for all local platforms, with a control side for tests and the demo page."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from urllib.parse import urlsplit

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import BaseRoute, Match
from starlette.types import Receive, Scope, Send

from bridge.runtime.serving import PromptServer
from bridge.sandbox.control import control_routes
from bridge.sandbox.installed import local_platform_types
from bridge.sandbox.local_only import LocalOnly
from bridge.sandbox.platform import LocalPlatform, SandboxContext, Starts

_FOUND = "uacs.route"
_SERVER_PORTS = 20


def local_platforms(
    context: SandboxContext, names: Sequence[str] | None = None
) -> dict[str, LocalPlatform]:
    """Seed and build the named local platforms; None: those of all installed connectors."""
    types = local_platform_types()
    return {name: types[name].build(context) for name in (types if names is None else names)}


def sandbox_app(context: SandboxContext, platforms: dict[str, LocalPlatform]) -> Starlette:
    """The ASGI app: each platform under its own name, the control side under `/_control`.

    Only programs of this machine are answered, and the control side takes JSON only.
    """

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncGenerator[None, None]:
        yield
        for platform in platforms.values():
            await platform.close()
        context.files.close()

    groups = {name: platform.routes() for name, platform in platforms.items()}
    groups["_control"] = control_routes(context, platforms)
    local_only = Middleware(
        LocalOnly, urlsplit(context.base_url).hostname, _is_control, forms=_takes_files
    )
    return Starlette(routes=[_Grouped(groups)], middleware=[local_only], lifespan=lifespan)


async def serve_sandbox(
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    channels: int = 3,
    workspaces: int = 2,
    limits: bool = True,
    names: Sequence[str] | None = None,
    taken_ports: Collection[int] = (),
    on_ready: Callable[[SandboxContext, dict[str, LocalPlatform]], None] | None = None,
) -> None:
    """Serve until cancelled; port 0 takes a free one, told to `on_ready` in `base_url`.

    Platforms with servers of their own listen on the ports that follow a fixed `port`, so that they
    are the same at each start; they leave out `taken_ports`, which other programs will need.
    """
    config = uvicorn.Config(
        app="", host=host, port=port, log_config=None, log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=1, ws="websockets-sansio",
    )  # fmt: skip
    sock = config.bind_socket()
    # uvicorn makes it without a protocol number, for which asyncio leaves Nagle's algorithm on:
    # every answer then waits 40 ms for the client's acknowledgement (uvicorn 0.54, 2026-11).
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    context = SandboxContext(
        base_url=f"http://{host}:{sock.getsockname()[1]}", channels=channels,
        workspaces=workspaces, server_ports=_server_ports(port, taken_ports),
    )  # fmt: skip
    context.limits.on = limits
    platforms = local_platforms(context, names)
    config.app = sandbox_app(context, platforms)
    server = PromptServer(config)
    serving = asyncio.create_task(server.serve(sockets=[sock]))
    try:
        for platform in platforms.values():
            if isinstance(platform, Starts):
                await platform.start()
        while not server.started and not serving.done():  # noqa: ASYNC110 - uvicorn has no event
            await asyncio.sleep(0.005)
        if on_ready and not serving.done():
            on_ready(context, platforms)
        await asyncio.shield(serving)
    finally:
        for platform in platforms.values():
            await platform.close()
        context.files.close()
        server.end()
        await serving


def _server_ports(port: int, taken_ports: Collection[int]) -> Sequence[int]:
    following = range(port + 1, min(port + _SERVER_PORTS, 65_535) + 1) if port else ()
    return [candidate for candidate in following if candidate not in taken_ports]


def _is_control(path: str) -> bool:
    return "_control" in path.split("/")


def _takes_files(path: str) -> bool:
    return _is_control(path) and path.endswith("/files")


class _Grouped(BaseRoute):
    """Routes by the first step of their path: those of one platform make no other's slower."""

    def __init__(self, groups: Mapping[str, Sequence[BaseRoute]]) -> None:
        self._groups = groups

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        if scope["type"] not in ("http", "websocket"):
            return Match.NONE, {}
        best: tuple[Match, Scope] = Match.NONE, {}
        path: str = scope["path"].removeprefix(scope.get("root_path", ""))
        for route in self._groups.get(path.partition("/")[2].partition("/")[0], ()):
            match, child = route.matches(scope)
            if match is not Match.NONE:
                child[_FOUND] = route
            if match is Match.FULL:
                return match, child
            if match is Match.PARTIAL and best[0] is Match.NONE:
                best = match, child
        return best

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        await scope[_FOUND].handle(scope, receive, send)
