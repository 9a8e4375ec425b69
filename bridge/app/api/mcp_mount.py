"""MCP over HTTP at /mcp of the gateway: stateless, for any token that /v1 takes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import structlog
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from bridge.app.api.problems import Problem
from bridge.app.api.tokens import Doorkeeper

if TYPE_CHECKING:
    from mcp.server.mcpserver import Context

log = structlog.get_logger()

INSTALL = "pip install 'uacs-bridge[mcp]'"


class McpMount:
    """The SDK is imported when somebody asks for the first time."""

    def __init__(self, api: Sequence[BaseRoute], doorkeeper: Doorkeeper) -> None:
        self._api = api
        self._doorkeeper = doorkeeper
        self._app: ASGIApp | None = None
        self._running: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()
        self._starting = asyncio.Lock()

    def routes(self) -> Sequence[BaseRoute]:
        return [Route("/mcp", _Door(self))]

    async def close(self) -> None:
        self._stop.set()
        if self._running is not None:
            await asyncio.wait({self._running})

    async def respond(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._doorkeeper.caller(Request(scope).headers.get("authorization", ""))
            app = await self._started()
        except Problem as problem:
            await problem.response()(scope, receive, send)
            return
        await app(scope, receive, send)

    async def _started(self) -> ASGIApp:
        async with self._starting:
            if self._app is None:
                ready: asyncio.Future[ASGIApp] = asyncio.get_running_loop().create_future()
                self._running = asyncio.create_task(self._run(ready), name="mcp")
                self._app = await ready
            return self._app

    async def _run(self, ready: asyncio.Future[ASGIApp]) -> None:
        """As long as the gateway serves: the SDK's own tasks live in this one."""
        try:
            import httpx
            from mcp.server.transport_security import TransportSecuritySettings

            from bridge.app.api.mcp_tools import mcp_server
        except ImportError:
            ready.set_exception(
                Problem(503, "This gateway has no MCP: the extra is not installed", todo=INSTALL)
            )
            return
        transport = httpx.ASGITransport(Starlette(routes=list(self._api)))
        async with httpx.AsyncClient(transport=transport, base_url="http://bridge") as http:
            server = mcp_server(http, _authorization)
            # Whoever calls has a token: what a browser is led to has none.
            security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
            app = server.streamable_http_app(
                stateless_http=True, json_response=True, transport_security=security
            )
            async with server.session_manager.run():
                ready.set_result(app)
                await self._stop.wait()


def _authorization(ctx: Context[Any, Any]) -> str:
    headers = ctx.headers or {}
    return headers.get("authorization", "")


class _Door:
    """As an object it is asked for every method."""

    def __init__(self, mount: McpMount) -> None:
        self._mount = mount

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._mount.respond(scope, receive, send)
