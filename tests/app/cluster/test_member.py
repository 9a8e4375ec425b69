"""A process takes what another one gives up as soon as it is called, without waiting for its next
look."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Collection
from contextlib import asynccontextmanager
from typing import cast

import pytest

from bridge.app.cluster import member
from bridge.app.cluster.calls import Calls
from bridge.app.cluster.member import Member
from bridge.model.assignments import Assignment, ClusterState
from bridge.ports.store.cluster import ClusterStore
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

    async def stop_receiving(self) -> None:
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


class _Sleeper(Work):
    """Notes when it is told to receive nothing, and again."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    async def stop_receiving(self) -> None:
        self.notes.append("stop")

    def receive_again(self) -> None:
        self.notes.append("again")


class _Store:
    """A store with other processes, of which there is nothing to see."""

    process = "p"
    is_alive, is_lost = True, False

    async def look(self, after: int) -> ClusterState:
        del after
        return ClusterState((), {})

    async def note_started(self) -> None:
        pass


@pytest.mark.parametrize(
    ("stands", "is_alive", "told"),
    [(True, False, ["stop", "again"]), (True, True, []), (False, False, [])],
    ids=["stopped", "stopped but not held for dead", "no answer from the database"],
)
async def test_a_process_that_was_stopped_closes_its_connections_until_it_counts_as_alive(
    monkeypatch: pytest.MonkeyPatch, *, stands: bool, is_alive: bool, told: list[str]
) -> None:
    monkeypatch.setattr(member, "_TICK", 0.001)
    monkeypatch.setattr(member, "_STOPPED", 0.1 if stands else 60.0)
    store, work = _Store(), _Sleeper()

    async def revised(topic: str) -> None:
        """Nothing else follows the store."""

    one = Member(cast("ClusterStore", store), lambda: WORK, None)
    running = asyncio.create_task(one.run(cast("Sharing", work), revised))
    await asyncio.sleep(0.01)
    store.is_alive = is_alive
    if stands:
        time.sleep(0.2)  # noqa: ASYNC251 - nothing of this process goes on
    await asyncio.sleep(0.05)
    store.is_alive = True
    await asyncio.sleep(0.05)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)

    assert work.notes == told
