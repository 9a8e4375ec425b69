"""`check` warns of channels that others than a workspace's own people read, on the real SDKs."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from connectors.discord.sandbox.local import LocalDiscord
from connectors.slack.sandbox.local import LocalSlack
from connectors.teams.sandbox.local import LocalTeams
from tests.app.running import cli, write
from tests.e2e.local_sandbox import Sandbox, configuration, local_sandbox, running


def opened(local: Sandbox) -> None:
    """Slack's channel is shared and has a guest, so has Teams'; Discord's is closed to nobody."""
    slack, teams = local.platforms["slack"], local.platforms["teams"]
    assert isinstance(slack, LocalSlack)
    assert isinstance(teams, LocalTeams)
    workspace, channel = local.place("slack", "general")
    room = slack.slack.workspaces[workspace]
    room.channels[channel].connected = True
    guest = next(iter(room.channels[channel].members))
    room.people[guest].guest = True
    _, conversation = local.place("teams", "general")
    team = teams.tenant.conversations[conversation].team
    assert team is not None
    teams.tenant.conversations[conversation].membership = "shared"
    team.people[0] = replace(team.people[0], guest=True)


async def warnings(settings: dict[str, Any], tmp_path: Path) -> dict[str, str]:
    """The findings on each account's channel."""
    config = write(tmp_path / "bridge.yaml", json.dumps(settings))
    result = await asyncio.to_thread(cli, "check", "--json", "-c", str(config))
    return {
        finding["about"].split()[1]: finding["what"].partition(" is ")[2]
        for finding in json.loads(result.stdout)["findings"]
        if "also read by" in finding["what"]
    }


async def test_check_warns_of_shared_channels_and_guests(tmp_path: Path) -> None:
    async with local_sandbox() as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        async with running(local, settings):  # Teams' channel must have been heard from
            await local.say("teams", "general", "hello")
            await local.until(lambda: len(local.standing("slack", "general")) == 1)
            discord = local.platforms["discord"]
            assert isinstance(discord, LocalDiscord)

            everybody = {"discord": "also read by everybody who joins the server"}
            assert await warnings(settings, tmp_path) == everybody
            opened(local)
            assert await warnings(settings, tmp_path) == everybody | {
                "slack": "also read by people of other organisations (Slack Connect) and 1 guest",
                "teams": "also read by people of other teams, or other organisations (a shared "
                "channel) and 1 guest",
            }
