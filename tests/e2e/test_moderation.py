"""A moderator's deletion of a copy reaches the other copies and the original, through real SDKs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.local_sandbox import Sandbox, configuration, local_sandbox, running


def rooms_of(local: Sandbox, settings: dict[str, object], moderation: str) -> None:
    """One room: Slack's and both of Discord's channels."""
    members = [
        {"account": platform, "workspace": workspace, "channel": channel}
        for platform, name in (("slack", "general"), ("discord", "general"), ("discord", "random"))
        for workspace, channel in [local.place(platform, name)]
    ]
    settings["rooms"] = {"all": {"members": members, "moderation": moderation}}


def texts(local: Sandbox, platform: str, channel: str) -> list[str]:
    return [message.text for message in local.standing(platform, channel)]


@pytest.mark.parametrize("moderation", ["off", "mirror", "room"])
async def test_a_moderators_deletion_follows_the_setting_of_the_room(
    tmp_path: Path, moderation: str
) -> None:
    async with local_sandbox(names=("slack", "discord")) as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        rooms_of(local, settings, moderation)
        async with running(local, settings) as (bridge, _):
            workspace, random = local.place("discord", "random")
            owner = local.person("discord", workspace)
            await local.say("discord", "general", "said on Discord", person=1)
            await local.until(lambda: texts(local, "discord", "random") == ["said on Discord"])
            await local.until(lambda: texts(local, "slack", "general") == ["said on Discord"])
            await local.say("slack", "general", "said on Slack")
            await local.until(lambda: len(texts(local, "discord", "random")) == 2)
            await local.until(lambda: len(texts(local, "discord", "general")) == 2)

            for copy in list(local.standing("discord", "random")):
                await local.platforms["discord"].delete_as(workspace, random, owner, copy.id)
            await local.say("slack", "general", "after it")
            await local.until(lambda: "after it" in texts(local, "discord", "general"))

            both = ["said on Discord", "said on Slack"]
            if moderation == "off":
                assert texts(local, "slack", "general") == [*both, "after it"]
                assert texts(local, "discord", "general") == [*both, "after it"]
            elif moderation == "mirror":
                await local.until(
                    lambda: texts(local, "slack", "general") == ["said on Slack", "after it"]
                )
                await local.until(
                    lambda: texts(local, "discord", "general") == ["said on Discord", "after it"]
                )
            else:
                await local.until(lambda: texts(local, "discord", "general") == ["after it"])
                await local.until(
                    lambda: any(
                        text.startswith("A moderator deleted") or "A moderator deleted" in text
                        for text in texts(local, "slack", "general")
                    )
                )
                assert "said on Discord" not in texts(local, "slack", "general")
                assert "said on Slack" in texts(local, "slack", "general")
            assert await bridge.store.dead_letters() == []
