"""Commands in channels of every platform, through the real SDKs."""

from __future__ import annotations

from pathlib import Path

import pytest

from bridge.sandbox.installed import local_platform_types
from bridge.sandbox.user_actions import Outcome
from connectors.discord.sandbox.local import LocalDiscord
from connectors.slack.sandbox.local import LocalSlack
from tests.e2e.local_sandbox import PLATFORMS, Sandbox, configuration, local_sandbox, running

LABELS = {name: local.label for name, local in local_platform_types().items()}


def mention(local: Sandbox, platform: str) -> str:
    """Our bot as a person there writes it."""
    app = local.platforms[platform].world().apps[0]
    if platform == "irc":
        return f"{app['nick']}:"
    if platform == "teams":
        return "@Bridge"
    return f"<@{app['bot_user'] if platform == 'slack' else app['bot_id']}>"


@pytest.mark.parametrize("platform", PLATFORMS)
async def test_admin_commands_are_answered_in_their_channel_and_change_the_room(
    tmp_path: Path, platform: str
) -> None:
    others = [name for name in PLATFORMS if name != platform]

    def texts(platform: str, channel: str = "general") -> list[str]:
        return [message.text for message in local.standing(platform, channel)]

    async with local_sandbox() as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        workspace, _ = local.place(platform, "general")
        settings["admins"] = ["*"]
        async with running(local, settings) as (bridge, _):
            bot = mention(local, platform)
            await local.say(platform, "general", f"{bot} status")
            await local.until(lambda: any("bridged to" in text for text in texts(platform)))
            answer = " ".join(texts(platform))  # channels by their names, though the file has ids
            labels = [LABELS[other] for other in others if other != "teams"]
            assert all(f"{label} #general" in answer for label in labels)

            _, random = local.place("slack", "random")
            await local.say(platform, "general", f"{bot} link slack #random")
            await local.until(lambda: any("is in this room now" in t for t in texts(platform)))
            await local.say(platform, "general", "to the new one")
            await local.until(lambda: any("to the new one" in t for t in texts("slack", "random")))
            (link,) = await bridge.store.room_links()
            assert link.linked
            assert link.by.startswith(f"{platform}:{workspace}:")

            await local.say(platform, "general", f"{bot} pause")
            await local.until(lambda: any("is paused" in text for text in texts(platform)))
            await local.say(platform, "general", "unheard")
            await local.say(platform, "general", f"{bot} resume")
            await local.until(lambda: any("goes on" in text for text in texts(platform)))
            await local.say(platform, "general", "heard")
            for other in others:
                await local.until(lambda name=other: any("heard" in text for text in texts(name)))
                assert not any("unheard" in t or "status" in t for t in texts(other))
        async with running(local, settings) as (again, _):
            assert random in [m.channel.channel for m in again.rooms.all[0].members]


@pytest.mark.parametrize("other", [name for name in PLATFORMS if name != "slack"])
async def test_people_link_their_accounts_by_a_code_that_slack_whispers(
    tmp_path: Path, other: str
) -> None:
    async with local_sandbox() as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        slack = local.platforms["slack"]
        assert isinstance(slack, LocalSlack)
        workspace, _ = local.place("slack", "general")
        person = local.person("slack", workspace)
        async with running(local, settings) as (bridge, _):
            await local.say("slack", "general", f"{mention(local, 'slack')} me")
            await local.until(lambda: bool(slack.whispers(workspace, person)))
            (whisper,) = slack.whispers(workspace, person)
            code = whisper.text.rpartition(" ")[2]
            await local.say(other, "general", f"{mention(local, other)} me {code}")
            await local.until(
                lambda: any(
                    "one person" in message.text for message in local.standing(other, "general")
                )
            )

            linked = {
                linked_account.actor.split(":")[0]
                for linked_account in await bridge.store.linked_accounts()
            }
            assert linked == {"slack", other}
            assert len(local.standing("slack", "general")) == 1  # the question alone


def whispers(local: Sandbox, platform: str) -> list[str]:
    """What the first person there alone can see."""
    place = local.platforms[platform]
    assert isinstance(place, LocalSlack | LocalDiscord)
    workspace, _ = local.place(platform, "general")
    messages = place.whispers(workspace, local.person(platform, workspace))
    return [message.text for message in messages if message.text]


async def give(
    local: Sandbox, platform: str, text: str, channel: str = "general", person: int = 0
) -> Outcome:
    place = local.platforms[platform]
    assert isinstance(place, LocalSlack | LocalDiscord)
    workspace, channel_id = local.place(platform, channel)
    who = local.person(platform, workspace, person)
    return await place.command_as(workspace, channel_id, who, "/bridge", text)


def registered(local: Sandbox) -> bool:
    discord = local.platforms["discord"]
    assert isinstance(discord, LocalDiscord)
    return any(app.commands for app in discord.state.apps.values())


# Without Teams and IRC: they have no slash commands.
@pytest.mark.parametrize("platform", ["slack", "discord"])
async def test_slash_commands_are_answered_to_the_asker_alone(
    tmp_path: Path, platform: str
) -> None:
    async with local_sandbox() as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        async with running(local, settings) as (bridge, _):
            await local.until(lambda: registered(local))
            for text in ("status", "help", ""):
                outcome = await give(local, platform, text)
                assert (outcome.answered, outcome.failed) == (True, "")
            await local.until(lambda: len(whispers(local, platform)) == 3)
            status, answer, nothing = whispers(local, platform)
            assert "bridged to" in status
            assert "optout" in answer
            assert nothing == answer
            assert "pause" not in answer

            await give(local, platform, "pause")
            await local.until(lambda: len(whispers(local, platform)) == 4)
            refused = whispers(local, platform)[3]
            workspace, _ = local.place(platform, "general")
            actor = f"{platform}:{workspace}:{local.person(platform, workspace)}"
            assert refused == f"Only admins of this bridge may do that. You are {actor}"
            assert await bridge.store.paused_rooms() == []

            await give(local, platform, "dance")
            await local.until(lambda: len(whispers(local, platform)) == 5)
            assert "dance" in whispers(local, platform)[4]
            await give(local, platform, "me")  # a code that nobody else may read
            await local.until(lambda: len(whispers(local, platform)) == 6)
            assert "within 10 minutes" in whispers(local, platform)[5]
            for name in PLATFORMS:
                assert local.standing(name, "general") == []
            assert await bridge.store.dead_letters() == []


@pytest.mark.parametrize("platform", ["slack", "discord"])
async def test_an_admin_blocks_somebody_by_a_slash_command(tmp_path: Path, platform: str) -> None:
    async with local_sandbox() as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        workspace, _ = local.place(platform, "general")
        admin, other = (local.person(platform, workspace, number) for number in (0, 1))
        settings["admins"] = [f"{platform}:{workspace}:{admin}"]
        people = local.platforms[platform].world().people
        name = next(person.name for person in people if person.id == other)
        async with running(local, settings) as (bridge, _):
            await local.until(lambda: registered(local))
            mentioned = f"@{name}" if platform == "slack" else f"<@{other}>"
            await give(local, platform, f"ban {mentioned}")
            await local.until(lambda: any("is banned" in t for t in whispers(local, platform)))
            (ban,) = await bridge.store.bans()
            assert ban.actor == f"{platform}:{workspace}:{other}"


async def test_a_command_in_a_channel_without_a_room_gets_an_explanation(tmp_path: Path) -> None:
    async with local_sandbox(names=("slack", "discord")) as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        async with running(local, settings) as (bridge, _):
            await local.until(lambda: registered(local))
            outcome = await give(local, "discord", "status", "random")
            assert outcome.notice == "This channel is in no room of this bridge."
            assert (await give(local, "slack", "status", "random")).answered
            assert await bridge.store.dead_letters() == []


async def test_the_command_is_registered_once(tmp_path: Path) -> None:
    async with local_sandbox(names=("slack", "discord")) as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        discord = local.platforms["discord"]
        assert isinstance(discord, LocalDiscord)
        app = next(iter(discord.state.apps.values()))
        app.commands[7] = {"id": "7", "name": "other", "description": "x", "version": "1"}
        async with running(local, settings):
            await local.until(lambda: len(app.commands) == 2)
        before = dict(app.commands)
        async with running(local, settings):
            await give(local, "discord", "status")
            await local.until(lambda: bool(whispers(local, "discord")))
        assert app.commands == before
