"""A configuration -> findings in chapters, which `check` prints. Changes nothing."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from bridge.app.account_values import Overlay
from bridge.app.build import build_agents, build_connectors, build_policies
from bridge.app.checks.accounts import check_account
from bridge.app.checks.blobs import files_of_store
from bridge.app.checks.cluster import needs_of_cluster
from bridge.app.checks.readiness import (
    REACHABLE,
    TOOLS_TODO,
    UNREACHABLE,
    ask_agents,
    calls_us,
    probe_address,
)
from bridge.app.control import running_bridge
from bridge.app.files.pictures import agent_picture
from bridge.app.opening import address_of, open_to_read
from bridge.app.origin import check_one_place, place_of_code
from bridge.app.printing import many
from bridge.app.rooms.channel_lookup import Places
from bridge.app.rooms.find import check_once, in_order, matching_accounts
from bridge.app.settings.keys import known_key
from bridge.app.settings.needs import named_secrets, nothing_to_do, unmet, wrong_public_url
from bridge.app.settings.rooms import MemberSettings, RoomSettings
from bridge.app.settings.secrets import SecretReader
from bridge.app.settings.sections import Settings
from bridge.app.settings.store import StoreSettings
from bridge.app.web.server import listen
from bridge.content.text.globs import matches
from bridge.errors import BridgeError, ConfigError, StoreError
from bridge.model import AccountId, ChannelRef
from bridge.ports.agent import Agent
from bridge.ports.connector import Connector
from bridge.ports.findings import Finding
from bridge.ports.secrets import SecretSource
from bridge.ports.store.whole import Store
from bridge.runtime.clock import SystemClock
from bridge.runtime.discovery import connector_type
from bridge.store.maintenance import schema_version
from bridge.store.place import must_not_be_gone, standing
from bridge.store.schema import newest_version
from bridge.tools.mcp_server import McpServer, check_installed, missing_program
from bridge.tools.settings import ToolServerSettings

Chapter: TypeAlias = tuple[str, Sequence[Finding]]

_DEADLINE = 30.0  # seconds that one account's own check may take


async def examine(config: Path, settings: Settings, *, offline: bool = False) -> list[Chapter]:
    """Every chapter that can be examined; builds what `run` builds.

    `offline` sends no requests, so accounts and the channels of rooms are not looked up.
    """
    try:
        check_one_place()
    except ConfigError as error:
        return [("Configuration", [Finding("error", str(error), "install it again")])]
    chapters: list[Chapter] = [
        ("Configuration", _configuration(config, settings)),
        ("Store", await _store(settings) + await files_of_store(settings.store, offline=offline)),
        ("Web server", _web(settings)),
    ]
    if settings.cluster is not None:
        chapters.append(("Cluster", await needs_of_cluster(settings, offline=offline)))
    async with _known_store(settings) as store:
        if offline:
            findings = await _accounts_and_rooms_offline(settings, store)
        else:
            findings = await _accounts_and_rooms(settings, store)
        accounts = len(settings.accounts)
        agents = await _agents_and_tools(settings, store, offline=offline)
        return chapters + findings[:accounts] + agents + findings[accounts:]


def _configuration(config: Path, settings: Settings) -> list[Finding]:
    sizes = ((settings.accounts, "account"), (settings.rooms, "room"), (settings.agents, "agent"))
    findings = [
        Finding("ok", f"{config}: {', '.join(many(len(part), noun) for part, noun in sizes)}"),
        Finding("ok", f"the code comes from {place_of_code()}"),
    ]
    for key in settings.renamed_keys:
        problem, _, note = str(key).partition("; ")
        findings.append(Finding("warning", f"{config}: {problem}", f"write {key.new_key}; {note}"))
    accounts_in_rooms = {
        member.account for room in settings.rooms.values() for member in room.members
    }
    accounts_in_rooms |= {direct.account for direct in settings.direct}
    members = {
        membership.agent
        for part in (*settings.rooms.values(), *settings.direct)
        for membership in part.agents
    }
    for name in [
        account
        for account in settings.accounts
        if not any(matches(h, account) for h in accounts_in_rooms)
    ]:
        todo = "add one of its channels to a room, or remove the account"
        findings.append(Finding("warning", f"account {name!r} is in no room", todo))
    for name in [agent for agent in settings.agents if agent not in members]:
        todo = "add it under a room's `agents`, or remove it"
        findings.append(Finding("warning", f"agent {name!r} is in no room", todo))
    return findings + [
        Finding("error", need.problem, need.todo) for need in nothing_to_do(settings)
    ]


# --- store and web server -----------------------------------------------------------------------


async def _store(settings: Settings) -> list[Finding]:
    path = settings.store.path
    if settings.store.url is not None:
        return await _database(settings.store)
    try:
        known_key(path)
        if standing(path) != "store":
            must_not_be_gone(path)
            return [_new_store(path)]
        version, newest = schema_version(path), newest_version()
    except (ConfigError, StoreError, OSError) as error:
        return [Finding("error", str(error))]  # it says what to do
    if version > newest:
        problem = f"{path} has schema {version}, this version of the bridge knows up to {newest}"
        return [Finding("error", problem, "install the newer version, or restore an older backup")]
    if version < newest:
        return [Finding("ok", f"{path}: schema {version}, `run` brings it to {newest}")]
    return [Finding("ok", f"{path}: schema {version}")]


async def _database(settings: StoreSettings) -> list[Finding]:
    try:
        known_key(settings.path)
        address = await address_of(settings)
        from bridge.store.postgresql.store import state_of

        version, newest = await asyncio.to_thread(state_of, address)
    except (ConfigError, StoreError, OSError) as error:
        return [Finding("error", str(error))]  # it says what to do
    if version is None:
        return [Finding("ok", f"{address} is empty: the store is made at the first start")]
    then = ""
    if version < newest:
        then = f", `run` brings it to {newest}"
    elif version > newest:
        then = f", of a newer version; this one, with schema {newest}, works with it"
    return [Finding("ok", f"{address}: schema {version}{then}")]


def _new_store(path: Path) -> Finding:
    folder = next(parent for parent in path.absolute().parents if parent.exists())
    if folder.is_dir() and os.access(folder, os.W_OK | os.X_OK):
        return Finding("ok", f"{path} is made at the first start")
    todo = f"make {str(path.parent)!r} and give it to the user that runs the bridge"
    return Finding("error", f"{path} cannot be made: {str(folder)!r} is not writable", todo)


def _web(settings: Settings) -> list[Finding]:
    findings: list[Finding] = []
    if running := running_bridge(settings.store.path):
        findings.append(Finding("ok", f"a bridge runs with this store, pid {running.pid}"))
    else:
        findings.append(_address(settings.web.host, settings.web.port))
    if settings.web.public_url is not None:
        findings.append(_public_url(settings.web.public_url))
    else:
        findings.append(_no_links())
    if settings.files.allow_loopback:
        findings.append(_loopback())
    return findings


def _loopback() -> Finding:
    warning = "files.allow_loopback is on: messages can make the bridge request this machine"
    return Finding("warning", warning, "take it out, unless the platforms are the sandbox's")


def _no_links() -> Finding:
    """No fault: who wants no open port has chosen it."""
    text = (
        "public_url is not set: a file that a platform does not take along with a message (too "
        "large, or of a kind it refuses) is shown as a link to where it came from, or its name"
    )
    return Finding("ok", text)


def _address(host: str, port: int) -> Finding:
    try:
        listen(host, port).close()
    except ConfigError as error:
        return _error_finding(error)
    return Finding("ok", f"{host}:{port} is free")


def _public_url(url: str) -> Finding:
    if problem := wrong_public_url(url):
        todo = "write web.public_url as https://HOST, where a proxy with TLS forwards to the bridge"
        return Finding("error", problem, todo)
    if url.startswith("http:"):
        return Finding("ok", f"public_url is {url}: works for the sandbox only")
    return Finding("ok", f"platforms reach the bridge at {url}")


# --- accounts and rooms -------------------------------------------------------------------------


@asynccontextmanager
async def _known_store(settings: Settings) -> AsyncGenerator[Store | None]:
    """The store if it can be read, else None; another chapter reports its problems."""
    try:
        store = await open_to_read(settings.store, SystemClock())
    except BridgeError:
        store = None
    try:
        yield store
    finally:
        if store is not None:
            await store.close()


async def _accounts_and_rooms(settings: Settings, store: Store | None) -> list[Chapter]:
    key_value_access = Overlay(store)
    secrets = await _secrets(settings, store, "accounts")
    whole = [
        n
        for n, account_findings in secrets.items()
        if all(f.level != "error" for f in account_findings)
    ]
    connectors, refused = _connectors(settings, store, key_value_access, whole)
    places = Places(connectors, key_value_access)
    try:
        rooms: list[Chapter] = []
        found_channels = _RoomChannels(places, connectors)
        for name, room in settings.rooms.items():
            rooms.append((f"Room {name}", await _room(room, found_channels)))
        accounts: list[Chapter] = []
        for name, account_findings in secrets.items():
            more = [*account_findings, *refused.get(name, ())]
            if (connector := connectors.get(AccountId(name))) is not None:
                unique = list(dict.fromkeys(found_channels.channels.get(name, ())))
                more += await _account(name, connector, unique, settings)
            accounts.append((f"Account {name} ({settings.accounts[name].platform})", more))
        return accounts + rooms
    finally:
        await places.close()
        for connector in connectors.values():
            await connector.close()


def _connectors(
    settings: Settings, store: Store | None, key_value_access: Overlay, names: Sequence[str]
) -> tuple[dict[AccountId, Connector], dict[str, list[Finding]]]:
    """The connectors that can be built, and the findings about the others."""
    built: dict[AccountId, Connector] = {}
    refused: dict[str, list[Finding]] = {}
    for name in names:
        try:
            built |= build_connectors(settings, store, SystemClock(), [name], key_value_access)
        except ConfigError as error:
            refused[name] = [Finding("error", str(error), "correct it in the configuration")]
    return built, refused


async def _accounts_and_rooms_offline(settings: Settings, store: Store | None) -> list[Chapter]:
    """What the file alone shows."""
    secrets = await _secrets(settings, store, "accounts")
    accounts: list[Chapter] = []
    for name, account_findings in secrets.items():
        entry = settings.accounts[name]
        try:
            connector_type(entry.platform).verify(AccountId(name), entry.options)
        except ConfigError as error:
            account_findings.append(Finding("error", str(error), "correct it in the configuration"))
        account_findings.append(Finding("ok", "its platform was not checked"))
        accounts.append((f"Account {name} ({entry.platform})", account_findings))
    rooms = [(f"Room {name}", _room_offline(room)) for name, room in settings.rooms.items()]
    return [*accounts, *rooms]


def _room_offline(room: RoomSettings) -> list[Finding]:
    findings: list[Finding] = []
    channels: set[tuple[str, str, str]] = set()
    for member in room.members:
        name = member.channel.removeprefix("#").casefold()
        key = (member.account, (member.workspace or "").casefold(), name)
        if key in channels and not member.is_pattern:
            text = f"{member.account}: channel {member.channel!r} is in this room already"
            findings.append(Finding("error", text, "remove one line"))
        else:
            text = f"{member.account}: {member.channel} was not looked for ({member.flow})"
            findings.append(Finding("ok", text))
        channels.add(key)
    return findings + _too_few_channels(room)


# --- agents and tools ---------------------------------------------------------------------------


def picture_findings(picture: str | None, public_url: str | None) -> list[Finding]:
    """Whether platforms can show this picture of an agent."""
    if picture is None:
        return []
    try:
        loaded = agent_picture(picture)
    except ConfigError as error:
        return [_error_finding(error, "picture: ")]
    if loaded.content and public_url is None:
        problem = "picture: platforms cannot fetch the file, and show their own stand-in"
        return [Finding("warning", problem, "set web.public_url, or give an https address")]
    return [Finding("ok", f"picture is there ({loaded.media_type or loaded.url})")]


async def _agents_and_tools(
    settings: Settings, store: Store | None, *, offline: bool
) -> list[Chapter]:
    """Chapters of the policies, agents and tool servers with findings."""
    built, refused = _buildable_agents(settings, store)
    agent_findings = {} if offline else await ask_agents(built)
    secrets = await _secrets(settings, store, "agents")
    chapters: list[Chapter] = []
    for name, entry in settings.policies.items():
        if refusal := refused.get(f"policies.{name}"):
            chapters.append((f"Policy {name} ({entry.kind})", [refusal]))
    for name, entry in settings.agents.items():
        picture = picture_findings(entry.picture, settings.web.public_url)
        findings = [*secrets[name], *picture, *agent_findings.get(name, ())]
        findings += [finding for finding in (refused.get(f"agents.{name}"),) if finding]
        if findings:
            chapters.append((f"Agent {name} ({entry.kind})", findings))
    return chapters + await _tools(settings, store, offline=offline)


def _buildable_agents(
    settings: Settings, store: Store | None
) -> tuple[dict[str, Agent], dict[str, Finding]]:
    """The agents that can be built, and findings about other agents and about policies."""
    todo = "correct it in the configuration"
    clock = SystemClock()
    built: dict[str, Agent] = {}
    refused: dict[str, Finding] = {}
    for name in settings.policies:
        policy_settings = {name: settings.policies[name]}
        try:
            build_policies(settings.model_copy(update={"policies": policy_settings}))
        except ConfigError as error:
            refused[f"policies.{name}"] = Finding("error", str(error), todo)
    if refused:
        return {}, refused
    try:
        return build_agents(settings, store, clock, None), refused
    except ConfigError:  # one of them: which, and why
        pass
    for name in settings.agents:
        try:
            built |= build_agents(settings, store, clock, None, only=[name])
        except ConfigError as error:
            finding = _error_finding(error)
            refused[f"agents.{name}"] = replace(finding, todo=finding.todo or todo)
    return built, refused


async def _tools(settings: Settings, store: Store | None, *, offline: bool) -> list[Chapter]:
    if not settings.tools:
        return []
    try:
        check_installed()
    except ConfigError as error:
        return [("Tools", [_error_finding(error)])]
    secrets = await _secrets(settings, store, "tools")
    chapters: list[Chapter] = []
    for name, server in settings.tools.items():
        findings = secrets[name]
        unmet_secrets = any(finding.level == "error" for finding in findings)
        if problem := missing_program(server):
            findings.append(Finding("error", problem, "install it, or correct `command`"))
        elif not offline and not unmet_secrets:
            findings += await _tool_server_findings(name, server, SecretReader(store))
        chapters.append((f"Tools {name}", findings or [Finding("ok", "its program is there")]))
    return chapters


async def _tool_server_findings(
    name: str, settings: ToolServerSettings, secrets: SecretSource
) -> Sequence[Finding]:
    """Findings of a tool server's address, and whether the server lists its tools."""
    findings = [] if settings.url is None else await probe_address(settings, secrets)
    if any(finding.level == "error" for finding in findings):
        return findings
    server = McpServer(name, settings, secrets, SystemClock(), None)
    try:
        if problem := await server.proved():
            return [Finding("error", problem, TOOLS_TODO)]
        return [*findings, Finding("ok", f"it lists {many(len(server.listed), 'tool')}")]
    finally:
        await server.close()


async def _secrets(
    settings: Settings, store: Store | None, section: str
) -> dict[str, list[Finding]]:
    """Account, agent or tool server -> whether its secrets are set."""
    findings: dict[str, list[Finding]] = {name: [] for name in getattr(settings, section)}
    unmet_needs = {
        (need.part, need.problem): need for need in await unmet(settings, SecretReader(store))
    }
    for (part, problem), need in unmet_needs.items():
        if part.partition(".")[0] == section:
            findings[part.partition(".")[2]].append(Finding("error", problem, need.todo))
    for part, key, ref in named_secrets(settings):
        name = part.partition(".")[2]
        is_unmet = any(problem.startswith(f"{key}: ") for at, problem in unmet_needs if at == part)
        if part.partition(".")[0] == section and not is_unmet:
            findings[name].append(Finding("ok", f"{key} is there ({ref})"))
    return findings


async def _account(
    name: str, connector: Connector, channels: Sequence[ChannelRef], settings: Settings
) -> list[Finding]:
    findings = await check_account(name, connector, channels, settings, _DEADLINE)
    findings += [
        outsider for channel in channels for outsider in await _outsiders(connector, channel)
    ]
    if calls_us(connector):
        findings += _reachability(name, settings.web.public_url, findings)
    return findings


async def _outsiders(connector: Connector, channel: ChannelRef) -> list[Finding]:
    """A warning for a channel that people outside the workspace read; a failed look-up has a
    finding elsewhere."""
    outsiders = connector.abilities.outsiders
    if outsiders is None:
        return []
    try:
        async with asyncio.timeout(_DEADLINE):
            others = await outsiders.of_channel(channel)
    except (BridgeError, TimeoutError):
        return []
    todo = "it shows the messages of the room's other channels: make it flow: in if not meant"
    warning = f"{channel.channel} is also read by {' and '.join(others)}"
    return [Finding("warning", warning, todo)] if others else []


def _reachability(name: str, public_url: str | None, findings: Sequence[Finding]) -> list[Finding]:
    """Whether the platform can call the bridge, unless the connector's findings already say so."""
    if any("public_url" in finding.what for finding in findings if finding.level != "ok"):
        return []
    if public_url is None:
        return [Finding("error", UNREACHABLE, REACHABLE)]
    return [Finding("ok", f"its platform calls {public_url.rstrip('/')}/{name}/...")]


@dataclass
class _RoomChannels:
    """The channels of the rooms that were found so far: those of each account, and the account that
    posts in each."""

    places: Places
    connectors: Mapping[AccountId, Connector]
    channels: dict[str, list[ChannelRef]] = field(default_factory=dict[str, list[ChannelRef]])
    speakers: dict[ChannelRef, str] = field(default_factory=dict[ChannelRef, str])


async def _room(room: RoomSettings, found_channels: _RoomChannels) -> list[Finding]:
    """A finding for each channel of the room; notes found channels for the checks of their
    accounts."""
    findings: list[Finding] = []
    room_channels: list[ChannelRef] = []
    for member in in_order(room.members):
        for place in matching_accounts(member, list(found_channels.connectors)):
            if AccountId(place.account) not in found_channels.connectors:
                problem = (
                    f"{place.channel} was not looked for: account {place.account!r} is not ready"
                )
                findings.append(Finding("warning", problem, "correct the account first"))
            elif member.is_pattern:
                findings.append(await _pattern(place, room_channels, found_channels))
            else:
                findings.append(await _channel(place, room_channels, found_channels))
    return findings + _too_few_channels(room)


def _too_few_channels(room: RoomSettings) -> list[Finding]:
    found_channels = any(member.is_pattern or member.flow == "in" for member in room.members)
    if len(room.members) != 1 or room.agents or found_channels:
        return []
    todo = "add another channel, or an agent, if this is not intended"
    return [Finding("warning", "one channel alone is only archived", todo)]


async def _pattern(
    member: MemberSettings, room_channels: list[ChannelRef], found_channels: _RoomChannels
) -> Finding:
    """The channels that the pattern matches now."""
    try:
        channels = await found_channels.places.find_all(member)
    except BridgeError as error:
        return Finding("error", str(error), "correct the account first")
    names: list[str] = []
    for channel, name in channels:
        if (
            channel not in room_channels
            and found_channels.speakers.get(channel, member.account) == member.account
        ):
            _note(member, channel, room_channels, found_channels)
            names.append(f"#{name}")
    text = f"{member.account}: {member.channel} means {', '.join(names) or 'no channel yet'}"
    if not names and not channels:
        todo = "invite the bot to such channels, or correct the pattern; if none is there yet, wait"
        return Finding("warning", text, todo)
    return Finding("ok", f"{text} ({member.flow})")


async def _channel(
    member: MemberSettings, room_channels: list[ChannelRef], found_channels: _RoomChannels
) -> Finding:
    try:
        channel = await found_channels.places.find(member)
    except BridgeError as error:
        todo = "correct the name or id, or invite the bot there"
        return Finding("error", str(error), "correct the account" if error.__cause__ else todo)
    try:
        check_once(member, channel, found_channels.speakers, room_channels)
    except ConfigError as error:
        return _error_finding(error)
    _note(member, channel, room_channels, found_channels)
    name = "" if member.channel == channel.channel else f" is {channel.channel}"
    return Finding("ok", f"{member.account}: {member.channel}{name} ({member.flow})")


def _note(
    member: MemberSettings,
    channel: ChannelRef,
    room_channels: list[ChannelRef],
    found_channels: _RoomChannels,
) -> None:
    room_channels.append(channel)
    found_channels.speakers.setdefault(channel, member.account)
    found_channels.channels.setdefault(member.account, []).append(channel)


def _error_finding(error: BridgeError, prefix: str = "") -> Finding:
    """The finding of an error text of the form `PROBLEM; TODO`."""
    problem, _, todo = str(error).partition("; ")
    return Finding("error", f"{prefix}{problem}", todo)
