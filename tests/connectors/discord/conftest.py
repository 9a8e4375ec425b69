"""A local Discord in this process, and a connector that runs against it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from bridge.model import AccountId, ChannelRef
from bridge.ports.connector import ConnectorTools
from bridge.runtime.clock import SystemClock
from bridge.sandbox.platform import SandboxContext
from bridge.sandbox.server import serve_sandbox
from bridge.testing.inbox import ListInbox
from connectors.discord import connector_type
from connectors.discord.connector import DiscordConnector
from connectors.discord.ids import channel_ref
from connectors.discord.sandbox import LocalDiscord
from tests.connectors.doubles import FixedTokens, MemoryKeyValues
from tests.waiting import LONGEST_WAIT


@dataclass
class Local:
    """The local Discord, the connectors on it, and their inbox."""

    discord: LocalDiscord
    context: SandboxContext
    app: Mapping[str, Any]
    key_values: MemoryKeyValues = field(default_factory=MemoryKeyValues)
    inbox: ListInbox = field(default_factory=ListInbox)
    tokens: FixedTokens = field(default_factory=lambda: FixedTokens({}))
    running: asyncio.Task[None] | None = None
    connectors: list[DiscordConnector] = field(default_factory=list[DiscordConnector])
    send_deadline: float = 30.0

    @property
    def channel(self) -> ChannelRef:
        place = self.discord.world().places[0]
        return channel_ref(place.workspace, place.channel)

    @property
    def people(self) -> list[str]:
        guild = self.channel.workspace
        return [p.id for p in self.discord.world().people if p.workspace == guild]

    def connector(self, **changed: Any) -> DiscordConnector:
        account_settings = dict(connector_type.sandbox_settings(self.app, self.context.base_url))
        self.tokens.values |= account_settings.pop("environment")
        settings = connector_type.settings.model_validate(account_settings | changed)
        tools = ConnectorTools(
            clock=SystemClock(), secrets=self.tokens, key_values=self.key_values,
            send_deadline=self.send_deadline,
        )  # fmt: skip
        self.connectors.append(
            connector_type.build(AccountId("discord"), cast(Any, settings), tools)
        )
        return self.connectors[-1]

    async def start(self, connector: DiscordConnector) -> None:
        self.running = asyncio.create_task(connector.run(self.inbox))
        await self.inbox.until(lambda: bool(self.inbox.sessions))

    async def stop(self) -> None:
        if self.running is not None:
            self.running.cancel()
            await asyncio.gather(self.running, return_exceptions=True)
            self.running = None
        for connector in self.connectors:
            await connector.close()

    async def say(self, text: str, thread: str | None = None, *, person: int = 0) -> str:
        where = self.channel
        person_id = self.people[person]
        posted_message = await self.discord.post_as(
            where.workspace, where.channel, person_id, text, thread
        )
        return posted_message.id


@pytest.fixture
async def local() -> AsyncIterator[Local]:
    ready: asyncio.Future[Local] = asyncio.get_running_loop().create_future()

    def on_ready(context: SandboxContext, platforms: Mapping[str, Any]) -> None:
        discord = cast(LocalDiscord, platforms["discord"])
        ready.set_result(Local(discord, context, discord.world().apps[0]))

    serving = asyncio.create_task(
        serve_sandbox(names=("discord",), limits=False, on_ready=on_ready)
    )
    try:
        async with asyncio.timeout(LONGEST_WAIT):
            local = await ready
        yield local
        await local.stop()
    finally:
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
