"""Connections that the server closes: a request that was never written is not in doubt."""

from __future__ import annotations

import asyncio
import re
import socket
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractContextManager
from types import SimpleNamespace
from typing import Any, cast

import pytest
from aiohttp.http_writer import HttpVersion11, StreamWriter
from multidict import CIMultiDict

from bridge.agents.transport.http import Deadlines, Request, open_http
from bridge.errors import Refused, Unavailable, Unsettled
from bridge.runtime.clock import SystemClock
from connectors.discord import rest as discord
from connectors.slack import send as slack
from connectors.teams import send as teams

ANSWER = b'HTTP/1.1 %d x\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n{"ok":true}'
Post = Callable[[], Awaitable[object]]


class Server:
    """Answers in its own thread, and closes connections while the client's loop does not run."""

    def __init__(self) -> None:
        self.status = 200
        self.requests = 0
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._kept: list[socket.socket] = []
        self._idle = threading.Semaphore(0)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listening.getsockname()[1]}"

    def close_kept(self) -> None:
        """Close the connections as a server does after an idle time."""
        self._idle.acquire(timeout=5)
        while self._kept:
            connection = self._kept.pop()
            connection.shutdown(socket.SHUT_RDWR)
            connection.close()

    def close(self) -> None:
        self._listening.close()
        for connection in self._kept:
            connection.close()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._talk, args=(client,), daemon=True).start()

    def _talk(self, client: socket.socket) -> None:
        self._kept.append(client)
        try:
            while _request_from(client):
                self.requests += 1
                client.sendall(ANSWER % self.status)
                self._idle.release()
        except OSError:
            return


def _request_from(client: socket.socket) -> bytes:
    """Return one whole request, or nothing when the client has closed."""
    request = b""
    while b"\r\n\r\n" not in request:
        if not (piece := client.recv(65536)):
            return b""
        request += piece
    head, _, body = request.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)content-length: (\d+)", head)
    left = int(length[1]) - len(body) if length else 0
    while left > 0 and (piece := client.recv(left)):
        left -= len(piece)
    return request


async def _token() -> str:
    return "token"


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.close()


@pytest.fixture(params=["slack", "discord", "teams"])
async def post(request: pytest.FixtureRequest, server: Server) -> AsyncIterator[Post]:
    """A request that must not be repeated, sent by each connector's own client."""
    match request.param:
        case "slack":
            api = slack.WebApi(f"{server.url}/", _token, SystemClock(), 5.0)
            yield lambda: api.post_json("chat.postMessage", {"text": "x"}, once=True)
            await api.close()
        case "discord":
            rest = discord.Rest(server.url, _token, SystemClock(), 5.0)
            yield lambda: rest.request("POST", "/x", bucket="x", doing="Posting", body={"a": "x"})
            await rest.close()
        case _:
            http = teams.HttpClient(5.0)
            yield lambda: http.request("POST", f"{server.url}/x", data=b"{}", repeatable=False)
            await http.close()


async def test_a_kept_connection_that_the_server_has_closed_is_not_used_again(
    server: Server, post: Post
) -> None:
    await post()
    server.close_kept()  # our loop does not run meanwhile, so the client has not noticed it

    await post()

    assert server.requests == 2


async def test_an_agent_does_not_reuse_a_connection_that_the_server_has_closed(
    server: Server,
) -> None:
    async with open_http(Deadlines(connect=5.0, idle=5.0)) as http:
        await http.json(Request(server.url, {}, {}))
        server.close_kept()

        await http.json(Request(server.url, {}, {}))

    assert server.requests == 2


TRANSLATED: dict[str, Callable[[], AbstractContextManager[None]]] = {
    "slack": lambda: slack.translated("Posting", once=True),
    "discord": lambda: discord.translated("Posting"),
    "teams": lambda: teams.translated("Posting"),
}


@pytest.mark.parametrize("platform", TRANSLATED)
async def test_a_request_that_was_never_written_may_be_sent_again(platform: str) -> None:
    closing = SimpleNamespace(transport=SimpleNamespace(is_closing=lambda: True))
    writer = StreamWriter(cast(Any, closing), asyncio.get_running_loop())
    await writer.write_headers(f"POST / HTTP/{HttpVersion11.major}.1", CIMultiDict())

    with pytest.raises(Unavailable), TRANSLATED[platform]():
        await writer.write(b"{}")


@pytest.mark.parametrize("platform", TRANSLATED)
async def test_a_connection_that_breaks_after_writing_leaves_the_post_unsettled(
    platform: str,
) -> None:
    with pytest.raises(Unsettled) as caught, TRANSLATED[platform]():
        raise ConnectionResetError(104, "Connection reset by peer")

    assert not caught.value.late


@pytest.mark.parametrize("platform", TRANSLATED)
async def test_a_timeout_leaves_the_post_unsettled_and_late(platform: str) -> None:
    with pytest.raises(Unsettled) as caught, TRANSLATED[platform]():
        raise TimeoutError

    assert caught.value.late


async def test_a_gateway_timeout_leaves_the_post_unsettled_and_late(server: Server) -> None:
    server.status = 504
    api = slack.WebApi(f"{server.url}/", _token, SystemClock())
    rest = discord.Rest(server.url, _token, SystemClock())
    try:
        with pytest.raises(Unsettled) as of_slack:
            await api.post_json("chat.postMessage", {}, once=True)
        with pytest.raises(Unsettled) as of_discord:
            await rest.request("POST", "/x", bucket="x", doing="Posting", body={})
    finally:
        await api.close()
        await rest.close()
    of_teams = teams.error_of("POST", 504, {})
    assert isinstance(of_teams, Unsettled)
    assert (of_slack.value.late, of_discord.value.late, of_teams.late) == (True, True, True)


async def test_a_501_is_refused_without_a_retry(server: Server) -> None:
    server.status = 501
    api = slack.WebApi(f"{server.url}/", _token, SystemClock())
    rest = discord.Rest(server.url, _token, SystemClock())
    try:
        for once in (True, False):
            with pytest.raises(Refused, match="501"):
                await api.post_json("chat.postMessage", {}, once=once)
        with pytest.raises(Refused, match="501"):
            await rest.request("POST", "/x", bucket="x", doing="Posting", body={})
    finally:
        await api.close()
        await rest.close()
    assert isinstance(teams.error_of("POST", 501, {}), Refused)
    assert isinstance(teams.error_of("PUT", 501, {}, repeatable=True), Refused)
