"""A Teams connector and a local Teams, each served on a free port."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any

from starlette.applications import Starlette
from starlette.routing import BaseRoute, Mount

from bridge.model import AccountId, ChannelRef
from bridge.ports.connector import ConnectorTools
from bridge.runtime.clock import SystemClock
from bridge.sandbox.limits import Limits
from bridge.sandbox.platform import SandboxContext
from bridge.sandbox.server import sandbox_app
from bridge.testing.abilities import required
from bridge.testing.inbox import ListInbox
from connectors.teams import TeamsSettings, connector_type
from connectors.teams.connector import TeamsConnector
from connectors.teams.sandbox import LocalTeams
from tests.connectors.doubles import FixedTokens, MemoryKeyValues
from tests.connectors.serving import served

ACCOUNT = AccountId("teams")


@dataclass
class Bench:
    """A running connector that listens for the local Teams."""

    teams: LocalTeams
    context: SandboxContext
    connector: TeamsConnector
    settings: TeamsSettings
    key_values: MemoryKeyValues
    inbox: ListInbox
    url: str  # the messaging endpoint
    running: asyncio.Task[None]
    channel: ChannelRef

    @property
    def person(self) -> str:
        return self.teams.world().people[0].id

    async def stop(self) -> None:
        self.running.cancel()
        try:
            with contextlib.suppress(asyncio.CancelledError):
                await self.running
        finally:
            await self.connector.close()


@contextlib.asynccontextmanager
async def bench(**changes: Any) -> AsyncGenerator[Bench]:
    """Run a connector; `changes` replace settings of the account."""
    async with contextlib.AsyncExitStack() as stack:
        holder: list[BaseRoute] = []
        app = Starlette(routes=holder)
        base = (await stack.enter_async_context(served(app))).base_url
        context = SandboxContext(base_url=base, limits=Limits(on=False))
        teams = LocalTeams(context)
        app.router.routes.extend(sandbox_app(context, {"teams": teams}).routes)
        stack.push_async_callback(teams.close)
        world = teams.world()
        values = dict(connector_type.sandbox_settings(world.apps[0], base))
        secrets = values.pop("environment")
        settings = TeamsSettings.model_validate(values | changes)
        key_values, inbox = MemoryKeyValues(), ListInbox()
        tools = ConnectorTools(
            SystemClock(), FixedTokens(secrets), key_values, "https://bridge.example"
        )
        connector = connector_type.build(ACCOUNT, settings, tools)
        routes = [Mount("/teams", app=required(connector.abilities.http).app(inbox))]
        own = (await stack.enter_async_context(served(Starlette(routes=routes)))).base_url
        teams.set_endpoint(world.apps[0]["app_id"], f"{own}/teams/messages")
        running = asyncio.create_task(connector.run(inbox))
        place = world.places[0]
        channel = ChannelRef(platform="teams", workspace=place.workspace, channel=place.channel)
        local = Bench(
            teams, context, connector, settings, key_values, inbox, f"{own}/teams/messages",
            running, channel,
        )  # fmt: skip
        stack.push_async_callback(local.stop)
        yield local
