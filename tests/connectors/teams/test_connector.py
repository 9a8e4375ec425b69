"""One account against the local Teams: people, channels, check, health, start and stop."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import fields
from pathlib import Path

import pytest
from pydantic import ValidationError

import connectors.teams
from bridge.errors import AuthFailed, ConfigError, NotFound
from bridge.model import AccountId, ChannelRef, Person
from bridge.model.secret_refs import SecretRef
from bridge.ports.abilities.channels import ChannelInfo
from bridge.ports.connector import ConnectorTools
from bridge.ports.findings import Finding
from bridge.runtime.clock import SystemClock
from bridge.runtime.discovery import connector_type as installed
from bridge.sandbox.faults import Fault
from bridge.testing.abilities import required
from bridge.testing.inbox import ListInbox
from connectors.teams import TeamsSettings, connector_type, ids
from connectors.teams.connector import TeamsConnector
from connectors.teams.references import Reference, References
from tests.connectors.doubles import FixedTokens, MemoryKeyValues
from tests.connectors.teams.local import Bench, bench
from tests.connectors.teams.payloads import APP_ID
from tests.waiting import LONGEST_WAIT


@pytest.fixture
async def local() -> AsyncIterator[Bench]:
    async with bench() as running:
        yield running


async def say(local: Bench, text: str, person: int = 0) -> None:
    person_id = local.teams.world().people[person].id
    await local.teams.post_as(local.channel.workspace, local.channel.channel, person_id, text)
    count = len(local.inbox.raws)
    await local.inbox.until(lambda: len(local.inbox.raws) > count)
    await local.teams.outbox.idle()


async def test_the_account_has_the_abilities_that_teams_gives_to_bots(local: Bench) -> None:
    abilities = local.connector.abilities

    missing = {field.name for field in fields(abilities) if getattr(abilities, field.name) is None}
    assert missing == {
        "history", "lookup", "read_back", "past", "reactors", "channel_metadata",
        "deliveries", "progress", "group_names",
    }  # fmt: skip


async def test_a_persons_profile_is_found_by_id(local: Bench) -> None:
    await say(local, "hello", person=1)
    person = local.teams.world().people[1]

    actor = ids.actor_id(person.workspace, person.id)

    assert await required(local.connector.abilities.people).person(actor) == Person(
        id=actor, name=person.name
    )


async def test_a_silent_member_is_found_in_a_known_team(local: Bench) -> None:
    await say(local, "hello", person=1)
    person = local.teams.world().people[2]
    actor = ids.actor_id(person.workspace, person.id)

    assert await required(local.connector.abilities.people).person(actor) == Person(
        id=actor, name=person.name
    )


async def test_a_profile_has_the_guest_status(local: Bench) -> None:
    await say(local, "hello", person=1)
    guest, member = local.teams.world().people[1:3]
    object.__setattr__(local.teams.tenant.people[guest.id], "guest", True)

    async def groups(account: str) -> frozenset[str]:
        actor = ids.actor_id(local.channel.workspace, account)
        return await required(local.connector.abilities.groups).of_actor(actor, ("guest:*",))

    assert await groups(guest.id) == {f"guest:teams:{guest.workspace}"}
    assert await groups(member.id) == frozenset()
    assert await groups(ids.bot_account("x")) == frozenset()
    with pytest.raises(NotFound, match="No roster"):
        await groups("29:nobody")


async def test_an_unknown_user_has_no_profile(local: Bench) -> None:
    await say(local, "hello")

    assert (
        await required(local.connector.abilities.people).person(
            ids.actor_id(local.channel.workspace, "29:nobody")
        )
        is None
    )


async def test_the_channels_of_a_team_are_listed_after_its_first_activity(local: Bench) -> None:
    assert await required(local.connector.abilities.channels).visible() == []
    await say(local, "hello")

    channels = await required(local.connector.abilities.channels).visible()

    world = local.teams.world()
    team = [place for place in world.places if place.workspace_name == "Atlas"]
    assert sorted(channels, key=lambda info: info.name) == [
        ChannelInfo(
            ref=ChannelRef(platform="teams", workspace=place.workspace, channel=place.channel),
            name=place.channel_name,
            workspace_name="Atlas",
        )
        for place in sorted(team, key=lambda place: place.channel_name)
    ]


async def test_channels_of_a_team_that_removed_the_bot_come_from_stored_references(
    local: Bench,
) -> None:
    await say(local, "hello")
    local.teams.uninstall(local.settings.app_id, local.teams.world().places[0].channel)

    assert [info.ref for info in await required(local.connector.abilities.channels).visible()] == [
        local.channel
    ]


async def test_check_reports_no_problem_for_a_complete_setup(local: Bench) -> None:
    await say(local, "hello")

    findings = await required(local.connector.abilities.health).check([local.channel])

    assert {finding.level for finding in findings} == {"ok"}
    assert any("2025-12-31" in finding.what for finding in findings)


async def test_check_reports_every_problem_with_advice(local: Bench) -> None:
    changes = {"default_service_url": None}
    secrets = FixedTokens({local.settings.app_password.env or "": "x"})
    connector = TeamsConnector(
        AccountId("teams"),
        local.settings.model_copy(update=changes),
        ConnectorTools(SystemClock(), secrets, MemoryKeyValues(), public_url=None),
    )
    elsewhere = local.channel.model_copy(update={"workspace": "elsewhere"})

    findings = await required(connector.abilities.health).check([local.channel, elsewhere])
    await connector.close()

    wrong = [finding for finding in findings if finding.level == "error"]
    beginnings = [
        "No token for the bot",
        "public_url is not set",
        f"Channel {local.channel} was never heard from",
        f"Channel {elsewhere} is in tenant 'elsewhere'",
    ]
    assert len(wrong) == len(beginnings)
    for finding, beginning in zip(wrong, beginnings, strict=True):
        assert finding.what.startswith(beginning)
    assert all(finding.todo for finding in wrong)


async def test_a_wrong_password_stops_the_connector(local: Bench) -> None:
    tools = ConnectorTools(
        SystemClock(),
        FixedTokens({local.settings.app_password.env or "": "wrong"}),
        MemoryKeyValues(),
    )
    connector = TeamsConnector(AccountId("teams"), local.settings, tools)

    with pytest.raises(AuthFailed, match="Invalid client secret"):
        await connector.run(ListInbox())

    assert required(connector.abilities.health).current().state == "failed"
    await connector.close()


class TurnedClock(SystemClock):
    """A clock whose sleeps end when the test advances it."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: asyncio.Queue[float] = asyncio.Queue()
        self._turned = asyncio.Event()

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.put_nowait(seconds)
        await self._turned.wait()
        self._turned.clear()

    def turn(self, seconds: float) -> None:
        self.now += seconds
        self._turned.set()


async def test_a_secret_that_expires_shows_though_nobody_says_anything(local: Bench) -> None:
    secrets, name = FixedTokens({}), local.settings.app_password.env or ""
    good = vars(local.connector)["_tools"].secrets.values[name]
    secrets.values[name] = good
    clock = TurnedClock()
    connector = TeamsConnector(
        AccountId("teams"), local.settings, ConnectorTools(clock, secrets, MemoryKeyValues())
    )
    running = asyncio.create_task(connector.run(ListInbox()))
    states: list[tuple[str, str]] = []
    async with asyncio.timeout(10):
        first = await clock.slept.get()
        for secret in (good, "expired", good):
            states.append(
                (
                    required(connector.abilities.health).current().state,
                    required(connector.abilities.health).current().note[-52:],
                )
            )
            secrets.values[name] = secret
            clock.turn(first)
            pause = await clock.slept.get()
    states.append((required(connector.abilities.health).current().state, ""))

    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    await connector.close()
    assert [state for state, _ in states] == ["listening", "listening", "failed", "listening"]
    assert "check app_id, app_password and tenant_id" in states[2][1]
    assert pause == first > 300


async def test_an_unavailable_identity_provider_does_not_stop_the_connector(local: Bench) -> None:
    local.context.faults.add(Fault(kind="status", where="teams:token:*", status=503, times=None))
    secrets = FixedTokens({local.settings.app_password.env or "": "x"})
    connector = TeamsConnector(
        AccountId("teams"),
        local.settings,
        ConnectorTools(SystemClock(), secrets, MemoryKeyValues()),
    )
    running = asyncio.create_task(connector.run(ListInbox()))

    async with asyncio.timeout(LONGEST_WAIT):
        while required(connector.abilities.health).current().state != "listening":  # noqa: ASYNC110 - it tells nobody
            await asyncio.sleep(0.01)

    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert required(connector.abilities.health).current().state == "stopped"
    await connector.close()


async def test_references_survive_a_restart_and_follow_a_new_service_url() -> None:
    key_values = MemoryKeyValues()
    first = Reference(conversation="19:a", tenant="T", service_url="https://one.example/", name="A")
    await References(key_values).learn(first)
    again = References(key_values)

    await again.learn(
        Reference(conversation="19:a", tenant="T", service_url="https://two.example/")
    )

    channel = ChannelRef(platform="teams", workspace="T", channel="19:b")
    expected = first.model_copy(update={"service_url": "https://two.example/"})
    assert await References(key_values).all() == [expected]
    assert await References(key_values).service_url(channel) == "https://two.example/"


async def test_references_of_many_simultaneous_conversations_are_all_stored() -> None:
    key_values = MemoryKeyValues()
    references = References(key_values)
    stored = [
        Reference(conversation=f"19:{n}", tenant="T", service_url="https://x.example/")
        for n in range(50)
    ]

    await asyncio.gather(*(references.learn(reference) for reference in stored))

    assert await References(key_values).all() == stored


async def test_a_damaged_reference_is_ignored() -> None:
    key_values = MemoryKeyValues()
    key_values.values["reference/19:a"] = "{}"

    assert await References(key_values).get("19:a") is None


# --- settings and the package ---------------------------------------------------------------------


def settings(**changes: object) -> TeamsSettings:
    values = {"app_id": APP_ID, "app_password": SecretRef(env="X")} | changes
    return TeamsSettings.model_validate(values)


@pytest.mark.parametrize("key", ["app_id", "tenant_id"])
@pytest.mark.parametrize("value", ["not-a-guid", "", APP_ID + "0", APP_ID + "\n"])
def test_ids_that_are_not_guids_are_refused(key: str, value: str) -> None:
    with pytest.raises(ValidationError, match="must be a GUID"):
        settings(**{key: value})


def test_the_guid_of_the_documentation_is_valid() -> None:
    zero = "00000000-0000-0000-0000-000000000000"

    assert settings(app_id=zero, tenant_id=zero).app_id == zero


def test_unsigned_activities_are_accepted_only_from_this_machine() -> None:
    tools = ConnectorTools(SystemClock(), FixedTokens({}), MemoryKeyValues())

    with pytest.raises(ConfigError, match="anybody could post as anybody"):
        connector_type.build(AccountId("teams"), settings(validate_tokens=False), tools)

    local = settings(validate_tokens=False, service_hosts=["127.0.0.1"])
    assert connector_type.build(AccountId("teams"), local, tools)


@pytest.mark.parametrize("name", ["login_url", "openid_url"])
def test_secrets_and_keys_are_sent_only_over_https(name: str) -> None:
    with pytest.raises(ValueError, match="https address"):
        settings(**{name: "http://login.example"})
    assert settings(**{name: "http://127.0.0.1:8080/"})


def test_every_setting_is_described() -> None:
    assert all(field.description for field in TeamsSettings.model_fields.values())


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("https://smba.trafficmanager.net/emea/", True),
        ("https://SMBA.trafficmanager.net/amer/", True),
        ("https://europe.webchat.botframework.com/", True),
        ("https://smba.infra.gcc.teams.microsoft.com/", True),
        ("https://attacker.trafficmanager.net/", False),
        ("https://botframework.com.evil.example/", False),
        ("https://evilbotframework.com/", False),
        ("http://smba.trafficmanager.net/", False),
        ("https://smba.trafficmanager.net@evil.example/", False),
    ],
)
def test_only_known_hosts_may_be_called(url: str, allowed: bool) -> None:
    assert settings().may_be_called(url) is allowed


def test_the_connector_is_found_through_its_entry_point() -> None:
    assert type(installed("teams")) is type(connector_type)


@pytest.mark.process
def test_importing_the_package_loads_no_sdk() -> None:
    code = (
        "import sys, connectors.teams\n"
        "print([name for name in ('botbuilder', 'botframework', 'msrest', 'aiohttp', 'msal')"
        " if name in sys.modules])"
    )
    root = Path(connectors.teams.__file__).parents[2]

    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root
    )

    assert process.stdout.strip() == "[]"


def test_only_two_files_import_the_sdk() -> None:
    folder = Path(connectors.teams.__file__).parent
    importers = {
        path.name
        for path in folder.glob("*.py")
        for line in path.read_text().splitlines()
        if line.startswith(("import ", "from "))
        and line.split()[1].split(".")[0] in ("botbuilder", "botframework", "msrest", "msal")
    }

    assert importers == {"receive.py", "send.py"}


def test_a_finding_without_a_problem_has_no_advice() -> None:
    assert Finding("ok", "x").todo == ""
