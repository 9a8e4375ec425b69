"""MCP over HTTP at /mcp of the gateway: stateless, for the same tokens as /v1."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import structlog
from starlette.requests import ClientDisconnect, Request
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bridge.app.api.api_keys import Authenticator
from bridge.app.api.gateway import Gateway
from bridge.app.api.problems import Problem
from bridge.runtime.extras import how_to_install

if TYPE_CHECKING:
    from mcp.server.mcpserver import Context

log = structlog.get_logger()

MOST_SECONDS = 60.0  # for one request; a tool's own deadline is shorter
INSTALL = how_to_install("mcp")


class McpMount:
    """The route /mcp. It imports the MCP SDK at the first request."""

    def __init__(self, gateway: Gateway, authenticator: Authenticator) -> None:
        self._gateway = gateway
        self._authenticator = authenticator
        self._app: ASGIApp | None = None
        self._running: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()
        self._starting = asyncio.Lock()

    def routes(self) -> Sequence[BaseRoute]:
        return [Route("/mcp", _McpEndpoint(self))]

    async def close(self) -> None:
        self._stop.set()
        if self._running is not None:
            await asyncio.wait({self._running})

    async def respond(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; ends when its caller disconnects or the deadline passes."""
        try:
            await self._authenticator.caller(Request(scope).headers.get("authorization", ""))
            _require_post(scope["method"])
            app = await self._mcp_app()
            body = await Request(scope, receive).body()
        except Problem as problem:
            await problem.response()(scope, receive, send)
            return
        except ClientDisconnect:
            return
        await _Exchange(body, receive, send).serve(app, scope)

    async def _mcp_app(self) -> ASGIApp:
        async with self._starting:
            if self._app is None:
                ready: asyncio.Future[ASGIApp] = asyncio.get_running_loop().create_future()
                self._running = asyncio.create_task(self._run(ready), name="mcp")
                self._app = await ready
            return self._app

    async def _run(self, ready: asyncio.Future[ASGIApp]) -> None:
        """Run the SDK's session manager, whose tasks belong to this task, until `close`."""
        try:
            from mcp.server.transport_security import TransportSecuritySettings

            from bridge.app.api.mcp_rooms import LocalRooms
            from bridge.app.api.mcp_tools import mcp_server
        except ImportError:
            ready.set_exception(
                Problem(
                    503, "This gateway does not serve MCP: the extra is not installed", todo=INSTALL
                )
            )
            return
        server = mcp_server(LocalRooms(self._gateway, self._authenticator), _authorization)
        # Every request needs a token, which a rebound browser page does not have.
        security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        app = server.streamable_http_app(
            stateless_http=True, json_response=True, transport_security=security
        )
        async with server.session_manager.run():
            ready.set_result(app)
            await self._stop.wait()


def _require_post(method: str) -> None:
    """Raises Problem for other methods: a GET would open a stream that a stateless server never
    uses."""
    if method != "POST":
        raise Problem(405, "The path accepts POST", value=method, headers={"Allow": "POST"})


class _Exchange:
    """One request to the SDK's app, with a deadline: some, as `subscriptions/listen`, never end."""

    def __init__(self, body: bytes, receive: Receive, send: Send) -> None:
        self._unread: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]
        self._receive = receive
        self._send = send
        self._response_started = False
        self._disconnected = asyncio.Event()

    async def serve(self, app: ASGIApp, scope: Scope) -> None:
        serving = asyncio.ensure_future(app(scope, self._receive_message, self._send_message))
        leaving = asyncio.create_task(self._leave())
        both: set[asyncio.Future[None]] = {serving, leaving}
        try:
            await asyncio.wait(both, timeout=MOST_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            late = not serving.done() and not leaving.done()
        finally:
            for task in both:
                task.cancel()
            await asyncio.wait(both)
        if not serving.cancelled():
            serving.result()
        elif late and not self._response_started:
            problem = Problem(503, f"The request was not answered within {MOST_SECONDS:g} s")
            await problem.response()(scope, self._receive, self._send)

    async def _leave(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._disconnected.set()

    async def _receive_message(self) -> Message:
        if self._unread:
            return self._unread.pop()
        await self._disconnected.wait()
        return {"type": "http.disconnect"}

    async def _send_message(self, message: Message) -> None:
        self._response_started = True
        await self._send(message)


def _authorization(ctx: Context[Any, Any]) -> str:
    headers = ctx.headers or {}
    return headers.get("authorization", "")


class _McpEndpoint:
    """The ASGI app of /mcp: a class instance, so that Starlette routes every method to it."""

    def __init__(self, mount: McpMount) -> None:
        self._mount = mount

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._mount.respond(scope, receive, send)
