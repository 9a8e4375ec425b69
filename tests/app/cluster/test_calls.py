"""Calls over NATS reach the other processes of the same store, also after the server was away."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from bridge.app.cluster.calls import Calls
from tests.e2e.servers import NatsServer, nats_server

pytestmark = pytest.mark.process


@pytest.fixture
async def server() -> AsyncIterator[NatsServer]:
    async with nats_server() as found:
        if found is None:
            pytest.skip("the program nats-server is not here (Debian has it in nats-server)")
        yield found


class Heard:
    """The calls of one store that one process hears."""

    def __init__(self, server: NatsServer, store: str) -> None:
        self.calls = Calls(server.url, None, store)
        self.found: list[tuple[str, str, str]] = []
        self.calls.open(lambda *call: self.found.append(call))

    async def connected(self, *, is_connected: bool = True) -> None:
        async with asyncio.timeout(20):
            while self.calls.is_connected != is_connected:  # noqa: ASYNC110 - another program
                await asyncio.sleep(0.02)

    async def until(self, count: int) -> None:
        async with asyncio.timeout(20):
            while len(self.found) < count:  # noqa: ASYNC110 - another program
                await asyncio.sleep(0.02)


async def test_a_call_reaches_the_processes_of_its_store_alone(server: NatsServer) -> None:
    sender, other, stranger = (Heard(server, store) for store in ("a", "a", "b"))
    for one in (sender, other, stranger):
        await one.connected()
    await asyncio.sleep(0.1)  # their subscriptions arrive

    sender.calls.publish("p1", "account slack", "lane")
    await other.until(1)

    assert other.found == [("p1", "account slack", "lane")]
    assert stranger.found == []
    for one in (sender, other, stranger):
        await one.calls.close()


async def test_calls_go_on_after_the_server_was_away(server: NatsServer) -> None:
    sender, other = Heard(server, "a"), Heard(server, "a")
    await sender.connected()
    await other.connected()
    await server.kill()
    await sender.connected(is_connected=False)
    sender.calls.publish("p1", "x", "")  # lost, and no error

    await server.start()
    await sender.connected()
    await other.connected()
    async with asyncio.timeout(20):
        while not other.found:
            sender.calls.publish("p1", "y", "")
            await asyncio.sleep(0.1)

    assert other.found[0] == ("p1", "y", "")
    for one in (sender, other):
        await one.calls.close()
