"""Settings, check, setup, people and channels of an account."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import fields
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from pydantic import ValidationError

from bridge.errors import ConfigError
from bridge.model import Person
from bridge.ports.abilities.channels import ChannelInfo
from bridge.ports.findings import Finding
from bridge.sandbox.faults import Fault
from bridge.testing.abilities import required
from connectors.slack import connector_type, ids
from connectors.slack.capabilities import CAPABILITIES, EVENTS, REQUIRED_SCOPES, SCOPES
from connectors.slack.settings import SlackSettings
from tests.connectors.slack.conftest import ADA, GENERAL, TEAM, Sandbox

TOKEN = {"env": "SLACK_BOT_TOKEN"}
APP = {"env": "SLACK_APP_TOKEN"}


def test_a_socket_account_needs_two_tokens() -> None:
    settings = SlackSettings.model_validate({"bot_token": TOKEN, "app_token": APP})

    assert settings.receive == "socket"
    assert settings.api_url == "https://slack.com/api/"


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no app token": ({"bot_token": TOKEN}, "receive: socket needs app_token; create one under"),
    "no signing secret": (
        {"bot_token": TOKEN, "receive": "http"}, "receive: http needs signing_secret; copy it from"
    ),
    "an unknown key": ({"bot_token": TOKEN, "app_token": APP, "tokn": 1}, "tokn"),
    "a token in clear": ({"bot_token": "xoxb-1", "app_token": APP}, "bot_token"),
    "an unencrypted address": (
        {"bot_token": TOKEN, "app_token": APP, "api_url": "http://slack.com/api/"}, "unencrypted"
    ),
    "no address": ({"bot_token": TOKEN, "app_token": APP, "api_url": "slack.com"}, "use https://"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_invalid_settings_raise_errors_with_advice(name: str) -> None:
    values, words = WRONG[name]

    with pytest.raises(ValidationError, match=words):
        SlackSettings.model_validate(values)


def test_every_setting_is_described() -> None:
    assert all(field.description for field in SlackSettings.model_fields.values())


@pytest.mark.process
def test_importing_the_package_does_not_import_the_sdk() -> None:
    code = (
        "import sys, connectors.slack as s; s.connector_type.setup({}); "
        "print([m for m in ('slack_sdk', 'slack_bolt', 'aiohttp') if m in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


def test_an_account_over_http_has_every_ability_except_typing(sandbox: Sandbox) -> None:
    over_http = sandbox.connector(receive="http", signing_secret={"env": "SECRET"})
    abilities = over_http.abilities

    missing = [field.name for field in fields(abilities) if getattr(abilities, field.name) is None]
    assert missing == ["typing"]
    assert CAPABILITIES.platform == connector_type.platform == "slack"


# --- setup ----------------------------------------------------------------------------------


def test_setup_prints_a_manifest_with_exactly_what_is_needed() -> None:
    first, *_ = connector_type.setup({"name": "Harbour"})

    manifest = json.loads(first.artifact or "")
    assert first.filename == "slack-app-manifest.json"
    assert manifest["display_information"]["name"] == "Harbour"
    assert manifest["oauth_config"]["scopes"]["bot"] == list(SCOPES)
    assert manifest["settings"]["event_subscriptions"] == {"bot_events": list(EVENTS)}
    assert manifest["settings"]["socket_mode_enabled"] is True
    query = parse_qs(urlsplit(first.text.rsplit("\n", 1)[-1]).query)
    assert json.loads(query["manifest_json"][0]) == manifest


def test_setup_for_http_contains_the_request_url() -> None:
    options = {"receive": "http", "public_url": "https://b.test/", "account": "acme"}
    first, *others = connector_type.setup(options)

    manifest = json.loads(first.artifact or "")
    url = "https://b.test/acme/events"
    assert manifest["settings"]["event_subscriptions"]["request_url"] == url
    assert manifest["settings"]["interactivity"]["request_url"] == url
    assert manifest["settings"]["socket_mode_enabled"] is False
    assert any("Signing Secret" in step.text for step in others)


@pytest.mark.parametrize(
    "options",
    [{"receive": "http"}, {"receive": "http", "public_url": "http://b"}, {"receive": "rtm"}],
)
def test_setup_refuses_values_that_slack_would_refuse(options: dict[str, str]) -> None:
    with pytest.raises(ConfigError):
        connector_type.setup(options)


def test_the_manifest_requests_the_required_scopes() -> None:
    assert set(REQUIRED_SCOPES) <= set(SCOPES)


# --- check ----------------------------------------------------------------------------------


async def test_check_reports_no_problem_for_a_complete_setup(sandbox: Sandbox) -> None:
    findings = await required(sandbox.connector().abilities.health).check([GENERAL])

    assert findings == [
        Finding("ok", "bot @bridge in workspace 'Acme' (T0ACME)"),
        Finding("ok", "all scopes are granted"),
        Finding("ok", "the app token opens a socket"),
        Finding("ok", "channel 'C0ACME001' (#general) can be read and written"),
    ]


async def test_check_reports_every_wrong_channel(sandbox: Sandbox) -> None:
    app = sandbox.app()
    wrong = [
        ids.channel_ref(TEAM, app["quiet_channel"]),
        ids.channel_ref(TEAM, app["archived_channel"]),
        ids.channel_ref(TEAM, "C0NOWHERE"),
        ids.channel_ref("T0GLOBEX", "C0GLOBEX001"),
    ]

    findings = [
        f
        for f in await required(sandbox.connector().abilities.health).check(wrong)
        if f.level == "error"
    ]

    assert [finding.todo for finding in findings] == [
        "say /invite @bridge there",
        "unarchive it or take it out of its room",
        "check the id; in a private channel first say /invite @bridge",
        "use the account of that workspace for it",
    ]


async def test_check_reports_missing_scopes_with_their_purpose(sandbox: Sandbox) -> None:
    app = next(iter(a for a in sandbox.slack.slack.apps.values() if a.name == "Bridge"))
    app.scopes -= {"chat:write.customize", "reactions:read"}

    findings = await required(sandbox.connector().abilities.health).check([])

    assert [(f.level, f.what) for f in findings if f.level != "ok"] == [
        (
            "error",
            "scope chat:write.customize is missing: needed to post under the author's name and "
            "picture",
        ),
        ("warning", "scope reactions:read is missing: needed to hear of reactions"),
    ]


async def test_check_reports_only_a_wrong_token(sandbox: Sandbox) -> None:
    connector = sandbox.connector(bot_token={"env": "WRONG"})
    sandbox.tokens.values["WRONG"] = "xoxb-wrong"

    (finding,) = await required(connector.abilities.health).check([GENERAL])

    assert finding.level == "error"
    assert "install the app again" in finding.todo


async def test_check_reports_a_token_that_is_not_set(sandbox: Sandbox) -> None:
    (finding,) = await required(
        sandbox.connector(bot_token={"env": "UNSET"}).abilities.health
    ).check([])

    assert "UNSET" in finding.what


async def test_check_requires_a_public_url_for_http(sandbox: Sandbox) -> None:
    findings = await required(sandbox.connector(receive="http").abilities.health).check([])

    assert [f.what for f in findings if f.level == "error"] == [
        "receive: http needs a public_url that Slack can reach, not None"
    ]


async def test_check_reports_an_unavailable_slack(sandbox: Sandbox) -> None:
    sandbox.context.faults.add(Fault(kind="status", where="slack:auth.test:*", status=503))

    (finding,) = await required(sandbox.connector().abilities.health).check([])

    assert "HTTP 503" in finding.what


# --- people and channels --------------------------------------------------------------------


async def test_people_and_bots_are_looked_up(sandbox: Sandbox) -> None:
    connector = sandbox.connector()
    base = sandbox.context.base_url
    app = sandbox.app()
    bot = ids.actor_id(TEAM, app["bot_id"])

    assert await required(connector.abilities.people).person(ids.actor_id(TEAM, ADA)) == Person(
        id=ids.actor_id(TEAM, ADA), name="Ada Park", picture=f"{base}/slack/avatars/{ADA}.svg"
    )
    profile = await required(connector.abilities.people).person(bot)
    assert profile is not None
    assert (profile.name, profile.bot) == ("Bridge", True)
    borrowed = await required(connector.abilities.people).person(
        ids.actor_id(TEAM, f"{app['bot_id']}@GitHub")
    )
    assert borrowed is not None
    assert borrowed.name == "GitHub"


async def test_a_profile_has_guest_status_and_user_groups(sandbox: Sandbox) -> None:
    connector = sandbox.connector()
    workspace = sandbox.slack.slack.workspaces[TEAM]
    workspace.groups["S0HELP"] = ("helpers", [ADA])
    workspace.groups["S0ELSE"] = ("others", ["U0SOMEBODY"])
    workspace.people[ADA].guest = True
    ada, groups = ids.actor_id(TEAM, ADA), ("group:slack:*", "guest:slack:*")

    assert await required(connector.abilities.groups).of_actor(ada, groups) == {
        f"guest:slack:{TEAM}", f"group:slack:{TEAM}:S0HELP"
    }  # fmt: skip
    assert await required(connector.abilities.groups).of_actor(ada, groups[:1]) == {
        f"group:slack:{TEAM}:S0HELP"
    }
    bot = ids.actor_id(TEAM, sandbox.app()["bot_id"])
    assert await required(connector.abilities.groups).of_actor(bot, groups) == frozenset()


@pytest.mark.parametrize("actor", ["slack:T0ACME:U0NOBODY", "slack:T0ACME:B0NONE", "irc:n:u", "x"])
async def test_an_unknown_user_has_no_profile(sandbox: Sandbox, actor: Any) -> None:
    assert await required(sandbox.connector().abilities.people).person(actor) is None


async def test_channels_are_listed_with_the_bots_membership(sandbox: Sandbox) -> None:
    channels = await required(sandbox.connector().abilities.channels).visible()

    assert ChannelInfo(GENERAL, "general", workspace_name="Acme") in channels
    quiet = next(channel for channel in channels if channel.name == "quiet")
    assert not quiet.ours
    assert "attic" not in {channel.name for channel in channels}


async def test_without_the_scope_for_private_channels_the_public_ones_are_listed(
    sandbox: Sandbox,
) -> None:
    app = next(iter(a for a in sandbox.slack.slack.apps.values() if a.name == "Bridge"))
    app.scopes -= {"groups:read"}

    channels = await required(sandbox.connector().abilities.channels).visible()

    assert "general" in {channel.name for channel in channels}


async def test_only_the_name_of_a_public_channel_is_shown(sandbox: Sandbox) -> None:
    connector = sandbox.connector()
    channels = sandbox.slack.slack.workspaces[TEAM].channels
    quiet = next(channel for channel in channels.values() if channel.name == "quiet")

    assert (
        await required(connector.abilities.channels).name(ids.channel_ref(TEAM, quiet.id))
        == "quiet"
    )
    assert (
        await required(connector.abilities.channels).name(ids.channel_ref(TEAM, "C0NOWHERE"))
        == "private-channel"
    )
    quiet.kind = "group"
    quiet.members[sandbox.app()["bot_user"]] = None
    assert (
        await required(connector.abilities.channels).name(ids.channel_ref(TEAM, quiet.id))
        == "private-channel"
    )
