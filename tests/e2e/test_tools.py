"""A model calls tools of an MCP server, and people on three platforms allow it."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from llmock.pytest_plugin import LLMock

from bridge.sandbox.feed import LocalMessage
from bridge.sandbox.user_actions import LocalUser
from tests.e2e.local_sandbox import Sandbox, configuration, local_sandbox, running
from tests.e2e.test_cards import hands, with_words
from tests.free_ports import free_port
from tests.tools.http_server import http_server

ROOT = Path(__file__).parents[2]
# Without IRC: buttons of IRC are numbers: see test_irc.py.
PLATFORMS = ("slack", "discord", "teams")
TOKEN = "cal-token-1234567890"


def program(tmp_path: Path) -> dict[str, Any]:
    return {
        "command": sys.executable, "args": ["-m", "tests.tools.calendar_server"],
        "folder": str(ROOT), "stderr": str(tmp_path / "stderr"),
        "env": {"CALENDAR_TOKEN": {"env": "CALENDAR_TOKEN"}, "REMOVED": {"env": "REMOVED"}},
    }  # fmt: skip


def with_tools(
    settings: dict[str, Any], url: str, server: dict[str, Any], **room: Any
) -> dict[str, Any]:
    settings["agents"] = {
        "helper": {
            "kind": "openai-chat", "model": "m", "api_key": {"env": "MODEL_KEY"},
            "base_url": f"{url}/v1", "tools": ["calendar"],
        }
    }  # fmt: skip
    settings["tools"] = {"calendar": server}
    settings["rooms"]["general"]["agents"] = [{"agent": "helper", "listen": "always"}]
    settings["rooms"]["general"].update(room)
    return settings


@pytest.fixture
def removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], str]:
    """What the tool removed, a line each."""
    path = tmp_path / "removed"
    path.touch()
    monkeypatch.setenv("MODEL_KEY", "sk-never-shown-1234567890")
    monkeypatch.setenv("CALENDAR_TOKEN", TOKEN)
    monkeypatch.setenv("REMOVED", str(path))
    return path.read_text


def everywhere(sandbox: Sandbox, words: str) -> bool:
    return all(with_words(sandbox, platform, words) for platform in PLATFORMS)


def asks(sandbox: Sandbox, platform: str) -> bool:
    """Whether a request still stands there; a note may quote one."""
    texts = [json.dumps(message.raw) for message in sandbox.standing(platform, "general")]
    return any("asks for leave" in text and "may decide this" not in text for text in texts)


def request(sandbox: Sandbox, platform: str) -> LocalMessage:
    message = with_words(sandbox, platform, "asks for leave")
    assert message
    return message


async def allow(
    sandbox: Sandbox, platform: str, local_user: LocalUser, button: str = "Allow"
) -> None:
    outcome = await local_user.press(request(sandbox, platform).id, button)
    assert outcome.sent, (platform, outcome)
    assert not outcome.failed, (platform, outcome)


async def test_only_approvers_allow_a_tool_call_and_every_platform_shows_the_decision(
    llmock: LLMock, tmp_path: Path, removed: Callable[[], str]
) -> None:
    llmock.call_tool("calendar__remove", {"title": "Lunch"})
    llmock.reply("Lunch is gone.")
    async with local_sandbox(channels=1) as sandbox:
        settings = configuration(sandbox, tmp_path / "b.sqlite3", channels=["general"])
        with_tools(settings, llmock.url, program(tmp_path))
        async with running(sandbox, settings) as (bridge, _):
            await sandbox.say("slack", "general", "Remove the lunch")
            await sandbox.until(lambda: everywhere(sandbox, "asks for leave"))
            people = hands(sandbox)

            await allow(sandbox, "discord", people["discord"])
            await sandbox.until(
                lambda: any(
                    "may decide" in whisper.text for whisper in people["discord"].whispers()
                )
            )
            await allow(sandbox, "teams", people["teams"])
            await sandbox.until(lambda: with_words(sandbox, "teams", "may decide this") is not None)
            assert removed() == ""
            await allow(sandbox, "slack", people["slack"])
            await sandbox.until(lambda: everywhere(sandbox, "Lunch is gone."))
            await sandbox.until(lambda: everywhere(sandbox, "allowed by"))
            await bridge.router.settled()

            assert removed() == "Lunch\n"
            assert not with_words(sandbox, "slack", "may decide this")
            assert not any(asks(sandbox, platform) for platform in PLATFORMS)
            assert everywhere(sandbox, "🔧 calendar: remove")
            (approval,) = await bridge.store.approvals()
            assert [decision.allowed for decision in approval.decisions] == [True]

    bodies = json.dumps([request.body for request in llmock.requests])
    assert "Removed Lunch." in bodies
    assert TOKEN not in bodies


async def test_a_press_on_any_platform_counts_and_a_refusal_reaches_the_model(
    llmock: LLMock, tmp_path: Path, removed: Callable[[], str]
) -> None:
    port = free_port()
    async with http_server(port), local_sandbox(channels=1) as sandbox:
        settings = configuration(sandbox, tmp_path / "b.sqlite3", channels=["general"])
        server = {"url": f"http://127.0.0.1:{port}/mcp"}
        with_tools(settings, llmock.url, server, show_tools="full")
        settings["admins"] = ["*"]
        async with running(sandbox, settings):
            for platform, button in zip(PLATFORMS, ("Allow", "Refuse", "Allow"), strict=True):
                llmock.call_tool("calendar__remove", {"title": f"Event of {platform}"})
                llmock.reply(f"Done on {platform}.")
                await sandbox.say("slack", "general", f"Remove what {platform} says")
                await sandbox.until(lambda: everywhere(sandbox, "asks for leave"))
                await allow(sandbox, platform, hands(sandbox)[platform], button)
                words = f"Done on {platform}."
                await sandbox.until(lambda expected=words: everywhere(sandbox, expected))
                await sandbox.until(
                    lambda: not any(asks(sandbox, platform) for platform in PLATFORMS)
                )

            assert removed() == "Event of slack\nEvent of teams\n"
            assert everywhere(sandbox, "refused by")
            assert everywhere(sandbox, "Removed Event of slack.")

    assert "A person refused this call" in json.dumps([request.body for request in llmock.requests])


async def test_the_result_of_a_tool_pings_nobody_and_hides_no_link(
    llmock: LLMock, tmp_path: Path, removed: Callable[[], str]
) -> None:
    llmock.call_tool("calendar__injected", {})
    llmock.reply("I read it.")
    port = free_port()
    async with http_server(port), local_sandbox(channels=1) as sandbox:
        settings = configuration(sandbox, tmp_path / "b.sqlite3", channels=["general"])
        server = {"url": f"http://127.0.0.1:{port}/mcp"}
        with_tools(settings, llmock.url, server, show_tools="full")
        async with running(sandbox, settings):
            await sandbox.say("slack", "general", "What is new?")
            await sandbox.until(lambda: everywhere(sandbox, "I read it."))
            raws = {platform: with_words(sandbox, platform, "I read it.") for platform in PLATFORMS}

    for platform, message in raws.items():
        assert message
        check_harmless(platform, message)
    assert removed() == ""


def check_harmless(platform: str, message: LocalMessage) -> None:
    """No mention that rings, no picture that is fetched, no link whose target is not seen."""
    raw = re.sub(r"```.*?```", "", json.dumps(message.raw, ensure_ascii=False))  # code is code
    match platform:
        case "slack":
            assert '"type": "broadcast"' not in raw
            assert '"type": "user"' not in raw
            assert "image_url" not in raw
            assert "<!channel>" not in raw.replace("&lt;!channel&gt;", "")
        case "discord":
            assert message.raw["mention_everyone"] is False
            assert message.raw["mentions"] == []
            assert "](https://evil" not in raw.replace("\\\\]", "")
        case _:
            assert "<at>" not in raw
            assert '"type": "mention"' not in raw
            assert "<img" not in raw
            assert 'href="https://evil' not in raw


async def test_a_model_hands_over_to_another_agent(
    llmock: LLMock, removed: Callable[[], str], tmp_path: Path
) -> None:
    llmock.call_tool("hand_over", {"to": "billing", "why": "it is about money"})
    llmock.reply("My colleague goes on.")
    async with local_sandbox(channels=1) as sandbox:
        settings = configuration(sandbox, tmp_path / "b.sqlite3", channels=["general"])
        with_tools(settings, llmock.url, program(tmp_path), hand_over=True)
        settings["agents"]["billing"] = {"kind": "echo"}
        settings["rooms"]["general"]["agents"].append({"agent": "billing"})
        async with running(sandbox, settings):
            await sandbox.say("slack", "general", "Where is my invoice?")
            for words in ("My colleague goes on", "billing answers in this room from now on"):
                await sandbox.until(lambda w=words: everywhere(sandbox, w))
            await sandbox.say("discord", "general", "Number 4711?")
            await sandbox.until(lambda: everywhere(sandbox, "Number 4711"))
            request_count = len(llmock.requests)

    assert request_count == 2  # the model was not asked again
    tools = {tool["function"]["name"] for tool in llmock.requests[0].body["tools"]}
    assert "hand_over" in tools
