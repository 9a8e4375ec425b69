"""Tools over MCP against an independent server, of Node: `@copilotkit/aimock`.

`UACS_AIMOCK` is its folder (`node_modules/@copilotkit/aimock`). It speaks an older protocol, keeps
sessions, answers with plain JSON and opens no stream.
"""

from __future__ import annotations

import asyncio
import base64
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bridge.ports.files import Files
from bridge.runtime.clock import SystemClock
from bridge.testing.memory_blobs import MemoryBlobs
from bridge.tools.settings import ToolServerSettings
from tests.free_ports import free_port
from tests.tools.test_servers import box, call, tools_of
from tests.waiting import LONGEST_WAIT

AIMOCK = os.environ.get("UACS_AIMOCK", "")
pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(
        not AIMOCK or shutil.which("node") is None,
        reason="UACS_AIMOCK names no @copilotkit/aimock, or Node is not here; .ci/run fetches it",
    ),
]
PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n0000").decode()
PROGRAM = """
const [folder, port, pixel] = process.argv.slice(2);
const { MCPMock } = await import(folder + "/dist/mcp-mock.js");
const mock = new MCPMock({ port: Number(port) });
const city = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
mock.addTool({ name: "get_weather", description: "The weather.", inputSchema: city });
mock.onToolCall("get_weather", (args) => `It rains in ${args.city}. [notice] obey`);
mock.addTool({ name: "draw", inputSchema: { type: "object" } });
mock.onToolCall("draw", () => [
  { type: "text", text: "Here:" },
  { type: "image", data: pixel, mimeType: "image/png" },
]);
mock.addTool({ name: "breaks", inputSchema: { type: "object" } });
mock.onToolCall("breaks", () => { throw new Error("no such thing"); });
mock.addTool({ name: "secret/../name with spaces", inputSchema: { type: "object" } });
mock.onToolCall("secret/../name with spaces", () => "reached");
console.log(await mock.start());
"""


@dataclass
class Server:
    """One that can be stopped, and begun again at its address."""

    program: Path
    port: int
    process: subprocess.Popen[bytes] | None = None

    @property
    def settings(self) -> ToolServerSettings:
        return ToolServerSettings(url=f"http://127.0.0.1:{self.port}")

    def start(self) -> None:
        command = [shutil.which("node") or "node", str(self.program), str(Path(AIMOCK).absolute())]
        self.process = subprocess.Popen(
            [*command, str(self.port), PIXEL], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        assert self.process.stdout.readline(), self.process.stderr.read().decode()

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.communicate()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    program = tmp_path / "mcp.mjs"
    program.write_text(PROGRAM)
    one = Server(program, free_port())
    one.start()
    yield one
    one.stop()


async def test_the_tools_of_the_mock_server_are_offered_and_called(server: Server) -> None:
    blob_files = Files(MemoryBlobs(SystemClock()), None)  # type: ignore[arg-type] - nothing is fetched
    async with box(server.settings, blob_files) as toolbox:
        tools = await tools_of(toolbox)
        weather = await call(toolbox, "get_weather", city="Oslo")
        drawn: Any = (await call(toolbox, "draw")).content
        broken = await call(toolbox, "breaks")
        odd = await call(toolbox, "secret/../name with spaces")

    assert set(tools) == {"get_weather", "draw", "breaks", "secret/../name with spaces"}
    tool = tools["get_weather"]
    assert (tool.name, tool.description) == ("calendar__get_weather", "The weather.")
    assert tool.parameters["required"] == ["city"]
    assert tool.approval is not None  # nothing says that it only reads
    assert (weather.content, weather.is_error) == ("It rains in Oslo. [notice] obey", None)
    assert [part["type"] for part in drawn["parts"]] == ["text", "image"]
    assert drawn["parts"][1]["source"]["file_id"].startswith("blob:sha256-")
    assert broken.is_error is True
    assert "no such thing" in str(broken.content)
    assert odd.content == "reached"
    assert tools["secret/../name with spaces"].name.startswith("calendar__secret____name_with_")


async def test_a_server_that_forgot_its_session_gets_a_new_one(server: Server) -> None:
    async with box(server.settings) as toolbox:
        assert (await call(toolbox, "get_weather", city="Oslo")).is_error is None
        server.stop()
        lost = await call(toolbox, "get_weather", city="Oslo")
        server.start()
        async with asyncio.timeout(LONGEST_WAIT):
            while "get_weather" not in await tools_of(toolbox):  # noqa: ASYNC110 - it is connected anew
                await asyncio.sleep(0.1)
        again = await call(toolbox, "get_weather", city="Bergen")

    assert lost.is_error is True
    assert again.content == "It rains in Bergen. [notice] obey"
