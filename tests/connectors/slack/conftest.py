"""A local Slack on a free port, and connectors for its apps."""

from __future__ import annotations

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any, cast

import pytest
from starlette.applications import Starlette

from bridge.model import AccountId, ChannelRef
from bridge.ports.connector import ConnectorTools
from bridge.ports.files import Files
from bridge.runtime.clock import SystemClock
from bridge.sandbox.platform import SandboxContext
from bridge.sandbox.server import local_platforms, sandbox_app
from bridge.testing.inbox import ListInbox
from connectors.slack import connector_type
from connectors.slack.connector import SlackConnector
from connectors.slack.ids import channel_ref
from connectors.slack.sandbox import LocalSlack
from connectors.slack.settings import SlackSettings
from tests.connectors.doubles import FixedTokens, MemoryKeyValues
from tests.connectors.serving import served

TEAM = "T0ACME"
GENERAL = channel_ref(TEAM, "C0ACME001")
RANDOM = channel_ref(TEAM, "C0ACME002")
ADA = "U0ACME01"


@dataclass
class Sandbox:
    """The running local Slack, and the accounts that were started on it."""

    context: SandboxContext
    slack: LocalSlack
    cut: Callable[[], None]
    tokens: FixedTokens = field(default_factory=lambda: FixedTokens({}))
    key_value_access: defaultdict[str, MemoryKeyValues] = field(
        default_factory=lambda: defaultdict(MemoryKeyValues)
    )
    tasks: list[asyncio.Task[None]] = field(default_factory=list[asyncio.Task[None]])
    connectors: list[SlackConnector] = field(default_factory=list[SlackConnector])

    def app(self, name: str = "bridge", workspace: str = TEAM) -> dict[str, Any]:
        apps = self.slack.world().apps
        return next(a for a in apps if (a["name"], a["workspace"]) == (name, workspace))

    def connector(
        self,
        account: str = "acme",
        name: str = "bridge",
        workspace: str = TEAM,
        public_url: str | None = None,
        files: Files | None = None,
        **changes: Any,
    ) -> SlackConnector:
        """A connector for one of the seeded apps, not yet running; it has the key-value store of
        its predecessor."""
        app = self.app(name, workspace)
        options = dict(connector_type.sandbox_settings(app, self.context.base_url))
        self.tokens.values |= options.pop("environment")
        settings = SlackSettings.model_validate({**options, **changes})
        key_values = self.key_value_access[account]
        tools = ConnectorTools(SystemClock(), self.tokens, key_values, public_url, files=files)
        connector = cast(
            "SlackConnector", connector_type.build(AccountId(account), settings, tools)
        )
        self.connectors.append(connector)
        return connector

    async def start(self, connector: SlackConnector, inbox: ListInbox) -> asyncio.Task[None]:
        """Run the connector until its first session has begun."""
        before = len(inbox.sessions)
        task = asyncio.create_task(connector.run(inbox))
        self.tasks.append(task)
        await inbox.until(lambda: len(inbox.sessions) > before)
        return task

    async def say(self, text: str, thread: str | None = None, channel: ChannelRef = GENERAL) -> str:
        """Post a message as Ada, and return its ts."""
        posted = await self.slack.post_as(channel.workspace, channel.channel, ADA, text, thread)
        return posted.id

    async def stop(self) -> None:
        for task in self.tasks:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        for connector in self.connectors:
            await connector.close()


@contextlib.asynccontextmanager
async def serving() -> AsyncGenerator[Sandbox]:
    """A local Slack that runs for the duration of the block."""
    app = Starlette()
    async with served(app) as server:
        context = SandboxContext(base_url=server.base_url)
        platforms = local_platforms(context, ("slack",))
        app.router.routes.extend(sandbox_app(context, platforms).routes)
        sandbox = Sandbox(context, cast("LocalSlack", platforms["slack"]), server.cut)
        try:
            yield sandbox
        finally:
            await sandbox.stop()
            await sandbox.slack.close()


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with serving() as running:
        yield running


@pytest.fixture
def inbox() -> ListInbox:
    return ListInbox()
