"""A connection that has died without a word is noticed."""

from __future__ import annotations

import asyncio

import pytest

from bridge.errors import Unavailable
from connectors.irc.flood import TokenBucket
from connectors.irc.link import Endpoint, Link
from connectors.irc.registration import Identity


class HurriedClock:
    """Every sleep is over at once, and takes its time all the same."""

    def __init__(self) -> None:
        self.now = 0.0

    def time(self) -> float:
        return self.now

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        for _ in range(20):  # what was written is read on the other side
            await asyncio.sleep(0)
        await asyncio.sleep(0.002)


class Server:
    """Welcomes whoever comes; answers to PING only if it is `alive`."""

    def __init__(self, *, alive: bool) -> None:
        self.alive = alive
        self.received: list[bytes] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b":s 001 bridge :hi\r\n:s 422 bridge :no motd\r\n")
        while line := await reader.readline():
            self.received.append(line.rstrip())
            if line.startswith(b"PING") and self.alive:
                writer.write(b":s PONG s :alive\r\n")
        writer.close()


async def read_for(server: Server, seconds: float) -> float:
    """How long the connection stands, at most so many seconds."""
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    clock = HurriedClock()
    link = Link(
        Endpoint("127.0.0.1", port, tls=False), Identity("bridge"), clock,
        TokenBucket(5, 1.0, 0.0),
    )  # fmt: skip
    await link.open()

    async def read() -> None:
        async for _ in link.lines():
            if clock.now >= seconds:
                return

    try:
        async with asyncio.timeout(10):
            await read()
    except Unavailable:
        pass
    finally:
        await link.close()
        listening.close()
    return clock.now


async def test_a_silent_server_is_probed_and_then_disconnected() -> None:
    server = Server(alive=False)

    stood = await read_for(server, 1000)

    assert 90 <= stood <= 120
    assert server.received.count(b"PING alive") == 1


async def test_a_server_that_answers_the_probe_stays_connected() -> None:
    server = Server(alive=True)

    assert await read_for(server, 600) >= 600
    assert server.received.count(b"PING alive") >= 5


async def test_a_missing_server_is_unavailable() -> None:
    link = Link(
        Endpoint("127.0.0.1", 1, tls=False), Identity("bridge"), HurriedClock(),
        TokenBucket(5, 1.0, 0.0),
    )  # fmt: skip

    with pytest.raises(Unavailable, match="connection failed"):
        await link.open()
