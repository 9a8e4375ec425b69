"""A process takes what another one gives up as soon as it is called, without waiting for its next
look."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection
from contextlib import asynccontextmanager
from typing import cast

import pytest

from bridge.app.cluster import member
from bridge.app.cluster.calls import Calls
from bridge.app.cluster.member import Member
from bridge.model.assignments import Assignment
from bridge.router.sharing import Sharing
from bridge.runtime.clock import SystemClock
from bridge.store.postgresql.address import Address
from bridge.store.postgresql.shared import open_shared
from tests.store.conftest import KEY
from tests.store.postgresql_server import empty_store

WORK = {Assignment("account x"), Assignment("account y")}


class Air:
    """Carries calls between the members of one test."""

    def __init__(self) -> None:
        self._hearing: list[Callable[[str, str, str], None]] = []
        self.is_connected = True

    def open(self, heard: Callable[[str, str, str], None]) -> None:
        self._hearing.append(heard)

    def publish(self, sender: str, assignment: str, detail: str) -> None:
        for heard in self._hearing:
            heard(sender, assignment, detail)

    async def close(self) -> None:
        pass


class Work:
    """What a router would do with its assignments."""

    lane_called = staticmethod(print)

    async def take(self, assignments: Collection[Assignment]) -> None:
        pass

    async def give_up(self, assignments: Collection[Assignment]) -> None:
        pass

    async def look(self) -> None:
        pass

    async def revised(self, topic: str) -> None:
        pass


WORKS = cast("Sharing", Work())


@asynccontextmanager
async def taking_part(one: Member) -> AsyncGenerator[None]:
    async def revised(topic: str) -> None:
        """Nothing else follows the store."""

    await one.prepare()
    running = asyncio.create_task(one.run(WORKS, revised))
    try:
        yield
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


@asynccontextmanager
async def process(address: Address, air: Calls) -> AsyncGenerator[Member]:
    store = await open_shared(address, clock=SystemClock(), key=KEY)
    try:
        yield Member(store, lambda: WORK, air)
    finally:
        await store.close()


@pytest.mark.process
async def test_what_a_process_gives_up_is_taken_at_the_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(member, "_LOOK", 60.0)  # the first look is the only one without a call
    address, air = empty_store(), cast("Calls", Air())
    async with (
        asyncio.timeout(20),
        process(address, air) as first,
        taking_part(first),
    ):
        for name in WORK:
            await first.until(name, owned=True)
        async with process(address, air) as second, taking_part(second):
            while any(one.starting for one in second.state.processes):  # noqa: ASYNC110
                await asyncio.sleep(0.01)  # its first look, which finds nothing to do
            assert not any(map(second.owns, WORK))

            await first.leave(WORKS)
            for name in WORK:
                await second.until(name, owned=True)
