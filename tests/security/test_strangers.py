"""Strangers at the bridge's own web server: bounded heads, nothing behind unknown doors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import aiohttp
import pytest
import pytest_asyncio
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from bridge.app.web import request_heads as heads
from bridge.app.web.server import WebServer
from tests.waiting import LONGEST_WAIT


async def _hello(request: Request) -> Response:
    return PlainTextResponse(f"{len(await request.body())}")


@pytest_asyncio.fixture
async def server() -> AsyncGenerator[WebServer]:
    app = Starlette(routes=[Route("/", _hello, methods=["GET", "POST"])])
    served = WebServer(app, "127.0.0.1", 0)
    await served.start()
    yield served
    await served.stop()


async def _closed_after(server: WebServer, chunk: bytes, times: int) -> bool:
    """Whether the server closes while it is sent an endless head."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(server.url.rpartition(":")[2]))
    try:
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\nX-Long: ")
        async with asyncio.timeout(LONGEST_WAIT):
            for _ in range(times):
                writer.write(chunk)
                await writer.drain()
            return await reader.read() == b""
    except ConnectionError:
        return True
    finally:
        writer.close()


async def test_a_head_that_is_too_long_is_given_up(server: WebServer) -> None:
    assert await _closed_after(server, b"x" * 65_536, 50)


@pytest.mark.parametrize("said", [b"", b"x"])
async def test_a_head_that_never_ends_is_given_up(
    server: WebServer, said: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heads, "MOST_SECONDS", 0.05)

    assert await _closed_after(server, said, 1)


async def test_whole_requests_are_answered_one_after_the_other(server: WebServer) -> None:
    """A body is no head, however long, and a connection may be kept."""
    async with aiohttp.ClientSession() as http:
        for size in (0, 1, 500_000, 0, 200_000):
            async with http.post(server.url, data=b"x" * size) as answer:
                assert await answer.text() == str(size)
        async with http.get(server.url, headers={"X-Long": "x" * 20_000}) as answer:
            assert answer.status == 200
