"""Rooms by pattern: channels join by their names, also those that appear later."""

from __future__ import annotations

from pathlib import Path

import aiohttp

from bridge.app.reload import Reloader
from bridge.app.room_changes.patterns import update_rooms
from bridge.app.settings.file import settings_of
from bridge.sandbox.faults import Fault
from tests.e2e.local_sandbox import Sandbox, configuration, local_sandbox, running


def texts(local: Sandbox, platform: str, workspace: str, channel: str) -> list[str]:
    """The posts of people, without the notices of the bridge on who joins and who reads there."""
    texts_there = [
        message.text for message in local.platforms[platform].messages(workspace, channel)
    ]
    return [
        text
        for text in texts_there
        if "is bridged to" not in text and "joined this room" not in text
    ]


def join_notices(local: Sandbox, platform: str, workspace: str, channel: str) -> int:
    """How often."""
    lines = [message.text for message in local.platforms[platform].messages(workspace, channel)]
    return sum("joined this room: what is said here is also read by" in line for line in lines)


async def test_all_channels_of_a_name_are_one_room_and_new_ones_join(tmp_path: Path) -> None:
    async with local_sandbox(names=("slack", "discord")) as local:
        settings = configuration(local, tmp_path / "s.sqlite3", channels=("general",))
        guild, _ = local.place("discord", "general")
        settings["rooms"] = {
            "all": {
                "members": [
                    {"account": "slack", "channel": "#general"},
                    {"account": "disc*", "channel": "general*", "workspace": guild},
                    {"account": "slack", "channel": "#misspelt"},  # is told, and holds up nobody
                ]
            }
        }
        token = local.platforms["discord"].world().apps[0]["token"]
        address = f"{local.context.base_url}/discord/api/v10/guilds/{guild}/channels"
        headers = {"Authorization": f"Bot {token}"}
        async with running(local, settings) as (bridge, _):
            assert len(bridge.rooms.all[0].members) == 2
            async with aiohttp.ClientSession(headers=headers) as http:
                for name in ("elsewhere", "general-two"):
                    async with http.post(address, json={"name": name, "type": 0}) as answer:
                        assert answer.status == 201, await answer.text()
                        new = str((await answer.json())["id"])
            await local.until(lambda: len(bridge.rooms.all[0].members) == 3)
            await local.say("slack", "general", "to all of them")
            await local.until(lambda: texts(local, "discord", guild, new) == ["to all of them"])
            assert [m.name for m in bridge.rooms.all[0].members] == [
                "general", "general", "general-two",
            ]  # fmt: skip
            (problem,) = bridge.problems
            assert "There is no channel '#misspelt'" in problem


async def test_channels_of_a_pattern_stay_through_renames_and_outages(
    tmp_path: Path,
) -> None:
    """At a reload, too: what a pattern meant before holds until it can be looked at again; a
    channel that was found by its name is the same under another."""
    async with local_sandbox(names=("slack", "discord")) as local:
        settings = configuration(local, tmp_path / "s.sqlite3", channels=("general",))
        guild, _ = local.place("discord", "general")
        settings["rooms"] = {
            "all": {
                "members": [
                    {"account": "{slack,discord}", "channel": "quiet"},
                    {"account": "disc*", "channel": "gen*", "workspace": guild},
                    {"account": "slack", "channel": "#general"},
                    {"account": "discord", "channel": "random", "workspace": guild},
                ]
            }
        }
        token = local.platforms["discord"].world().apps[0]["token"]
        random = local.place("discord", "random")[1]
        address = f"{local.context.base_url}/discord/api/v10/channels/{random}"
        async with running(local, settings) as (bridge, _):
            assert bridge.problems == []
            before = {member.channel.key for member in bridge.rooms.all[0].members}
            headers = {"Authorization": f"Bot {token}"}
            async with (
                aiohttp.ClientSession(headers=headers) as http,
                http.patch(address, json={"name": "chance"}) as answer,
            ):
                assert answer.status == 200, await answer.text()
            await update_rooms(bridge)
            assert bridge.problems == []

            bridge.reload = Reloader(bridge, lambda: settings_of(settings)).reload
            local.context.faults.add(Fault(kind="status", times=None))

            await bridge.reload()
            await update_rooms(bridge)

            assert bridge.problems == []
            assert {member.channel.key for member in bridge.rooms.all[0].members} == before


async def test_all_channels_of_a_category_are_one_room_and_new_ones_join(tmp_path: Path) -> None:
    async with local_sandbox(names=("slack", "discord")) as local:
        settings = configuration(local, tmp_path / "s.sqlite3", channels=("general",))
        guild, _ = local.place("discord", "general")
        settings["rooms"] = {
            "all": {
                "members": [
                    {"account": "slack", "channel": "#general"},
                    {"account": "discord", "channel": "*", "category": "proj*", "workspace": guild},
                ]
            }
        }
        token = local.platforms["discord"].world().apps[0]["token"]
        address = f"{local.context.base_url}/discord/api/v10/guilds/{guild}/channels"
        async with aiohttp.ClientSession(headers={"Authorization": f"Bot {token}"}) as http:

            async def make(name: str, kind: int = 0, parent: str | None = None) -> str:
                body = {"name": name, "type": kind, "parent_id": parent}
                async with http.post(address, json=body) as answer:
                    assert answer.status == 201, await answer.text()
                    return str((await answer.json())["id"])

            category = await make("Projects", 4)
            first = await make("first", parent=category)
            async with running(local, settings) as (bridge, _):
                assert [m.name for m in bridge.rooms.all[0].members] == ["general", "first"]
                await make("elsewhere")
                second = await make("second", parent=category)
                await local.until(lambda: len(bridge.rooms.all[0].members) == 3)
                await local.say("slack", "general", "to the projects")
                for channel in (first, second):
                    await local.until(
                        lambda channel=channel: (
                            texts(local, "discord", guild, channel) == ["to the projects"]
                        )
                    )
                slack = local.place("slack", "general")
                await local.until(lambda: join_notices(local, "slack", *slack) == 1)
                assert join_notices(local, "discord", guild, first) == 1
                assert join_notices(local, "discord", guild, second) == 0
                assert texts(local, "discord", *local.place("discord", "general")) == []
                assert bridge.problems == []
