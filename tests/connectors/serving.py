"""Serves an app on a free port, in the loop of the test."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncGenerator
from dataclasses import dataclass

import uvicorn
from starlette.applications import Starlette


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
