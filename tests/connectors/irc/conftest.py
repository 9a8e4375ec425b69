"""A local IRC network in this process, and connectors that run against it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from bridge.content.cards.reader import NO_CARDS, Cards
from bridge.model import AccountId, ChannelRef, Event
from bridge.model.secret_refs import SecretRef
from bridge.ports.connector import ConnectorTools
from bridge.ports.files import Files
from bridge.runtime.clock import SystemClock
from bridge.testing.inbox import ListInbox
from connectors.irc import connector_type
from connectors.irc.bylines import GAP
from connectors.irc.connector import IrcConnector
from connectors.irc.ids import channel_ref
from connectors.irc.sandbox import MODERN, IrcServer, irc_server

CHANNEL = "#general"


async def eventually(holds: Callable[[], bool]) -> None:
    """Wait until it holds, 5 seconds at most."""
    async with asyncio.timeout(5):
        while not holds():  # noqa: ASYNC110 - the local server has no event for it
            await asyncio.sleep(0.005)


class DictKeyValues:
    """Key-value storage in memory."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}

    async def get(self, key: str) -> str | None:
        return self.values.get(key)

    async def put(self, key: str, value: str, *, sealed: bool = False) -> None:
        self.values[key] = value

    async def keys(self, prefix: str) -> list[str]:
        return sorted(key for key in self.values if key.startswith(prefix))

    async def remove(self, key: str) -> None:
        self.values.pop(key, None)


class GivenTokens:
    """Secrets by the name of their environment variable."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self.values = dict(values)

    async def secret(self, ref: SecretRef) -> str:
        return self.values[ref.env or ""]


@dataclass
class Local:
    """The local network, one connector on it, and what it received."""

    irc: IrcServer
    inbox: ListInbox = field(default_factory=ListInbox)
    key_values: DictKeyValues = field(default_factory=DictKeyValues)
    tokens: GivenTokens = field(default_factory=lambda: GivenTokens({}))
    cards: Cards = NO_CARDS
    files: Files | None = None
    running: asyncio.Task[None] | None = None
    made: list[IrcConnector] = field(default_factory=list[IrcConnector])

    @property
    def channel(self) -> ChannelRef:
        return channel_ref("local", CHANNEL)

    def connector(self, **changed: Any) -> IrcConnector:
        given = dict(connector_type.sandbox_settings(self.irc.app("bridge", CHANNEL), ""))
        settings = connector_type.settings.model_validate(given | changed)
        tools = ConnectorTools(
            clock=SystemClock(), secrets=self.tokens, key_values=self.key_values, cards=self.cards,
            files=self.files,
        )  # fmt: skip
        self.made.append(connector_type.build(AccountId("irc"), cast(Any, settings), tools))
        return self.made[-1]

    async def start(self, connector: IrcConnector) -> None:
        began = len(self.inbox.sessions)
        self.running = asyncio.create_task(connector.run(self.inbox))
        await self.inbox.until(lambda: len(self.inbox.sessions) > began)

    async def again(self) -> None:
        """Wait until the connector has connected again."""
        began = len(self.inbox.sessions)
        await self.inbox.until(lambda: len(self.inbox.sessions) > began)

    async def stop(self) -> None:
        if self.running is not None:
            self.running.cancel()
            await asyncio.gather(self.running, return_exceptions=True)
            self.running = None
        for connector in self.made:
            await connector.close()

    def events(self) -> list[Event]:
        """The events of all rows in the inbox."""
        return [event for raw in self.inbox.raws for event in self.made[-1].decode(raw)]

    async def event(self, kind: type[Event]) -> Any:
        """The first event of this kind, when it comes."""
        await self.inbox.until(lambda: any(isinstance(event, kind) for event in self.events()))
        return next(event for event in self.events() if isinstance(event, kind))

    def texts(self) -> list[str]:
        """The messages of the channel as people read them."""
        return [text.replace(GAP, "") for text in self.irc.texts(CHANNEL)]

    async def say(self, text: str, thread: str | None = None, *, nick: str = "alice") -> str:
        return self.irc.say(nick, CHANNEL, text, reply=thread or "").id


@asynccontextmanager
async def local_network(offers: Mapping[str, str] = MODERN) -> AsyncGenerator[Local, None]:
    async with irc_server(offers) as irc:
        irc.person("alice")
        local = Local(irc)
        try:
            yield local
        finally:
            await local.stop()


@pytest.fixture
async def local() -> AsyncIterator[Local]:
    async with local_network() as local:
        irc = local.irc
        irc.join("alice", CHANNEL)
        yield local
