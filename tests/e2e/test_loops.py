"""Loops cannot happen: two bridges that face each other, and another in the same channels."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient

from bridge.app.build import Bridge
from connectors.discord.sandbox.local import LocalDiscord
from tests.e2e.local_sandbox import Sandbox, configuration, local_sandbox, running


def second(local: Sandbox, settings: dict[str, Any], store: Path) -> dict[str, Any]:
    """Another bridge with apps of its own, in the same channels."""
    accounts = {name: local.account(name, app=1) for name in local.platforms}
    return {**settings, "accounts": accounts, "store": {"path": str(store)}}


def texts(local: Sandbox, platform: str) -> list[str]:
    return [message.text for message in local.standing(platform, "general")]


async def quiet(local: Sandbox, *bridges: Bridge, seconds: float = 1.5) -> dict[str, list[str]]:
    """What stands everywhere when the bridges have nothing to do and nothing has changed for a
    while. Tests wait first for all that must come: what is still to come then is a loop."""
    while True:
        before = {name: texts(local, name) for name in local.platforms}
        await asyncio.sleep(seconds)
        for bridge in bridges:
            await bridge.router.settled()
        if before == {name: texts(local, name) for name in local.platforms}:
            return before


async def test_two_bridges_that_face_each_other_carry_nothing_round(tmp_path: Path) -> None:
    async with local_sandbox() as local:
        settings = configuration(local, tmp_path / "one.sqlite3", channels=("general",))
        other = second(local, settings, tmp_path / "two.sqlite3")
        async with running(local, settings) as (first, _), running(local, other) as (two, _):
            await local.say("slack", "general", "from Slack")
            await local.until(lambda: texts(local, "discord").count("from Slack") == 2)
            await local.say("discord", "general", "from Discord")
            await local.until(lambda: texts(local, "slack").count("from Discord") == 2)
            await local.until(lambda: len(texts(local, "teams")) >= 4)
            texts_by_platform = await quiet(local, first, two)
            assert not await first.store.paused_rooms()
            assert not await two.store.paused_rooms()

    assert sorted(texts_by_platform["slack"]) == ["from Discord"] * 2 + ["from Slack"]
    assert sorted(texts_by_platform["discord"]) == ["from Discord"] + ["from Slack"] * 2
    assert len(texts_by_platform["teams"]) == 4


@asynccontextmanager
async def relay(
    local: Sandbox, carries: Callable[[str, str], tuple[str, str]] = lambda who, text: (who, text)
) -> AsyncGenerator[Callable[[], int]]:
    """Another bridge: it copies whatever it sees from one general to the other, but for its own.
    Gives how many copies it has made."""
    discord = local.platforms["discord"]
    assert isinstance(discord, LocalDiscord)
    guild, channel = local.place("discord", "general")
    _, slack_channel = local.place("slack", "general")
    app = local.platforms["slack"].world().apps[1]
    slack = AsyncWebClient(app["bot_token"], base_url=f"{local.context.base_url}/slack/api/")
    hook = discord.create_webhook_as(channel, local.person("discord", guild), "relay")
    address = f"{local.context.base_url}/discord/api/v10/webhooks/{hook.id}/{hook.token}?wait=true"
    made: set[str] = set()

    async def to_slack(who: str, text: str) -> str:
        name, words = carries(who, text)
        answer = await slack.chat_postMessage(channel=slack_channel, text=words, username=name)
        return str(answer["ts"])

    async def to_discord(who: str, text: str) -> str:
        name, words = carries(who.replace("Discord", "D"), text)  # a name that Discord takes
        async with http.post(address, json={"username": name, "content": words}) as answer:
            assert answer.status == 200, (name, words, await answer.text())
            return str((await answer.json())["id"])

    async def copying() -> None:
        ways: tuple[tuple[str, Callable[[str, str], Awaitable[str]]], ...] = (
            ("slack", to_discord), ("discord", to_slack),
        )  # fmt: skip
        copied: set[str] = set()
        while True:
            for platform, carry in ways:
                for message in list(local.standing(platform, "general")):
                    if message.id not in copied and message.id not in made:
                        copied.add(message.id)
                        made.add(await carry(message.author, message.text))
            await asyncio.sleep(0.02)

    async with aiohttp.ClientSession() as http:
        task = asyncio.create_task(copying())
        try:
            yield lambda: len(made)
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task


async def test_what_another_bridge_copied_is_not_copied_again(tmp_path: Path) -> None:
    async with local_sandbox(names=("slack", "discord")) as local:
        settings = configuration(local, tmp_path / "one.sqlite3", channels=("general",))
        async with running(local, settings) as (bridge, _), relay(local) as made:
            await local.say("slack", "general", "a word *from* Slack")
            await local.say("discord", "general", "a word from Discord")
            remaining = await quiet(local, bridge)
            assert made() <= 4  # each original, and our copy of it
            assert not await bridge.store.paused_rooms()

    assert len(remaining["slack"]) <= 4
    assert len(remaining["discord"]) <= 4


async def test_another_bridge_that_changes_every_word_runs_into_the_budget(tmp_path: Path) -> None:
    turns = iter(range(10_000))

    def scrambled(who: str, text: str) -> tuple[str, str]:
        return who, f"{next(turns)} {text[:20][::-1]}"

    async with local_sandbox(names=("slack", "discord"), limits=False) as local:
        settings = configuration(local, tmp_path / "one.sqlite3", channels=("general",))
        settings["rooms"]["general"]["bots_per_minute"] = 10
        async with running(local, settings) as (bridge, _), relay(local, scrambled) as made:
            await local.say("slack", "general", "it begins")
            await local.until(lambda: "paused" in " ".join(texts(local, "slack")))
            await quiet(local, bridge)
            (paused,) = await bridge.store.paused_rooms()
            assert made() < 40

    assert "bots said more than 10 things" in paused.reason


async def test_rooms_that_share_a_channel_do_not_run_into_one_another(tmp_path: Path) -> None:
    async with local_sandbox() as local:
        settings = configuration(local, tmp_path / "one.sqlite3", channels=("general",))
        slack, discord, teams, *_ = settings["rooms"]["general"]["members"]
        settings["rooms"] = {
            "one": {"members": [slack, discord]},
            "two": {"members": [discord, teams]},
        }
        async with running(local, settings) as (bridge, _):
            await local.say("slack", "general", "to the shared one alone")
            await local.say("discord", "general", "to both")
            await local.say("teams", "general", "from the other end")
            await local.until(lambda: len(texts(local, "discord")) >= 3)
            await local.until(lambda: min(len(texts(local, p)) for p in ("slack", "teams")) >= 2)
            remaining = await quiet(local, bridge)

    assert sorted(remaining["discord"]) == [
        "from the other end",
        "to both",
        "to the shared one alone",
    ]
    assert sorted(remaining["slack"]) == ["to both", "to the shared one alone"]
    assert len(remaining["teams"]) == 2
