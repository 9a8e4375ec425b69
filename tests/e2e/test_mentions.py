"""Mentions across the platforms: exactly those are pinged who were mentioned, and are linked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bridge.app.build import Bridge
from bridge.model import ActorId, actor_id_of
from connectors.discord.sandbox.local import LocalDiscord
from connectors.slack.sandbox.local import LocalSlack
from connectors.teams.sandbox.local import LocalTeams
from tests.e2e.local_sandbox import Sandbox, configuration, local_sandbox, running

# Without IRC: a mention on IRC is a plain nick, which no native message marks.
PLATFORMS = ("slack", "discord", "teams")


def workspace_of(local: Sandbox, platform: str) -> str:
    return local.place(platform, "general")[0]


def actor(local: Sandbox, platform: str, index: int) -> ActorId:
    """As the bridge names the `index`th person there."""
    workspace = workspace_of(local, platform)
    person = local.person(platform, workspace, index)
    if platform == "teams":
        workspace = local.platforms["teams"].world().apps[0].get("tenant_id", workspace)
    return actor_id_of(platform, workspace, person)


def name(local: Sandbox, platform: str, index: int) -> str:
    workspace = workspace_of(local, platform)
    people = [p for p in local.platforms[platform].world().people if p.workspace == workspace]
    return people[index].name


def typed_mention(local: Sandbox, platform: str, index: int) -> str:
    """A mention as a person's client sends it there."""
    if platform == "discord":
        return f"<@{local.person(platform, workspace_of(local, platform), index)}>"
    return f"@{name(local, platform, index)}"


async def link(local: Sandbox, bridge: Bridge, index: int) -> None:
    """The `index`th people of all platforms are one person."""
    first, *others = (actor(local, platform, index) for platform in PLATFORMS)
    for other in others:
        await bridge.store.link_people(first, other, "command")


def pinged(local: Sandbox, platform: str) -> list[set[str]]:
    """Whom each message of the channel pings, by the platform's own final state; `everyone` too."""
    workspace, channel = local.place(platform, "general")
    there = local.platforms[platform]
    if isinstance(there, LocalSlack):
        texts = [
            m.text for m in there.slack.workspaces[workspace].channels[channel].messages.values()
        ]
        return [_slack_pings(text) for text in texts]
    if isinstance(there, LocalDiscord):
        messages = there.state.channels[int(channel)].messages
        return [
            {str(user.id) for user in m.mentions} | ({"everyone"} if m.mention_everyone else set())
            for m in sorted(messages.values(), key=lambda m: m.id)
        ]
    assert isinstance(there, LocalTeams)
    conversation = there.tenant.conversations[channel]
    return [_teams_pings(m.sent) for m in conversation.visible()]


def _slack_pings(text: str) -> set[str]:
    pinged_ids = {piece.partition(">")[0] for piece in text.split("<@")[1:]}
    ranges = {"everyone" for word in ("<!here", "<!channel", "<!everyone") if word in text}
    return pinged_ids | ranges


def _teams_pings(sent: bytes) -> set[str]:
    activity = json.loads(sent or b"{}")
    entities = activity.get("entities") or []
    for attachment in activity.get("attachments") or []:
        entities += attachment["content"].get("msteams", {}).get("entities", [])
    text = json.dumps(activity, ensure_ascii=False)
    assert all(entity["text"] in text.split('"entities"')[0] for entity in entities)
    return {entity["mentioned"]["id"] for entity in entities if entity["type"] == "mention"}


def last(local: Sandbox, platform: str) -> str:
    messages = local.standing(platform, "general")
    return messages[-1].text if messages else ""


@pytest.mark.parametrize("origin", PLATFORMS)
async def test_a_mention_of_a_linked_person_pings_exactly_that_person(
    tmp_path: Path, origin: str
) -> None:
    others = [platform for platform in PLATFORMS if platform != origin]
    async with local_sandbox() as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        async with running(local, settings) as (bridge, _):
            await link(local, bridge, 1)
            linked, stranger = typed_mention(local, origin, 1), typed_mention(local, origin, 2)
            text = f"{linked} and {stranger}, please look; @everyone @here too"

            posted = await local.say(origin, "general", text)
            await local.until(lambda: all("please look" in last(local, other) for other in others))

            for other in others:
                person = local.person(other, workspace_of(local, other), 1)
                assert pinged(local, other) == [{person}]
                assert f"@{name(local, origin, 2)}" in last(local, other).replace("\u200b", "")

            workspace, channel = local.place(origin, "general")
            who = local.person(origin, workspace)
            edited = f"{linked} and {stranger}, it is done"
            await local.platforms[origin].edit_as(workspace, channel, who, posted, edited)
            await local.until(lambda: all("it is done" in last(local, other) for other in others))

            for other in others:
                person = local.person(other, workspace_of(local, other), 1)
                assert pinged(local, other) == [{person}]
            assert await bridge.store.dead_letters() == []


@pytest.mark.parametrize("origin", PLATFORMS)
async def test_names_in_plain_text_ping_nobody(tmp_path: Path, origin: str) -> None:
    """Nor do those within code, nor what looks like a mention of another platform."""
    others = [platform for platform in PLATFORMS if platform != origin]
    async with local_sandbox() as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        async with running(local, settings) as (bridge, _):
            await link(local, bridge, 1)
            people = {
                platform: local.person(platform, workspace_of(local, platform), 1)
                for platform in PLATFORMS
            }
            names = {other: name(local, other, 1) for other in others}
            text = " ".join([
                *(f"`@{names[other]}`" for other in others),
                f"<@{people['slack']}>" if origin != "slack" else "",
                f"<@{people['discord']}>" if origin != "discord" else "",
                f"<at>{names['teams']}</at>" if origin != "teams" else "",
                f"[@x](uacs:actor/{actor(local, others[0], 1)})",
                "was only written",
            ])  # fmt: skip

            await local.say(origin, "general", text)
            await local.until(lambda: all("only written" in last(local, other) for other in others))

            assert [pinged(local, other) for other in others] == [[set()], [set()]]


async def test_everyone_is_pinged_only_if_the_channel_allows_it(tmp_path: Path) -> None:
    async with local_sandbox() as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        for member in settings["rooms"]["general"]["members"]:
            member["everyone"] = member["account"] == "discord"
        async with running(local, settings):
            await local.say("slack", "general", "@here lunch")
            others = ("discord", "teams")
            await local.until(lambda: all("lunch" in last(local, other) for other in others))

            assert pinged(local, "discord") == [{"everyone"}]
            assert pinged(local, "teams") == [set()]
