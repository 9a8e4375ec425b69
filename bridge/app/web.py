"""The bridge's own web server: /healthz, /metrics, and each account's routes below its name."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Generator
from dataclasses import asdict
from typing import Any

import uvicorn
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route

from bridge.app.build import Bridge
from bridge.errors import StoreError
from bridge.model import AccountId
from bridge.ports.connector import Health, ServesHttp, TellsHealth


def web_app(bridge: Bridge) -> Starlette:
    """The ASGI app."""

    async def healthz(_request: Request) -> Response:
        """200 while the store answers; the accounts' troubles are told and do not fail it."""
        try:
            status = await bridge.store.status()
        except StoreError as error:
            return JSONResponse({"ok": False, "store": str(error)}, status_code=503)
        accounts = {name: _account(bridge, name) for name in bridge.connectors}
        body = {"ok": True, "accounts": accounts, "messages": status.messages}
        return JSONResponse({**body, "outbox": dict(status.outbox), "problems": bridge.problems})

    async def metrics(_request: Request) -> Response:
        return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)

    routes: list[BaseRoute] = [Route("/healthz", healthz), Route("/metrics", metrics)]
    for name, connector in bridge.connectors.items():
        if isinstance(connector, ServesHttp):
            routes.append(Mount(f"/{name}", routes=list(connector.routes(bridge.router))))
    return Starlette(routes=routes)


class _QuietServer(uvicorn.Server):
    """Leaves signals to the program."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield


class WebServer:
    """Serves an ASGI app until it is stopped; the port is bound in `start`, so that it is known."""

    def __init__(self, app: Starlette, host: str, port: int) -> None:
        self._config = uvicorn.Config(
            app=app, host=host, port=port, log_level="warning", access_log=False,
            timeout_graceful_shutdown=2, lifespan="off", ws="none",
        )  # fmt: skip
        self._server = _QuietServer(self._config)
        self._serving: asyncio.Task[None] | None = None
        self.url = ""

    async def start(self) -> None:
        sock = self._config.bind_socket()
        # uvicorn's socket has no protocol number, for which asyncio leaves Nagle's algorithm on:
        # every answer would wait 40 ms for the client's acknowledgement (uvicorn 0.54, 2026-11).
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.url = f"http://{self._config.host}:{sock.getsockname()[1]}"
        self._serving = asyncio.create_task(self._server.serve(sockets=[sock]))
        while not self._server.started and not self._serving.done():  # noqa: ASYNC110 - no event
            await asyncio.sleep(0.005)

    async def stop(self) -> None:
        self._server.should_exit = True
        if self._serving:
            await self._serving


def _account(bridge: Bridge, name: AccountId) -> dict[str, Any]:
    connector = bridge.connectors[name]
    health = connector.health() if isinstance(connector, TellsHealth) else Health("connected")
    failed = bridge.router.failed.get(name)
    return asdict(health) | ({"failed": failed} if failed else {})
