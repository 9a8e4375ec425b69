"""A changed file reaches a running bridge; connections that need not end do not."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from bridge.app.build import Bridge
from bridge.app.control import running_bridge
from bridge.app.run import run
from bridge.app.settings.file import read_settings, settings_of
from bridge.app.settings.sections import Settings
from bridge.errors import BridgeError, ConfigError
from bridge.model import AccountId
from bridge.sandbox.faults import Fault
from bridge.sandbox.feed import LocalMessage
from tests.app.running import SMALL, cli
from tests.e2e.local_sandbox import Sandbox, configuration, connect, local_sandbox
from tests.waiting import LONGEST_WAIT


def write(path: Path, settings: dict[str, Any]) -> None:
    path.write_text(yaml.safe_dump(settings))


def misspell(path: Path) -> None:
    path.write_text(path.read_text().replace("members:", "membrs:"))


@asynccontextmanager
async def from_file(
    local: Sandbox, settings: dict[str, Any], path: Path
) -> AsyncGenerator[tuple[Bridge, str]]:
    write(path, settings)
    ready: asyncio.Future[tuple[Bridge, str]] = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(
        run(
            read_settings(path),
            ready=lambda bridge, url: ready.set_result((bridge, url)),
            source=lambda: read_settings(path),
        )
    )
    try:
        await asyncio.wait({ready, task}, return_when=asyncio.FIRST_COMPLETED)
        bridge, url = ready.result()
        await connect(local, settings, url)
        yield bridge, url
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def words_of(message: LocalMessage) -> str:
    """The last line: Teams shows the author of a copy above the words."""
    return message.text.rpartition("\n")[2]


def texts(local: Sandbox, platform: str, channel: str = "general") -> list[str]:
    return [words_of(message) for message in local.standing(platform, channel)]


def posts_of_people(local: Sandbox, platform: str) -> list[str]:
    """Without the bridge's greeting, which a channel that joins receives at any time."""
    return [
        words_of(message)
        for message in local.standing(platform, "general")
        if author_of(message) != "Bridge"
    ]


def author_of(message: LocalMessage) -> str:
    """The author that readers see: the first line of a copy on Teams."""
    byline, line_end, _ = message.text.partition("\n")
    return byline.strip("*") if message.platform == "teams" and line_end else message.author


async def test_rooms_options_and_accounts_change_while_others_stay_connected(
    tmp_path: Path,
) -> None:
    path = tmp_path / "bridge.yaml"
    async with local_sandbox() as local:
        settings = configuration(local, tmp_path / "s.sqlite3", channels=("general",))
        everybody = settings["accounts"]
        settings["accounts"] = {k: v for k, v in everybody.items() if k != "teams"}
        members = settings["rooms"]["general"]["members"]
        settings["rooms"]["general"]["members"] = [m for m in members if m["account"] != "teams"]
        async with from_file(local, settings, path) as (bridge, url):
            slack, discord = bridge.connectors["slack"], bridge.connectors["discord"]  # type: ignore[index]
            health = discord.abilities.health
            assert health
            since = health.current().connected_since
            await local.say("slack", "general", "one")
            await local.until(lambda: texts(local, "discord") == ["one"])

            settings["accounts"], settings["rooms"]["general"]["members"] = everybody, members
            settings["rooms"]["general"]["exclude"] = [{"matching": "secret"}]
            write(path, settings)
            changes = await bridge.reload()
            await connect(local, settings, url)
            await local.say("slack", "general", "a secret")
            await local.say("slack", "general", "two")
            await local.until(lambda: posts_of_people(local, "teams") == ["two"])
            await local.say("teams", "general", "three")
            await local.until(lambda: texts(local, "discord") == ["one", "two", "three"])
            assert changes == ["account 'teams' added", "room 'general' changed"]
            assert bridge.connectors["slack"] is slack  # type: ignore[index]
            assert health.current().connected_since == since

            del settings["accounts"]["discord"]
            settings["rooms"]["general"]["members"] = [
                m for m in members if m["account"] != "discord"
            ]
            settings["people"] = {"link_by_email": True}
            settings["catch_up"] = {"reconcile_hours": 1}
            write(path, settings)
            assert await bridge.reload() == [
                "account 'discord' removed", "room 'general' changed", "people changed",
                "catch_up changed: takes effect after a restart",
            ]  # fmt: skip
            await local.say("slack", "general", "four")
            await local.until(lambda: posts_of_people(local, "teams") == ["two", "three", "four"])
            assert texts(local, "discord") == ["one", "two", "three"]
            (room,) = bridge.rooms.all
            assert room.epoch == 3


async def test_an_invalid_file_keeps_the_last_configuration_and_reports_the_mistake(
    tmp_path: Path,
) -> None:
    path = tmp_path / "bridge.yaml"
    async with local_sandbox(names=("slack", "discord")) as local:
        settings = configuration(local, tmp_path / "s.sqlite3", channels=("general",))
        async with from_file(local, settings, path) as (bridge, _):
            await asyncio.to_thread(misspell, path)
            with pytest.raises(ConfigError, match="unknown key; did you mean 'members'"):
                await bridge.reload()
            running = await asyncio.to_thread(running_bridge, tmp_path / "s.sqlite3")
            assert running is not None
            with pytest.raises(BridgeError, match="did you mean 'members'"):
                await asyncio.to_thread(running.ask, "/admin/reload", {})
            assert "did you mean 'members'" in " ".join(bridge.problems)
            await local.say("slack", "general", "still here")
            await local.until(lambda: texts(local, "discord") == ["still here"])
            for wrong in (path.read_text(), "rooms: [\n" + path.read_text()):
                await asyncio.to_thread(path.write_text, wrong)
                bridge.problems.clear()
                result = await asyncio.to_thread(cli, "reload", "-c", str(path))
                assert result.exit_code == 1
                assert "the last valid one stays in effect" in result.stderr
                assert len(bridge.problems) == 1  # the bridge itself has read it
                status = await asyncio.to_thread(cli, "status", "-c", str(path))
                assert (
                    "problem: the configuration file is not valid, so the last valid one stays"
                    in status.output
                )
                assert "discord  discord   connected" in status.output

            write(path, settings)
            assert await asyncio.to_thread(running.ask, "/admin/reload", {}) == {"changes": []}
            assert bridge.problems == []


async def test_a_hangup_signal_during_the_start_reloads_the_file(tmp_path: Path) -> None:
    settings = settings_of(yaml.safe_load(SMALL) | {"store": {"path": str(tmp_path / "s.sqlite3")}})
    read = asyncio.Event()

    def again() -> Settings:
        read.set()
        return settings

    running = asyncio.create_task(run(settings, source=again))
    try:
        await asyncio.sleep(0)  # it has begun, and opens its store
        os.kill(os.getpid(), signal.SIGHUP)
        await asyncio.wait_for(read.wait(), LONGEST_WAIT)
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def test_a_new_channel_of_a_room_is_copied_from_then_on(tmp_path: Path) -> None:
    path = tmp_path / "bridge.yaml"
    async with local_sandbox(names=("slack", "discord")) as local:
        settings = configuration(local, tmp_path / "s.sqlite3", channels=("general",))
        async with from_file(local, settings, path) as (bridge, _):
            await local.say("slack", "random", "said before")
            workspace, channel = local.place("slack", "random")
            settings["rooms"]["general"]["members"].append(
                {"account": "slack", "workspace": workspace, "channel": channel}
            )
            write(path, settings)
            await bridge.reload()
            await local.say("slack", "random", "said after")
            await local.until(lambda: texts(local, "discord") == ["said after"])
            await local.until(lambda: texts(local, "slack") == ["said after"])
            await local.until(lambda: len(texts(local, "slack", "random")) == 3)
            assert any("is bridged to" in text for text in texts(local, "slack", "random"))
            await bridge.reload()
            await local.say("slack", "random", "once more")
            await local.until(lambda: texts(local, "slack")[-1] == "once more")
            assert len(texts(local, "slack", "random")) == 4  # told once


async def test_posts_during_a_change_of_an_account_arrive_once(
    tmp_path: Path,
) -> None:
    path = tmp_path / "bridge.yaml"
    async with local_sandbox(names=("slack", "teams")) as local:
        settings = configuration(local, tmp_path / "s.sqlite3", channels=("general",))
        async with from_file(local, settings, path) as (bridge, _):
            before = bridge.connectors["teams"]  # type: ignore[index]
            where = "teams:activity.post:*"
            local.context.faults.add(Fault(kind="late_answer", where=where, seconds=0.5))
            await local.say("slack", "general", "one")
            await local.until(lambda: texts(local, "teams") == ["one"])
            settings["accounts"]["teams"]["drive_hosts"] = ["*.files.example"]
            write(path, settings)
            await bridge.reload()
            assert bridge.connectors["teams"] is not before  # type: ignore[index]
            await local.say("slack", "general", "two")
            await local.until(lambda: texts(local, "teams") == ["one", "two"])
            assert await bridge.store.dead_letters() == []


def parts_of(bridge: Bridge) -> list[object]:
    """What a reload changes, each as it is now."""
    return [
        bridge.settings, dict(bridge.connectors), dict(bridge.agents), bridge.rooms.all,
        dict(bridge.tools.servers),
    ]  # fmt: skip


def with_everything_changed(settings: dict[str, Any]) -> dict[str, Any]:
    """Both accounts, the room, the agents and the tools are others."""
    accounts = settings["accounts"]
    accounts = {
        "slack": accounts["slack"] | {"signing_secret": {"env": "PATH"}},
        "discord": accounts["discord"] | {"cdn_url": "http://127.0.0.1:9"},
    }
    room = settings["rooms"]["general"] | {"exclude": [{"matching": "secret"}]}
    return settings | {
        "accounts": accounts,
        "rooms": {"general": room},
        "agents": settings["agents"] | {"parrot": {"kind": "echo"}},
        "tools": {"shed": {"url": "http://127.0.0.1:9/mcp"}},
        "admins": ["slack:*"],
    }


@pytest.mark.parametrize(
    "step",
    [
        "bridge.app.reload.build_connectors",
        "bridge.app.reload.build_agents",
        "bridge.app.rooms.find.RoomFinder.find",
        "bridge.app.reload.agent_pictures",
        "bridge.app.reload.quotas_of",
    ],
)
async def test_a_failed_reload_keeps_the_whole_old_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise ConfigError("half-way")

    path = tmp_path / "bridge.yaml"
    async with local_sandbox(names=("slack", "discord")) as local:
        settings = configuration(local, tmp_path / "s.sqlite3", channels=("general",))
        async with from_file(local, settings, path) as (bridge, _):
            before = parts_of(bridge)
            write(path, with_everything_changed(settings))
            monkeypatch.setattr(step, fails)
            with pytest.raises(ConfigError, match="half-way"):
                await bridge.reload()
            assert parts_of(bridge) == before
            await local.say("slack", "general", "a secret")
            await local.until(lambda: texts(local, "discord") == ["a secret"])


async def test_a_reload_that_fails_while_accounts_stop_restarts_them_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, stopped = tmp_path / "bridge.yaml", list[AccountId]()
    async with local_sandbox(names=("slack", "discord")) as local:
        settings = configuration(local, tmp_path / "s.sqlite3", channels=("general",))
        async with from_file(local, settings, path) as (bridge, url):
            before = parts_of(bridge)
            stop = bridge.router.reconfigure.stop_account

            async def fails_at_the_second(account: AccountId) -> None:
                await stop(account)
                stopped.append(account)
                if len(stopped) > 1:
                    raise ConfigError("half-way")

            monkeypatch.setattr(bridge.router.reconfigure, "stop_account", fails_at_the_second)
            write(path, with_everything_changed(settings))
            with pytest.raises(ConfigError, match="half-way"):
                await bridge.reload()
            assert sorted(stopped) == ["discord", "slack"]
            assert parts_of(bridge) == before
            await connect(local, settings, url)
            await local.say("slack", "general", "one")
            await local.until(lambda: texts(local, "discord") == ["one"])
            await local.say("discord", "general", "two")
            await local.until(lambda: texts(local, "slack") == ["one", "two"])


async def test_an_old_connection_that_does_not_close_does_not_delay_a_reload(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails() -> None:
        raise RuntimeError("cannot be closed")

    path = tmp_path / "bridge.yaml"
    async with local_sandbox(names=("slack", "discord")) as local:
        settings = configuration(local, tmp_path / "s.sqlite3", channels=("general",))
        async with from_file(local, settings, path) as (bridge, url):
            before = dict(bridge.connectors)
            for connector in before.values():
                monkeypatch.setattr(connector, "close", fails)
            write(path, with_everything_changed(settings))
            await bridge.reload()
            monkeypatch.undo()
            try:
                assert "parrot" in bridge.agents
                assert list(bridge.tools.servers) == ["shed"]
                assert not set(bridge.connectors.values()) & set(before.values())
                await connect(local, settings, url)
                await local.say("discord", "general", "a secret")
                await local.say("discord", "general", "one")
                await local.until(lambda: texts(local, "slack") == ["one"])
            finally:
                for connector in before.values():
                    await connector.close()
