"""The part of the bridge's web server that a connector needs: its routes below /<account>."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncGenerator
from dataclasses import dataclass

import uvicorn
from starlette.applications import Starlette
from starlette.routing import Mount

from bridge.ports.inbox import Inbox
from bridge.testing.abilities import required
from connectors.slack.connector import SlackConnector


@dataclass
class Served:
    """A running server."""

    base_url: str
    server: uvicorn.Server

    def cut(self) -> None:
        """Break every connection without a close frame."""
        for connection in list(self.server.server_state.connections):
            transport = getattr(connection, "transport", None)
            if transport is not None:
                transport.abort()


class Web:
    """A running server; connectors are mounted while it runs."""

    def __init__(self, base_url: str, app: Starlette) -> None:
        self.base_url = base_url
        self._app = app

    def mount(self, connector: SlackConnector, inbox: Inbox) -> str:
        """Mount the connector, and return its request URL."""
        app = required(connector.abilities.http).app(inbox)
        self._app.router.routes.append(Mount(f"/{connector.account}", app=app))
        return f"{self.base_url}/{connector.account}/events"


@contextlib.asynccontextmanager
async def bridge_web() -> AsyncGenerator[Web]:
    app = Starlette()
    async with served(app) as server:
        yield Web(server.base_url, app)


@contextlib.asynccontextmanager
async def served(app: Starlette) -> AsyncGenerator[Served]:
    """The app on a free port.

    The parts of uvicorn are called one by one: its own loop needs 0.2 s to stop in every test.
    """
    config = uvicorn.Config(
        app, host="127.0.0.1", port=0, log_level="critical", ws="websockets-sansio", lifespan="off"
    )
    config.load()
    server = uvicorn.Server(config)
    server.lifespan = config.lifespan_class(config)
    sock = config.bind_socket()
    # Without this, answers wait 40 ms for an acknowledgement: asyncio leaves Nagle's algorithm on.
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    await server.startup(sockets=[sock])
    try:
        yield Served(f"http://127.0.0.1:{sock.getsockname()[1]}", server)
    finally:
        for listening in server.servers:
            listening.close()
        for connection in list(server.server_state.connections):
            connection.shutdown()
        for task in list(server.server_state.tasks):
            task.cancel()
        await asyncio.gather(*server.server_state.tasks, return_exceptions=True)
        sock.close()
