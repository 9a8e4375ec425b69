"""The part of the bridge's web server that a connector needs: its routes below /<account>."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator

from starlette.applications import Starlette
from starlette.routing import Mount

from bridge.ports.inbox import Inbox
from bridge.testing.abilities import required
from connectors.slack.connector import SlackConnector
from tests.connectors.serving import served


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
