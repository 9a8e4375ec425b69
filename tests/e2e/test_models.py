"""Models of four APIs in one room of three platforms, each speaking to an independent server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from llmock.pytest_plugin import LLMock

from tests.e2e.local_sandbox import Sandbox, configuration, local_sandbox, running

PATHS = {"openai-chat": "/v1", "openai-responses": "/v1", "anthropic": "/anthropic",
         "gemini": "/gemini"}  # fmt: skip


def with_agent(settings: dict[str, Any], kind: str, url: str) -> dict[str, Any]:
    options = {"model": "m", "api_key": {"env": "MODEL_KEY"}, "base_url": url + PATHS[kind]}
    agent = {"kind": kind, **options, "system": "You help.", "retries": 2}
    settings["agents"] = {"helper": agent}
    settings["rooms"]["general"]["agents"] = [{"agent": "helper", "listen": "always"}]
    return settings


def all_texts(sandbox: Sandbox, platform: str) -> str:
    return "\n".join(message.text for message in sandbox.standing(platform, "general"))


def raw(sandbox: Sandbox, platform: str) -> str:
    """With what stands in blocks, embeds and cards."""
    return json.dumps([message.raw for message in sandbox.standing(platform, "general")])


@pytest.mark.parametrize("kind", PATHS)
async def test_a_question_on_one_platform_is_answered_on_all(
    kind: str, llmock: LLMock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MODEL_KEY", "sk-never-shown-1234567890")
    llmock.rate_limit(times=1, retry_after=0.1)
    llmock.reply("Paris is the capital of France.")
    llmock.reply("About two million people live there.")
    async with local_sandbox(channels=1) as sandbox:
        settings = configuration(sandbox, tmp_path / "b.sqlite3", channels=["general"])
        async with running(sandbox, with_agent(settings, kind, llmock.url)):
            platforms = list(sandbox.platforms)
            await sandbox.say(platforms[0], "general", "What is the capital of France?")
            await sandbox.until(
                lambda: all(
                    "Paris is the capital" in all_texts(sandbox, platform) for platform in platforms
                ),
                20,
            )
            await sandbox.say(platforms[1], "general", "And how many people live there?")
            await sandbox.until(
                lambda: all(
                    "two million" in all_texts(sandbox, platform) for platform in platforms
                ),
                20,
            )

            texts = [all_texts(sandbox, platform) for platform in platforms]

    requests = [json.dumps(request.body) for request in llmock.requests]
    assert len(requests) == 3
    assert "Paris is the capital of France." in requests[2]
    assert requests[2].index("What is the capital") < requests[2].index("how many people")
    assert "You help." in requests[2]
    assert all(text.count("Paris is the capital of France.") == 1 for text in texts)
    assert "never-shown" not in "".join([*requests, *texts])


async def test_a_notice_reports_a_broken_answer_of_a_model(
    llmock: LLMock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MODEL_KEY", "sk-never-shown-1234567890")
    llmock.reply("one two three four five six seven eight nine ten")
    llmock.disconnect(after_chunks=5, times=1)
    async with local_sandbox(channels=1) as sandbox:
        settings = configuration(sandbox, tmp_path / "b.sqlite3", channels=["general"])
        async with running(sandbox, with_agent(settings, "openai-chat", llmock.url)):
            platforms = list(sandbox.platforms)
            await sandbox.say(platforms[0], "general", "Count to ten")
            await sandbox.until(
                lambda: all(
                    "connection to its model broke" in raw(sandbox, platform)
                    for platform in platforms
                )
            )

            assert all("one two" in raw(sandbox, platform) for platform in platforms)
