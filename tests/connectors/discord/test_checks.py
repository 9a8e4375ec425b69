"""Settings, set-up steps, the check, and lookups of people and channels."""

from __future__ import annotations

import subprocess
import sys

import pytest
from pydantic import ValidationError

from bridge.model import ActorId, ChannelRef, Person
from bridge.ports.abilities.channels import ChannelInfo
from bridge.ports.findings import Finding
from bridge.testing.abilities import required
from connectors.discord import connector_type
from connectors.discord.capabilities import INTENTS, PERMISSIONS, REQUIRED_PERMISSIONS
from connectors.discord.ids import actor_id, channel_ref
from connectors.discord.sandbox.permissions import Permission
from connectors.discord.settings import DiscordSettings
from tests.connectors.discord.conftest import Local


def errors(findings: object) -> list[str]:
    assert isinstance(findings, list)
    return [f.what for f in findings if isinstance(f, Finding) and f.level == "error"]


async def test_a_healthy_account_has_no_errors(local: Local) -> None:
    findings = await required(local.connector().abilities.health).check([local.channel])

    assert {finding.level for finding in findings} == {"ok"}
    assert len(findings) == 4
    assert any("SERVER MEMBERS" in finding.what for finding in findings)


async def test_check_reports_a_wrong_token(local: Local) -> None:
    connector = local.connector()
    local.tokens.values = dict.fromkeys(local.tokens.values, "wrong")

    (finding,) = await required(connector.abilities.health).check([local.channel])

    assert (finding.level, finding.what) == ("error", "Discord refuses the bot token")
    assert "Reset Token" in finding.todo


async def test_check_reports_a_missing_intent(local: Local) -> None:
    for app in local.discord.state.apps.values():
        app.granted &= ~INTENTS["MESSAGE_CONTENT"]

    findings = await required(local.connector().abilities.health).check([])

    assert errors(findings) == ["The intent MESSAGE CONTENT is missing"]


async def test_check_reports_missing_permissions_for_each_channel(local: Local) -> None:
    channel = local.discord.state.channels[int(local.channel.channel)]
    assert channel.guild is not None
    for role in channel.guild.roles.values():
        role.permissions &= ~int(Permission.MANAGE_WEBHOOKS) & ~int(Permission.ADMINISTRATOR)

    findings = errors(await required(local.connector().abilities.health).check([local.channel]))

    assert len(findings) == 1
    assert findings[0].endswith("the bot lacks Manage Webhooks")


async def test_check_reports_unknown_channels_and_servers(local: Local) -> None:
    guild = local.channel.workspace
    channels: list[ChannelRef] = [channel_ref(guild, "1"), channel_ref("2", "3")]

    findings = errors(await required(local.connector().abilities.health).check(channels))

    assert [problem.split(" is not in ")[0] for problem in findings] == ["Channel '1'", "The bot"]


async def test_channels_are_listed_with_their_names(local: Local) -> None:
    channels = await required(local.connector().abilities.channels).visible()

    first = next(channel for channel in channels if channel.ref == local.channel)
    place = local.discord.world().places[0]
    assert first == ChannelInfo(
        ref=local.channel, name=place.channel_name, ours=True, kind="text",
        workspace_name=place.workspace_name,
    )  # fmt: skip
    hidden = local.app["no_access"][local.channel.workspace]
    assert not any(channel.ours for channel in channels if channel.ref.channel == hidden)
    assert {channel.ref.workspace for channel in channels} == set(local.app["guilds"])


async def test_a_persons_profile_has_their_guild_nickname(local: Local) -> None:
    connector = local.connector()
    seeded = local.discord.world().people[0]

    person = await required(connector.abilities.people).person(actor_id(local.channel, seeded.id))

    assert isinstance(person, Person)
    assert (person.name, person.bot) == (seeded.name, False)
    assert person.picture is not None
    assert person.picture.startswith(f"{local.context.base_url}/discord/")


async def test_the_name_of_a_hidden_channel_is_not_shown(local: Local) -> None:
    connector = local.connector()
    guild = local.channel.workspace
    hidden = local.app["no_access"][guild]

    named = await required(connector.abilities.channels).name(local.channel)

    assert named == local.discord.world().places[0].channel_name
    assert (
        await required(connector.abilities.channels).name(channel_ref(guild, hidden)) == "no-access"
    )
    assert (
        await required(connector.abilities.channels).name(channel_ref(guild, "99")) == "no-access"
    )


async def test_the_roles_of_a_guild_are_its_groups(local: Local) -> None:
    connector = local.connector()
    state = local.discord.state
    guild = state.guilds[int(local.channel.workspace)]
    user = local.discord.world().people[0].id
    guild.members[int(user)].roles = [4711]
    role = f"group:discord:{guild.id}:4711"

    assert await required(connector.abilities.groups).of_actor(
        actor_id(local.channel, user), ("group:*",)
    ) == {role}
    direct = ActorId(f"discord:@me:{user}")
    assert await required(connector.abilities.groups).of_actor(direct, (role,)) == {role}
    assert await required(connector.abilities.groups).of_actor(direct, ("group:*",)) == frozenset()
    stranger = actor_id(local.channel, "99")
    assert await required(connector.abilities.groups).of_actor(stranger, (role,)) == frozenset()


@pytest.mark.parametrize("actor", ["slack:T:U", "discord:1", "discord:1:7/CI", "discord:1:99"])
async def test_an_unknown_user_has_no_profile(local: Local, actor: str) -> None:
    assert await required(local.connector().abilities.people).person(ActorId(actor)) is None


def test_the_invite_link_requests_exactly_the_used_permissions() -> None:
    steps = connector_type.setup({"client_id": "1323802873036800042"})

    (link,) = [s.artifact for s in steps if isinstance(s.artifact, str) and "http" in s.artifact]
    total = sum(PERMISSIONS.values())
    assert link == (
        "https://discord.com/oauth2/authorize?client_id=1323802873036800042"
        f"&permissions={total}&scope=bot+applications.commands"
    )
    assert set(REQUIRED_PERMISSIONS) <= set(PERMISSIONS)


def test_every_setting_is_described_and_unknown_ones_are_errors() -> None:
    assert all(field.description for field in DiscordSettings.model_fields.values())
    with pytest.raises(ValidationError):
        DiscordSettings.model_validate({"bot_token": {"env": "X"}, "bot_tokn": 1})


@pytest.mark.process
def test_importing_the_package_loads_no_sdk() -> None:
    program = (
        "import sys, connectors.discord;"
        "print([m for m in ('discord', 'aiohttp') if m in sys.modules])"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "[]"
