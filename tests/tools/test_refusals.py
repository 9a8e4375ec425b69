"""Servers of tools that lack what is optional, and calls that never reached a server."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import uvicorn
from httpcore2._async import http11
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from structlog.testing import capture_logs

from bridge.tools.settings import ToolServerSettings
from bridge.uacs import ToolCallPart
from tests.free_ports import free_port
from tests.tools.plain_server import ADD
from tests.tools.test_servers import box, call, tools_of
from tests.waiting import LONGEST_WAIT

ROOT = Path(__file__).parents[2]

NOTES = r'''
from fastmcp import FastMCP

mcp = FastMCP("notes")

@mcp.tool(annotations={"readOnlyHint": True})
def find(word: str) -> str:
    """Finds notes."""
    return f"Nothing about {word}."

@mcp.tool
def count(word: str) -> int:
    """How long a word is."""
    return len(word)

mcp.run(show_banner=False)
'''


def plain(mode: str) -> ToolServerSettings:
    args = ("-m", "tests.tools.plain_server", mode)
    return ToolServerSettings(command=sys.executable, args=args, folder=ROOT)


async def steady(settings: ToolServerSettings, calls: list[tuple[str, dict[str, Any]]]) -> Any:
    """What the calls answer, one after the other, and how often the server was connected."""
    with capture_logs() as logs:
        async with box(settings) as toolbox, asyncio.timeout(LONGEST_WAIT):
            answers = [(await call(toolbox, name, **args)).content for name, args in calls]
    return answers, sum(log["event"] == "tool_server_connected" for log in logs)


@pytest.mark.parametrize("mode", ["-32601", "-32600", "-32603", "-32000", "ends", "silent"])
async def test_a_server_without_change_notices_stays_connected(mode: str) -> None:
    answers, connected = await steady(plain(mode), [("add", {})] * 4)

    assert answers == ["added"] * 4
    assert connected == 1


async def test_a_server_without_tools_is_connected_and_has_none() -> None:
    with capture_logs() as logs:
        async with box(plain("none")) as toolbox, asyncio.timeout(LONGEST_WAIT):
            assert await tools_of(toolbox) == {}
            assert toolbox.servers["calendar"].problem == ""

    assert [one["event"] for one in logs if one["log_level"] != "debug"][:2] == [
        "tool_server_empty", "tool_server_connected",
    ]  # fmt: skip


async def test_a_result_that_violates_its_own_schema_reaches_the_agent() -> None:
    answers, connected = await steady(plain("odd"), [("add", {})] * 2)

    assert answers == ["The tool was called, but its answer cannot be read (RuntimeError)."] * 2
    assert connected == 1


async def test_a_program_written_on_fastmcp_offers_its_tools(tmp_path: Path) -> None:
    python = os.environ.get("UACS_FASTMCP_PYTHON", "")
    if not python:
        pytest.skip("UACS_FASTMCP_PYTHON names no Python with fastmcp; .ci/run makes one")
    (tmp_path / "notes.py").write_text(NOTES)
    settings = ToolServerSettings(command=python, args=(str(tmp_path / "notes.py"),))

    answers, connected = await steady(
        settings, [("find", {"word": "snow"}), ("count", {"word": "snow"})] * 2
    )

    assert answers == ["Nothing about snow.", {"result": 4}] * 2
    assert connected == 1


# --- calls that did not run ----------------------------------------------------------------------


class OldServer:
    """MCP of 2025 over HTTP, which keeps sessions and tells nothing by itself."""

    def __init__(self) -> None:
        self.called = 0
        self.sessions = 0
        self.ports: list[int] = []  # of the client, one for each request
        self.refusal: Response | None = None

    async def answer(self, request: Request) -> Response:
        if request.method != "POST":
            return Response(status_code=405)
        body = await request.json()
        if "id" not in body:
            return Response(status_code=202)
        if body["method"] == "initialize":
            self.sessions += 1
            result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                      "serverInfo": {"name": "old", "version": "1"}}  # fmt: skip
            session = f"s{id(self)}-{self.sessions}"
            return self._response(body, {"result": result}, {"mcp-session-id": session})
        if body["method"] == "server/discover":
            return self._response(body, {"error": {"code": -32601, "message": "Method not found"}})
        if request.headers.get("mcp-session-id") != f"s{id(self)}-{self.sessions}":
            return Response(status_code=404)
        assert request.client is not None
        self.ports.append(request.client.port)
        if self.refusal is not None and body["method"] == "tools/call":
            return self.refusal
        if body["method"] == "tools/list":
            return self._response(body, {"result": {"tools": [ADD]}})
        self.called += 1
        return self._response(body, {"result": {"content": [{"type": "text", "text": "added"}]}})

    def _response(self, body: Any, message: Any, headers: dict[str, str] | None = None) -> Response:
        return JSONResponse({"jsonrpc": "2.0", "id": body["id"], **message}, headers=headers)


@asynccontextmanager
async def old_server(port: int) -> AsyncGenerator[OldServer]:
    old = OldServer()
    app = Starlette(routes=[Route("/mcp", old.answer, methods=["GET", "POST", "DELETE"])])
    config = uvicorn.Config(app, port=port, log_config=None, timeout_graceful_shutdown=0,
                            lifespan="off")  # fmt: skip
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve())
    try:
        async with asyncio.timeout(LONGEST_WAIT):
            while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
                await asyncio.sleep(0.01)
        yield old
    finally:
        server.force_exit = server.should_exit = True
        await serving


async def test_an_unsent_call_is_reported_as_not_made() -> None:
    port = free_port()
    async with box(ToolServerSettings(url=f"http://127.0.0.1:{port}/mcp")) as toolbox:
        async with old_server(port):
            tool = (await tools_of(toolbox))["add"]
        away = await toolbox.call(tool, ToolCallPart(id="c1", name="x", arguments={}))

    assert away.content == "The tool was not called: its server 'calendar' cannot be reached now."


async def test_a_call_with_an_unknown_session_is_made_in_a_new_session() -> None:
    port = free_port()
    async with box(ToolServerSettings(url=f"http://127.0.0.1:{port}/mcp")) as toolbox:
        async with old_server(port):
            tool = (await tools_of(toolbox))["add"]
        async with old_server(port) as server:
            back = await toolbox.call(tool, ToolCallPart(id="c1", name="x", arguments={}))

    assert back.content == "added"
    assert server.called == 1


async def test_an_idle_connection_is_closed_before_the_server_closes_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [0.0]
    monkeypatch.setattr(http11, "time", SimpleNamespace(monotonic=lambda: now[0]))
    port = free_port()
    settings = ToolServerSettings(url=f"http://127.0.0.1:{port}/mcp")
    async with old_server(port) as server, box(settings) as toolbox:
        await call(toolbox, "add")
        now[0] = 3.5
        await call(toolbox, "add")
        now[0] = 8.0
        await call(toolbox, "add")

    before, soon, later = server.ports[-3:]
    assert before == soon != later


@pytest.mark.parametrize("status", [400, 401, 403, 405, 413, 429])
async def test_a_call_with_a_refusing_http_status_is_reported_as_refused(status: int) -> None:
    answer = await answered_with(Response("no", status_code=status))

    assert answer == "The tool refused the call: Server returned an error response"


@pytest.mark.parametrize("status", [500, 502, 503, 504])
async def test_a_call_on_which_the_server_failed_may_have_run(status: int) -> None:
    answer = await answered_with(Response("no", status_code=status))

    assert answer == (
        f"The tool's server failed with HTTP status {status} (Server returned an error response); "
        "it is unknown whether the tool ran."
    )


async def answered_with(refusal: Response) -> Any:
    """What is told of a call that is answered so."""
    port = free_port()
    settings = ToolServerSettings(url=f"http://127.0.0.1:{port}/mcp")
    async with old_server(port) as server, box(settings) as toolbox:
        server.refusal = refusal
        return (await call(toolbox, "add")).content


@asynccontextmanager
async def cutting(port: int, before: int) -> AsyncGenerator[None]:
    """Passes connections to `port` on to the server `before`; closes that of the first call."""
    passing: set[asyncio.Task[None]] = set()
    cut = False

    async def passed_on(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter, calls_end: bool
    ) -> None:
        nonlocal cut
        while piece := await reader.read(65536):
            if calls_end and b"tools/call" in piece and not cut:
                cut = True
                break
            writer.write(piece)
            await writer.drain()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        behind, to_server = await asyncio.open_connection("127.0.0.1", before)
        ways = [
            asyncio.create_task(passed_on(reader, to_server, calls_end=True)),
            asyncio.create_task(passed_on(behind, writer, calls_end=False)),
        ]
        passing.update(ways)
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        to_server.close()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", port):
        yield
        for event in passing:
            event.cancel()
        await asyncio.gather(*passing, return_exceptions=True)


async def test_the_call_after_a_broken_connection_waits_for_the_next_one() -> None:
    port, before = free_port(), free_port()
    settings = ToolServerSettings(url=f"http://127.0.0.1:{port}/mcp")
    async with old_server(before) as server, cutting(port, before), box(settings) as toolbox:
        tool = (await tools_of(toolbox))["add"]
        part = ToolCallPart(id="c1", name="x", arguments={})
        cut = await toolbox.call(tool, part)
        after = await toolbox.call(tool, part)

    assert "The connection to the tool broke; it is unknown" in str(cut.content)
    assert after.content == "added"
    assert server.called == 1
