"""Servers of tools over stdio and HTTP: an independent server, written on the SDK."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from mcp_types import ToolAnnotations
from structlog.testing import capture_logs

from bridge.errors import ConfigError
from bridge.model.secret_refs import SecretRef
from bridge.ports.files import Files
from bridge.ports.tools import Tool
from bridge.runtime.clock import SystemClock
from bridge.testing.memory_blobs import MemoryBlobs
from bridge.tools.mcp_server import needs_approval
from bridge.tools.settings import ToolServerSettings
from bridge.tools.toolbox import McpToolbox, open_toolbox
from bridge.uacs import ToolCallPart, ToolResultPart
from tests.free_ports import free_port
from tests.tools.http_server import http_server
from tests.waiting import LONGEST_WAIT

pytestmark = pytest.mark.asyncio(loop_scope="module")

TOKEN = "tok-1234567890"
PROGRAM = [sys.executable, "-m", "tests.tools.calendar_server"]


class HastyClock(SystemClock):
    """Pauses are a twentieth."""

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds / 20)


class Secrets:
    async def secret(self, ref: SecretRef) -> str:
        del ref
        return TOKEN


def stdio(**more: Any) -> ToolServerSettings:
    command, *args = PROGRAM
    env = {"CALENDAR_TOKEN": SecretRef(env="CALENDAR_TOKEN")}
    root = Path(__file__).parents[2]
    return ToolServerSettings(command=command, args=tuple(args), env=env, folder=root, **more)


@asynccontextmanager
async def box(
    settings: ToolServerSettings, files: Files | None = None
) -> AsyncGenerator[McpToolbox]:
    toolbox = open_toolbox({"calendar": settings}, Secrets(), HastyClock(), files)
    try:
        yield toolbox
    finally:
        await toolbox.close()


async def tools_of(toolbox: McpToolbox) -> dict[str, Tool]:
    return {tool.own_name: tool for tool in await toolbox.tools(["calendar"])}


async def call(toolbox: McpToolbox, name: str, **arguments: Any) -> ToolResultPart:
    tool = (await tools_of(toolbox))[name]
    return await toolbox.call(tool, ToolCallPart(id="c1", name=tool.name, arguments=arguments))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def toolbox() -> AsyncGenerator[McpToolbox]:
    """One program for all tests that do not mind."""
    blob_files = Files(MemoryBlobs(SystemClock()), None)  # type: ignore[arg-type] - nothing is fetched
    async with box(stdio(result_kb=1, deny="hang"), blob_files) as one:
        yield one


async def test_a_program_offers_its_tools(toolbox: McpToolbox) -> None:
    tools = await tools_of(toolbox)

    assert "hang" not in tools
    tool = tools["list_events"]
    assert tool.name == "calendar__list_events"
    assert tool.description == "The events of a day."
    assert tool.parameters["required"] == ["day"]


async def test_results_can_be_text_values_and_pictures(toolbox: McpToolbox) -> None:
    result = await call(toolbox, "list_events", day="Monday")
    counted = await call(toolbox, "count", day="Monday")
    seen = await call(toolbox, "picture")

    assert result == ToolResultPart(tool_call_id="c1", content="Nothing on Monday.")
    assert counted.content == {"events": 6}
    content: Any = seen.content
    month, picture = content["parts"]
    assert month == {"type": "text", "text": "The month:", "format": "plain"}
    assert picture["media_type"] == "image/png"
    assert picture["source"]["file_id"].startswith("blob:sha256-")


async def test_a_long_result_is_cut_and_says_so(toolbox: McpToolbox) -> None:
    cut = await call(toolbox, "long")

    assert isinstance(cut.content, str)
    assert "[cut: 500000 characters in all, 1024 of them are shown]" in cut.content
    assert len(cut.content) < 1200


async def test_an_invalid_call_has_an_error_as_its_result(toolbox: McpToolbox) -> None:
    wrong = await call(toolbox, "count")

    assert wrong.is_error
    assert wrong.content


async def test_results_do_not_contain_the_secrets_of_the_server(toolbox: McpToolbox) -> None:
    leaked = await call(toolbox, "secret")

    assert leaked.content == "my token is [hidden]"
    assert (await tools_of(toolbox))["secret"].description == "Tells [hidden]."


async def test_calls_run_in_parallel(toolbox: McpToolbox) -> None:
    together = await asyncio.gather(call(toolbox, "together"), call(toolbox, "together"))

    assert [one.content for one in together] == ["both at once"] * 2


async def test_tools_added_later_are_offered(toolbox: McpToolbox) -> None:
    changed: list[str] = []
    toolbox.tell_changes(changed.append)
    assert "learned" not in await tools_of(toolbox)
    await call(toolbox, "learn")
    async with asyncio.timeout(LONGEST_WAIT):
        while "learned" not in await tools_of(toolbox):  # noqa: ASYNC110 - another program
            await asyncio.sleep(0.01)
    assert (await call(toolbox, "learned")).content == "new"
    assert changed == ["calendar"]


async def test_a_program_that_dies_is_started_again_and_its_call_is_not_repeated(
    toolbox: McpToolbox,
) -> None:
    with capture_logs() as logs:
        died = await call(toolbox, "die")
        again = await call(toolbox, "list_events", day="Friday")

    assert died.is_error
    assert "unknown whether" in str(died.content)
    assert again.content == "Nothing on Friday."
    assert TOKEN not in str(logs)


async def test_a_call_is_abandoned_after_its_timeout() -> None:
    port = free_port()
    settings = ToolServerSettings(url=f"http://127.0.0.1:{port}/mcp", timeout=1)
    async with http_server(port), box(settings) as own:
        await tools_of(own)
        result = await call(own, "hang")

    assert result.is_error
    assert "did not answer within 1 s" in str(result.content)


READS = ToolAnnotations(read_only_hint=True)
ADDS = ToolAnnotations(read_only_hint=False, destructive_hint=False)
DESTROYS = ToolAnnotations(destructive_hint=True)


@pytest.mark.parametrize(
    ("approve", "hints", "asked"),
    [
        ("hints", READS, False),
        ("hints", ADDS, False),
        ("hints", DESTROYS, True),
        ("hints", ToolAnnotations(), True),
        ("hints", None, True),
        ("always", READS, True),
        ("never", DESTROYS, False),
        (("re*",), READS, True),
        (("add",), DESTROYS, False),
    ],
)
async def test_the_settings_and_hints_decide_which_calls_need_approval(
    approve: Any, hints: ToolAnnotations | None, asked: bool
) -> None:
    assert needs_approval(stdio(approve=approve), "remove", hints) is asked


async def test_a_star_in_a_tool_pattern_also_matches_slashes() -> None:
    assert needs_approval(stdio(approve=("*remove*",)), "admin/remove_all", READS)
    assert not needs_approval(stdio(approve=("admin/add",)), "admin/remove_all", READS)


async def test_an_http_server_is_reconnected_after_an_outage() -> None:
    port = free_port()
    settings = ToolServerSettings(
        url=f"http://127.0.0.1:{port}/mcp", bearer=SecretRef(env="X"), timeout=LONGEST_WAIT
    )
    async with box(settings) as toolbox:
        async with http_server(port):
            first = await call(toolbox, "list_events", day="Monday")
            tool = (await tools_of(toolbox))["list_events"]
        away = await toolbox.call(tool, ToolCallPart(id="c2", name="x", arguments={"day": "x"}))
        async with http_server(port), asyncio.timeout(LONGEST_WAIT):
            while not (found := await tools_of(toolbox)):  # noqa: ASYNC110 - another program
                await asyncio.sleep(0.05)
            assert "list_events" in found
            back = await call(toolbox, "list_events", day="Friday")

    assert first.content == "Nothing on Monday."
    assert away.is_error
    assert back.content == "Nothing on Friday."


async def test_an_unreachable_server_has_no_tools_and_delays_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bridge.tools.mcp_server._FIRST_WAIT_S", 2 * LONGEST_WAIT)
    settings = ToolServerSettings(command="no-such-program-anywhere")
    with capture_logs() as logs:
        async with box(settings) as toolbox, asyncio.timeout(LONGEST_WAIT):
            assert await toolbox.tools(["calendar"]) == []
            while not any(log["event"] == "tool_server_failed" for log in logs):  # noqa: ASYNC110
                await asyncio.sleep(0.01)


async def test_a_configuration_with_tools_says_what_to_install_if_the_sdk_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    with pytest.raises(ConfigError, match=r"pip install '\.\[mcp\]'"):
        open_toolbox({"calendar": stdio()}, Secrets(), SystemClock(), None)


async def test_a_started_program_does_not_see_the_environment_of_the_bridge(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from mcp.client.stdio import get_default_environment

    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-1")

    assert "SLACK_BOT_TOKEN" not in get_default_environment()
    assert os.environ["SLACK_BOT_TOKEN"]
