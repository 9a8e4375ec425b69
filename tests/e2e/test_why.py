"""People ask why an agent answered so; who runs the bridge reads what a room decided."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from connectors.discord.sandbox.local import LocalDiscord
from connectors.slack.sandbox.local import LocalSlack
from tests.app.running import cli, write
from tests.e2e.local_sandbox import Sandbox, configuration, local_sandbox, running
from tests.e2e.test_commands import mention


def settings_of(local: Sandbox, path: Path) -> dict[str, Any]:
    settings = configuration(local, path, channels=("general",))
    settings["policies"] = {"personal": {"kind": "redact"}}
    settings["agents"]["echo"] = {"kind": "echo", "pace": 0, "policies": ["personal"]}
    settings["rooms"]["general"]["agents"] = [{"agent": "echo"}]
    return settings


def answers(local: Sandbox, platform: str) -> list[str]:
    return [
        m.id for m in local.standing(platform, "general") if "this is what reached me" in m.text
    ]


async def test_why_tells_who_asked_why_this_agent_and_what_was_hidden(tmp_path: Path) -> None:
    async with local_sandbox(names=("slack", "discord")) as local:
        settings = settings_of(local, tmp_path / "b.sqlite3")
        config = write(tmp_path / "bridge.yaml", json.dumps(settings))
        slack, discord = local.platforms["slack"], local.platforms["discord"]
        assert isinstance(slack, LocalSlack)
        assert isinstance(discord, LocalDiscord)
        workspace, _ = local.place("slack", "general")
        asker = local.person("slack", workspace)
        async with running(local, settings):
            asked = await local.say("slack", "general", "@echo write to ann@example.com, please")
            await local.until(lambda: bool(answers(local, "slack") and answers(local, "discord")))
            await local.say("slack", "general", f"{mention(local, 'slack')} why?", thread=asked)
            await local.until(lambda: bool(slack.whispers(workspace, asker)))
            (whisper,) = slack.whispers(workspace, asker)
            (answer,) = answers(local, "discord")
            await reply(local, answer, f"{mention(local, 'discord')} why")
            await local.until(
                lambda: any(
                    "because its name was called" in m.text
                    for m in local.standing("discord", "general")
                )
            )
            await local.say("slack", "general", f"{mention(local, 'slack')} why")
            await local.until(lambda: len(slack.whispers(workspace, asker)) == 2)
            result = await asyncio.to_thread(cli, "report", "general", "--json", "-c", str(config))
            text = await asyncio.to_thread(cli, "report", "general", "-c", str(config))
            unknown = await asyncio.to_thread(cli, "report", "nowhere", "-c", str(config))

    assert "@echo answered because its name was called." in whisper.text
    assert "asked." in whisper.text
    assert "hidden from it in 1 message" in whisper.text
    assert "names no source" in whisper.text
    assert "have arrived" in slack.whispers(workspace, asker)[1].text
    report = json.loads(result.stdout)
    (turn,) = report["answers"]
    assert (turn["agent"], turn["chosen"]) == ("echo", "its name was called")
    assert (turn["hidden"], turn["answered"], turn["sources"]) == (1, True, [])
    assert "agent:echo" in {member["member"] for member in report["members"]}
    assert "ann@example.com" not in result.stdout
    assert "its name was called" in text.stdout
    assert unknown.exit_code == 1
    assert "there are: general" in unknown.output


async def reply(local: Sandbox, message: str, text: str) -> None:
    workspace, channel = local.place("discord", "general")
    discord = local.platforms["discord"]
    assert isinstance(discord, LocalDiscord)
    person = local.person("discord", workspace)
    await discord.reply_as(workspace, channel, person, message, text)
