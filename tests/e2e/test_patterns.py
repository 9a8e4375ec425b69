"""Rooms by pattern: channels join by their names, also those that appear later."""

from __future__ import annotations

from pathlib import Path

import aiohttp

from tests.e2e.house import Street, configuration, running, street


def texts(local: Street, platform: str, workspace: str, channel: str) -> list[str]:
    return [shown.text for shown in local.platforms[platform].messages(workspace, channel)]


async def test_all_channels_of_a_name_are_one_room_and_new_ones_join(tmp_path: Path) -> None:
    async with street(names=("slack", "discord")) as local:
        settings = configuration(local, tmp_path / "s.sqlite3", channels=("general",))
        guild, _ = local.place("discord", "general")
        settings["rooms"] = {
            "all": {
                "members": [
                    {"account": "slack", "channel": "#general"},
                    {"account": "disc*", "channel": "general*", "workspace": guild},
                ]
            }
        }
        token = local.platforms["discord"].world().apps[0]["token"]
        address = f"{local.around.base_url}/discord/api/v10/guilds/{guild}/channels"
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
            await local.until(lambda: texts(local, "discord", guild, new)[1:] == ["to all of them"])
            assert [m.name for m in bridge.rooms.all[0].members] == [
                "general", "general", "general-two",
            ]  # fmt: skip
            assert bridge.problems == []


async def test_all_channels_of_a_category_are_one_room_and_new_ones_join(tmp_path: Path) -> None:
    async with street(names=("slack", "discord")) as local:
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
        address = f"{local.around.base_url}/discord/api/v10/guilds/{guild}/channels"
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
                for one, told in ((first, 0), (second, 1)):  # who joins later is told so
                    await local.until(
                        lambda one=one, told=told: (
                            texts(local, "discord", guild, one)[told:] == ["to the projects"]
                        )
                    )
                assert texts(local, "discord", *local.place("discord", "general")) == []
                assert bridge.problems == []
