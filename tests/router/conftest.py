"""A router with fake connectors and a clock that tests move."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from uuid import UUID

import pytest

from bridge.content.cards.reader import NO_CARDS
from bridge.model import AccountId, RoomId
from bridge.ports.agent import Agent
from bridge.ports.cluster import Cluster
from bridge.ports.files import Files
from bridge.ports.store.whole import Store
from bridge.ports.tools import Toolbox
from bridge.ports.traces import Tracer
from bridge.router import AgentMembership, Member, Room, Rooms, Router, Timeouts
from bridge.router.rooms.rooms import Talk
from bridge.router.turns.quotas import QuotaSettings
from bridge.router.wiring import Configuration, ContentServices
from bridge.store import SqliteStore
from tests.router.fake_clock import FakeClock
from tests.router.fake_connector import FakeConnector


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


class RouterRig:
    """A room of fake channels; `run()` is the life of one process over a store that survives it."""

    def __init__(self, clock: FakeClock, store: Store, connectors: Sequence[FakeConnector]) -> None:
        self.clock = clock
        self.store = store
        self.connectors = {AccountId(c.account): c for c in connectors}
        self.agents: dict[str, Agent] = {}
        self.cards = NO_CARDS
        self.files: Files | None = None
        self.talk = Talk()
        self.admins: list[str] = []
        self.quotas = QuotaSettings()
        self.memberships: tuple[AgentMembership, ...] = ()
        self.tools: Toolbox | None = None
        self.tracer: Tracer | None = None
        self.cluster: Cluster | None = None
        self.timeouts = Timeouts(settle_grace=1.0, drain=0.5)
        self.rooms: list[Room] = []

    def room(self, name: str, *members: tuple[FakeConnector, str, str]) -> None:
        self.rooms.append(
            Room(
                RoomId(name),
                UUID(int=len(self.rooms) + 1),
                tuple(Member(c.account, c.channel(ch), flow) for c, ch, flow in members),  # type: ignore[arg-type]
                self.memberships,
                talk=self.talk,
            )
        )

    @asynccontextmanager
    async def run(self) -> AsyncGenerator[Router, None]:
        router = Router(
            store=self.store,
            connectors=self.connectors,
            agents=self.agents,
            configuration=Configuration(Rooms(self.rooms), self.admins, quotas=self.quotas),
            clock=self.clock,
            timeouts=self.timeouts,
            content=ContentServices(self.cards, self.files),
            tools=self.tools,
            tracer=self.tracer,
            cluster=self.cluster,
        )
        ready = asyncio.Event()
        running = asyncio.create_task(router.run(ready.set))
        waiting = asyncio.ensure_future(ready.wait())
        await asyncio.wait({running, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if running.done():  # it could not even start
            waiting.cancel()
            running.result()
        await self.clock.let_work()
        try:
            yield router
        finally:
            running.cancel()
            stopped = asyncio.gather(running, return_exceptions=True)
            await self.clock.advance(5)
            await stopped


@pytest.fixture
def rig(clock: FakeClock) -> RouterRig:
    """Three accounts, one channel each, all in one room."""
    sales, billing, web = (FakeConnector(name, clock) for name in ("sales", "billing", "web"))
    rig = RouterRig(clock, SqliteStore.in_memory(clock), (sales, billing, web))
    rig.room("all", (sales, "s", "both"), (billing, "b", "both"), (web, "w", "both"))
    return rig
