"""The bridge's web server as far as a connector needs it: its routes below /<account>."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator

import uvicorn
from starlette.applications import Starlette
from starlette.routing import Mount

from bridge.ports.connector import Inbox
from connectors.slack.connector import SlackConnector


class Web:
    """A server that is already there; connectors are mounted while it runs."""

    def __init__(self, base_url: str, app: Starlette) -> None:
        self.base_url = base_url
        self._app = app

    def mount(self, connector: SlackConnector, inbox: Inbox) -> str:
        """The connector's request URL."""
        routes = list(connector.routes(inbox))
        self._app.router.routes.append(Mount(f"/{connector.account}", routes=routes))
        return f"{self.base_url}/{connector.account}/events"


@contextlib.asynccontextmanager
async def bridge_web() -> AsyncGenerator[Web]:
    app = Starlette()
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning")
    server = uvicorn.Server(config)
    sock = config.bind_socket()
    serving = asyncio.create_task(server.serve(sockets=[sock]))
    while not server.started:  # noqa: ASYNC110  # uvicorn has no event for it
        await asyncio.sleep(0.005)
    try:
        yield Web(f"http://127.0.0.1:{sock.getsockname()[1]}", app)
    finally:
        server.should_exit = True
        await serving
