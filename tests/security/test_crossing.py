"""Hostile words and names through the whole bridge: judged by what stands on the platforms."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from bridge.agents import echo
from bridge.sandbox.feed import LocalMessage
from tests.e2e.local_sandbox import Sandbox, configuration, local_sandbox, running
from tests.security.hostile import LINKS, MARKUP, PINGS
from tests.security.test_injection import safe, walk

PLATFORMS = ("slack", "discord", "teams")
NAME = "**Boss** <!channel> <at>Ann</at> \u202e<@1> @everyone `](http://e)"
TEXTS = [
    re.sub("[\x00-\x09\x0b-\x1f\ud800-\udfff]", "", "\n\n".join(t)) for t in (PINGS, MARKUP, LINKS)
]


@pytest_asyncio.fixture
async def local() -> AsyncGenerator[Sandbox]:
    async with local_sandbox(limits=False) as sandbox:
        for platform in PLATFORMS:
            rename(sandbox, platform)
        yield sandbox


def rename(local: Sandbox, platform: str) -> None:
    """The first person there takes a hostile name."""
    workspace, _ = local.place(platform, "general")
    person = local.person(platform, workspace)
    there: Any = local.platforms[platform]
    match platform:
        case "slack":
            there.slack.workspaces[workspace].people[person].name = NAME
        case "discord":
            there.state.users[int(person)].global_name = NAME
        case _:
            object.__setattr__(there.tenant.people[person], "name", NAME)


def check(message: LocalMessage) -> None:
    raw = message.raw
    match message.platform:
        case "slack":
            assert not re.search(r"<(?!!date)[@#!]", raw["text"]), raw
            kinds = {element.get("type") for element in walk(raw["blocks"])}
            assert not kinds & {"user", "usergroup", "broadcast", "channel"}, raw
            links = [e["url"] for e in walk(raw["blocks"]) if e.get("type") == "link"]
            assert all(safe(url) for url in links), links
            assert "\u202e" not in message.author
        case "discord":
            assert (raw["mentions"], raw["mention_roles"], raw["mention_everyone"]) == (
                [],
                [],
                False,
            )
            assert "\u202e" not in message.author
        case _:
            assert not [item for item in raw.get("entities", ()) if item["type"] == "mention"]
            assert "<at" not in raw["text"]
            assert "\u202e" not in raw["text"].split("\n\n")[0]


async def test_nothing_that_a_person_says_pings_or_forges_anywhere(
    local: Sandbox, tmp_path: Path
) -> None:
    settings = configuration(local, tmp_path / "b.sqlite3", channels=["general"])
    async with running(local, settings):
        for text in TEXTS:
            for platform in PLATFORMS:
                await local.say(platform, "general", text[:2000])
        await local.until(
            lambda: all(len(copies(local, p)) >= 2 * len(TEXTS) for p in PLATFORMS), 20
        )

    for platform in PLATFORMS:
        for copy in copies(local, platform):
            check(copy)
    bold = [copy.raw["text"].split("\n\n")[0] for copy in copies(local, "teams")]
    assert all(line.startswith("**") and "**" not in line[2:-2] for line in bold)


async def test_nothing_that_an_agent_says_pings_anywhere(
    local: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = "\n\n".join((*PINGS, *LINKS))
    monkeypatch.setattr(echo, "reply", lambda _turn: words)
    settings = configuration(local, tmp_path / "b.sqlite3", channels=["general"])
    settings["agents"]["echo"]["pace"] = 0
    async with running(local, settings):
        await local.say("discord", "general", "@echo")
        await local.until(lambda: all(answers(local, p) for p in PLATFORMS), 20)

    for platform in PLATFORMS:
        for answer in answers(local, platform):
            check(answer)


def copies(local: Sandbox, platform: str) -> list[LocalMessage]:
    return [message for message in local.standing(platform, "general") if message.bot]


def answers(local: Sandbox, platform: str) -> list[LocalMessage]:
    return [copy for copy in copies(local, platform) if "javascript" in copy.text]
