"""All of a request that is not its body is bounded, whatever a connection sends."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, Callable, Iterator
from itertools import repeat
from typing import Any

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from uvicorn.server import ServerState

from bridge.app.web.request_bodies import BoundedBodies
from bridge.app.web.request_heads import (
    MOST_BYTES,
    MOST_HEADERS,
    MOST_SECONDS,
    MOST_WAITING,
    PIECE,
    BoundedHeads,
)
from bridge.app.web.server import WebServer
from tests.waiting import LONGEST_WAIT

_POST = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
_READ = 64 * 1024  # bytes that come in at once
_MUCH = 64 * 1024 * 1024
# What never ends: how the connection begins, and what it then repeats.
ENDLESS: dict[str, tuple[bytes, bytes]] = {
    "the request line": (b"GET /", b"a"),
    "the query": (b"GET /?", b"a"),
    "the method": (b"", b"P"),
    "one header's name": (b"GET / HTTP/1.1\r\n", b"a"),
    "one header's value": (b"GET / HTTP/1.1\r\na: ", b"a"),
    "short headers": (b"GET / HTTP/1.1\r\n", b"a:\r\n"),
    "long headers": (b"GET / HTTP/1.1\r\n", b"a: " + b"a" * 1000 + b"\r\n"),
    "a chunk's extension": (_POST + b"1;", b"a"),
    "chunks with extensions": (_POST, b"1;" + b"a" * 1000 + b"\r\nx\r\n"),
    "zeros before a chunk's size": (_POST, b"0"),
    "one trailer's name": (_POST + b"1\r\nx\r\n0\r\n", b"a"),
    "one trailer's value": (_POST + b"1\r\nx\r\n0\r\na: ", b"a"),
    "short trailers": (_POST + b"1\r\nx\r\n0\r\n", b"a:\r\n"),
    "long trailers": (_POST + b"0\r\n", b"a: " + b"a" * 60_000 + b"\r\n"),
    "trailers behind a body": (_POST + b"FFFF\r\n" + b"x" * 65535 + b"\r\n0\r\n", b"a: b\r\n"),
    "blank lines": (b"", b"\r\n"),
    "blank lines behind a request": (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", b"\r\n"),
    "bytes behind the last request": (b"GET / HTTP/1.0\r\nHost: a\r\n\r\n", b"a"),
    "requests": (b"", b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"),
}  # fmt: skip


class _Line(asyncio.Transport):
    """A connection that keeps what is written to it."""

    def __init__(self) -> None:
        super().__init__({"sockname": ("127.0.0.1", 1), "peername": ("127.0.0.1", 2)})
        self.written = b""
        self.ended = ""

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written += data

    def close(self) -> None:
        self.ended = self.ended or "closed"

    def abort(self) -> None:
        self.ended = "aborted"

    def is_closing(self) -> bool:
        return bool(self.ended)

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass


async def _silent(_scope: Any, receive: Any, _send: Any) -> None:
    """Reads the body, and never answers."""
    while True:
        await receive()
        await asyncio.sleep(0)


@contextlib.asynccontextmanager
async def connected(app: Any = _silent) -> AsyncGenerator[tuple[BoundedHeads, _Line]]:
    config = uvicorn.Config(app=app, log_config=None, ws="none", http=BoundedHeads)
    config.load()
    state, line = ServerState(), _Line()
    protocol = BoundedHeads(config, state, {})
    protocol.connection_made(line)
    try:
        yield protocol, line
    finally:
        protocol.connection_lost(None)
        for task in state.tasks:
            task.cancel()
        await asyncio.gather(*state.tasks, return_exceptions=True)


def _reads(begin: bytes, again: bytes) -> Iterator[bytes]:
    """As the connection gives them."""
    yield begin
    yield from repeat(again * (_READ // len(again) or 1), _MUCH // _READ)


async def _until(there: Callable[[], bool]) -> None:
    async with asyncio.timeout(LONGEST_WAIT):
        while not there():  # noqa: ASYNC110 - the protocol has no event for it
            await asyncio.sleep(0)


@pytest.mark.parametrize("name", ENDLESS)
async def test_a_connection_is_ended_that_sends_without_end(name: str) -> None:
    begin, again = ENDLESS[name]
    taken = 0

    async with connected() as (protocol, line):
        for data in _reads(begin, again):
            protocol.data_received(data)
            taken += len(data)
            await asyncio.sleep(0)
            if line.ended:
                break

    assert line.ended
    assert taken - len(begin) <= MOST_BYTES + PIECE + _READ


@pytest.mark.parametrize("name", ENDLESS)
async def test_what_is_parsed_is_measured_in_small_pieces(name: str) -> None:
    """Also when the system gives a lot at once."""
    begin, again = ENDLESS[name]
    parsed = 0

    class Parser:
        def __init__(self, parser: Any) -> None:
            self._parser = parser

        def feed_data(self, data: bytes) -> None:
            nonlocal parsed
            parsed += len(data)
            self._parser.feed_data(data)

        def __getattr__(self, name: str) -> Any:
            return getattr(self._parser, name)

    async with connected() as (protocol, line):
        protocol.parser = Parser(protocol.parser)  # pyright: ignore[reportAttributeAccessIssue]
        protocol.data_received(begin)
        protocol.data_received(again * (1024 * 1024 // len(again)))

    assert line.ended
    assert parsed - len(begin) <= MOST_BYTES + 2 * PIECE
    assert len(protocol.headers or ()) <= MOST_HEADERS
    assert len(protocol.pipeline) <= MOST_WAITING


async def test_what_is_too_much_is_answered_with_its_reason() -> None:
    async with connected() as (protocol, line):
        protocol.data_received(b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"a" * 100_000)

    head, _, body = line.written.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 431 ")
    assert "65,536 bytes" in json.loads(body)["detail"]
    assert line.ended == "closed"


async def test_too_many_headers_start_no_request() -> None:
    started: list[Any] = []

    async def app(scope: Any, _receive: Any, _send: Any) -> None:
        started.append(scope)

    async with connected(app) as (protocol, line):
        protocol.data_received(b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * (MOST_HEADERS + 1) + b"\r\n")
        await asyncio.sleep(0)

    assert started == []
    assert line.written.startswith(b"HTTP/1.1 431 ")


def _timers(monkeypatch: pytest.MonkeyPatch) -> list[tuple[float, Any]]:
    """Every timer that is set from now on, as (seconds, what it calls); none goes off by itself."""
    timers: list[tuple[float, Any]] = []
    loop = asyncio.get_running_loop()
    call_later = loop.call_later

    def recording(delay: float, callback: Any, *args: Any, **more: Any) -> Any:
        timers.append((delay, callback))
        return call_later(3600, callback, *args, **more)

    monkeypatch.setattr(loop, "call_later", recording)
    return timers


@pytest.mark.parametrize("begin", ["", "GET", "GET / HTTP/1.1\r\nHost: a\r\n", "\r\n"])
async def test_a_head_that_does_not_come_to_its_end_is_given_up(
    begin: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    timers = _timers(monkeypatch)
    async with connected() as (protocol, line):
        protocol.data_received(begin.encode())
        [(seconds, late)] = timers
        late()

    assert seconds == MOST_SECONDS
    assert line.ended == "aborted"


async def test_a_blank_line_behind_a_request_does_not_end_its_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Some clients end a body with one; an answer may be a stream that lasts for hours."""
    timers = _timers(monkeypatch)
    async with connected() as (protocol, line):
        protocol.data_received(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        protocol.data_received(b"\r\n")
        timers[-1][1]()
        assert len(timers) == 2
        assert not line.ended
        protocol.data_received(b"GET")
        timers[-1][1]()
        assert line.ended == "aborted"


async def test_a_request_within_bounds_passes_in_any_pieces() -> None:
    """Small chunks, extensions and trailers, in pieces of every size."""
    bodies: list[bytes] = []

    async def echo(request: Request) -> Response:
        bodies.append(await request.body())
        return PlainTextResponse("ok")

    app = Starlette(routes=[Route("/", echo, methods=["POST"])],
                    middleware=[Middleware(BoundedBodies)])  # fmt: skip
    chunks = b"".join(b"8;a=b\r\n%08d\r\n" % n for n in range(20_000))
    request = _POST + chunks + b"0\r\nA: b\r\nC: d\r\n\r\n"
    for size in (len(request), 100_000, 16_384, 1000):
        async with connected(app) as (protocol, line):
            for start in range(0, len(request), size):
                protocol.data_received(request[start : start + size])
                await asyncio.sleep(0)
            await _until(lambda: b"ok" in line.written)
            assert line.written.startswith(b"HTTP/1.1 200 ")
            assert not line.ended

    assert bodies == [b"".join(b"%08d" % n for n in range(20_000))] * 4


async def test_pipelined_requests_are_answered_in_order() -> None:
    async def echo(request: Request) -> Response:
        return PlainTextResponse(request.url.path)

    app = Starlette(routes=[Route("/{n}", echo)])
    async with connected(app) as (protocol, line):
        protocol.data_received(
            b"".join(b"GET /%02d HTTP/1.1\r\nHost: a\r\n\r\n" % n for n in range(20))
        )
        await _until(lambda: line.written.count(b"200 OK") == 20)

    answers = [part[-3:] for part in line.written.split(b"HTTP/1.1 ")[1:]]
    assert answers == [b"/%02d" % n for n in range(20)]


async def test_half_a_body_is_not_handled() -> None:
    handled: list[bytes] = []

    async def take(request: Request) -> Response:
        handled.append(await request.body())
        return PlainTextResponse("ok")

    app = Starlette(routes=[Route("/", take, methods=["POST"])],
                    middleware=[Middleware(BoundedBodies)])  # fmt: skip
    async with connected(app) as (protocol, _line):
        protocol.data_received(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf")
        for _ in range(5):
            await asyncio.sleep(0)
        protocol.connection_lost(None)
        for _ in range(5):
            await asyncio.sleep(0)
        protocol.connection_made(_Line())

    assert handled == []


@pytest.mark.parametrize("name", ["short trailers", "a chunk's extension", "one header's value"])
async def test_a_real_server_ends_a_connection_that_sends_without_end(name: str) -> None:
    async def echo(request: Request) -> Response:
        return PlainTextResponse(str(len(await request.body())))

    app = Starlette(routes=[Route("/", echo, methods=["GET", "POST"])],
                    middleware=[Middleware(BoundedBodies)])  # fmt: skip
    server = WebServer(app, "127.0.0.1", 0)
    await server.start()
    begin, again = ENDLESS[name]
    sent = 0
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", int(server.url.rpartition(":")[2]))
        with contextlib.suppress(ConnectionError):
            for data in _reads(begin, again):
                writer.write(data)
                await writer.drain()
                sent += len(data)
    finally:
        await server.stop()

    assert sent < _MUCH / 2  # all but 64 KB of it stood in the buffers of both sockets
