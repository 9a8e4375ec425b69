"""Groups, channels and links across the platforms, and people linked by their addresses."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from connectors.discord.sandbox.local import LocalDiscord
from connectors.slack.sandbox.local import LocalSlack
from connectors.teams.sandbox.local import LocalTeams
from tests.e2e.local_sandbox import PLATFORMS, Sandbox, configuration, local_sandbox, running
from tests.e2e.test_mentions import actor, last, name, pinged, typed_mention, workspace_of
from tests.waiting import LONGEST_WAIT


def discord_role(local: Sandbox) -> str:
    there = local.platforms["discord"]
    assert isinstance(there, LocalDiscord)
    guild = there.state.guilds[int(workspace_of(local, "discord"))]
    return str(max(role for role in guild.roles if role != guild.id))


async def test_groups_channels_and_message_links_become_their_counterparts(tmp_path: Path) -> None:
    async with local_sandbox() as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3")
        role = discord_role(local)
        settings["people"] = {"groups": {"ops": {"slack": "S0OPS", "discord": role}}}
        async with running(local, settings) as (bridge, _):
            first = await local.say("discord", "general", "the first")
            await local.until(lambda: "the first" in last(local, "slack"))
            guild, general = local.place("discord", "general")
            _, random = local.place("discord", "random")
            _, there = local.place("slack", "general")
            _, elsewhere = local.place("slack", "random")

            link = f"https://discord.com/channels/{guild}/{general}/{first}"
            unknown = f"https://discord.com/channels/{guild}/{general}/12345"
            text = f"<@&{role}> see <#{random}>, {link} and {unknown} please"
            await local.say("discord", "general", text)
            await local.until(lambda: "please" in last(local, "slack"))

            slack = local.platforms["slack"]
            assert isinstance(slack, LocalSlack)
            workspace = slack.slack.workspaces[workspace_of(local, "slack")]
            posts = list(workspace.channels[there].messages.values())
            copy = local.standing("slack", "general")[-2].id.replace(".", "")
            content = posts[-1].text
            assert "<!subteam^S0OPS>" in content
            assert f"<#{elsewhere}>" in content
            assert f"<https://{workspace.domain}.slack.com/archives/{there}/p{copy}>" in content
            assert unknown in content
            assert await bridge.store.dead_letters() == []

            back = f"https://{workspace.domain}.slack.com/archives/{there}/p{copy}"
            await local.say("slack", "general", f"#random and {back} again")
            await local.until(lambda: "again" in last(local, "discord"))
            discord = local.platforms["discord"]
            assert isinstance(discord, LocalDiscord)
            message = max(
                discord.state.channels[int(general)].messages.values(),
                key=lambda message: message.id,
            )
            assert f"<#{random}>" in message.content
            assert link in message.content


async def test_people_with_the_same_email_address_are_linked_if_configured(tmp_path: Path) -> None:
    async with local_sandbox() as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        settings["people"] = {"link_by_email": True}
        slack, teams = local.platforms["slack"], local.platforms["teams"]
        assert isinstance(slack, LocalSlack)
        assert isinstance(teams, LocalTeams)
        workspace = slack.slack.workspaces[workspace_of(local, "slack")]
        theirs = workspace.people[local.person("slack", workspace.id)]
        person = teams.tenant.people[local.person("teams", workspace_of(local, "teams"))]
        theirs.email = person.email.upper()
        for app in workspace.apps:
            app.scopes |= {"users:read.email"}
        async with running(local, settings) as (bridge, _):
            await local.say("slack", "general", "I am here")
            await local.say("teams", "general", "and here")
            await local.say("discord", "general", "somebody else")
            await local.until(lambda: "somebody" in last(local, "slack"))
            async with asyncio.timeout(LONGEST_WAIT):
                while not (linked := await bridge.store.linked_accounts()):  # noqa: ASYNC110
                    await asyncio.sleep(0.02)

            assert {account.actor for account in linked} == {
                actor(local, "slack", 0), actor(local, "teams", 0),
            }  # fmt: skip
            assert {account.how for account in linked} == {"email"}

            await local.say("slack", "general", f"{typed_mention(local, 'slack', 0)}, a word")
            await local.until(lambda: "a word" in last(local, "teams"))
            assert pinged(local, "teams")[-1] == {person.id}


@pytest.mark.parametrize("origin", ["slack", "discord"])
async def test_a_topic_shows_the_names_of_mentioned_people_and_channels(
    tmp_path: Path, origin: str
) -> None:
    async with local_sandbox() as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3")
        settings["rooms"]["general"]["announce"] = ["topics"]
        workspace, channel = local.place(origin, "general")
        _, random = local.place(origin, "random")
        of_random = f"<#{random}>" if origin == "discord" else "#random"
        topic = f"On call: {typed_mention(local, origin, 1)} see {of_random}"
        async with running(local, settings):
            there = local.platforms[origin]
            assert isinstance(there, LocalSlack | LocalDiscord)
            person = local.person(origin, workspace)
            await there.set_topic_as(workspace, channel, person, topic)
            for platform in set(PLATFORMS) - {origin}:
                await local.until(lambda platform=platform: "On call" in last(local, platform))
                assert f"On call: @{name(local, origin, 1)} see #random" in last(local, platform)
                if platform != "irc":  # a mention on IRC is a plain nick, which nothing marks
                    assert pinged(local, platform)[-1] == set()
