"""Builds a bridge that is ready to run from its settings; the only file that knows every part."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import math
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field
from functools import partial
from uuid import uuid4
from weakref import WeakKeyDictionary

import structlog
from pydantic import BaseModel

from bridge.app.account_values import AccountShelf, KeyValueAccess, Overlay
from bridge.app.agent_directory.consulting import Consultations
from bridge.app.agent_directory.directory import Directory, DirectorySettings
from bridge.app.agent_directory.home import Home, home_of
from bridge.app.agent_directory.model_ranking import ModelRanking
from bridge.app.agent_directory.tools import AgentTools
from bridge.app.cluster.calls import Calls
from bridge.app.cluster.member import Member
from bridge.app.files.blob_store import open_blob_store
from bridge.app.files.fetch import FetchLimits, GuardedFetcher
from bridge.app.files.file_links import FileLinks
from bridge.app.files.pictures import AgentPicture, AuthorPictures, agent_picture
from bridge.app.installs.desk import Installs, build_installs
from bridge.app.opening import open_shared, open_to_write
from bridge.app.origin import check_one_place
from bridge.app.redaction import hide_secrets
from bridge.app.rooms.find import RoomFinder
from bridge.app.rooms.guests import Guest, check_address, free_name, guests_of, with_guests
from bridge.app.settings.cluster import ClusterSettings
from bridge.app.settings.keys import key_for, known_key
from bridge.app.settings.needs import check_needs
from bridge.app.settings.quotas import quota_of
from bridge.app.settings.references import secrets_of
from bridge.app.settings.secrets import SecretReader
from bridge.app.settings.sections import Settings
from bridge.app.settings.traces import TraceSettings
from bridge.app.watch.store import StoreWatch
from bridge.content.cards.reader import Cards
from bridge.errors import ConfigError
from bridge.model import AccountId, RoomId
from bridge.model.assignments import (
    UPKEEP,
    Assignment,
    account_assignment,
    agent_assignment,
)
from bridge.model.secret_refs import SecretRef
from bridge.policies.guarded import GuardedAgent
from bridge.policies.secrets import Secrets
from bridge.ports.abilities.http import AsgiApp
from bridge.ports.agent import Agent
from bridge.ports.clock import Clock
from bridge.ports.connector import Connector, ConnectorTools
from bridge.ports.content_policy import ContentPolicy
from bridge.ports.files import Files
from bridge.ports.installs import Tenancy
from bridge.ports.key_values import KeyValues
from bridge.ports.secrets import SecretSource
from bridge.ports.store.whole import Store
from bridge.ports.tools import AGENT_TOOLS
from bridge.ports.traces import Tracer
from bridge.router import Rooms, Router, Timeouts
from bridge.router.outbound.references import Groups
from bridge.router.recovery.other_bridges import instance_of
from bridge.router.rooms.rooms import Room
from bridge.router.turns.quotas import Prices, QuotaSettings
from bridge.router.turns.visitors import Visitors
from bridge.router.wiring import Configuration, ContentServices
from bridge.runtime.clock import SystemClock
from bridge.runtime.discovery import CONNECTORS, agent_type, connector_type, names_of, policy_type
from bridge.runtime.extras import how_to_install
from bridge.tools.toolbox import McpToolbox, open_toolbox

log = structlog.get_logger()


async def reload_unavailable() -> list[str]:
    raise ConfigError(
        "This bridge was started without a configuration file, so it cannot reload one"
    )


@dataclass
class Bridge:
    """All parts of a running bridge.

    - `problems`: parts of the configuration that do not work; the rest runs.
    - `unready`: parts that depend on other services that are not ready, and what is wrong.
    - `running`: the bridge routes messages and does not stop yet.
    - `finder`: finds the channels of the rooms.
    - `member`: this process among those that share the store; None if it has it for itself.
    - `file_settings`: the settings of the file; `settings` has guests and tenants, too.
    """

    settings: Settings
    store: Store
    connectors: dict[AccountId, Connector]
    agents: dict[str, Agent]
    rooms: Rooms
    router: Router
    clock: Clock
    problems: list[str]
    files: Files
    links: FileLinks | None
    tools: McpToolbox
    pictures: AuthorPictures
    directory: Directory
    consultations: Consultations
    installs: Installs
    file_settings: Settings
    finder: RoomFinder

    unready: dict[str, str] = field(default_factory=dict[str, str])
    reload: Callable[[], Awaitable[list[str]]] = reload_unavailable
    running: bool = False
    tracer: Tracer | None = None
    member: Member | None = None
    watch: StoreWatch = field(init=False)

    def __post_init__(self) -> None:
        self.watch = StoreWatch(self.store, self.clock)
        self._http_apps: WeakKeyDictionary[Connector, AsgiApp] = WeakKeyDictionary()

    def http_app(self, account: AccountId) -> AsgiApp | None:
        """Return what answers the platform's requests for an account; None if there is no such
        account, or its platform sends none."""
        connector = self.connectors.get(account)
        http = connector.abilities.http if connector else None
        if connector is None or http is None:
            return None
        if connector not in self._http_apps:
            self._http_apps[connector] = http.app(self.router.inbox)
        return self._http_apps[connector]

    async def close(self) -> None:
        if self.member is not None:
            await self.member.close()
        for connector in self.connectors.values():
            await connector.close()
        await self.installs.close()
        await self.tools.close()
        await close_files(self.files)
        await self.store.close()
        if self.tracer is not None:
            await self.tracer.close()


@dataclass(frozen=True)
class _AgentTools:
    clock: Clock
    secrets: SecretSource
    files: Files | None
    key_value_access: KeyValueAccess
    public_url: str = ""

    def key_values(self, agent: str) -> KeyValues:
        return AccountShelf(self.key_value_access, AccountId(f"agent:{agent}"))


def _not_running() -> Visitors:
    raise ConfigError("The bridge does not run yet")


class _Current:
    """The settings that are in effect, for what is built before the bridge."""

    def __init__(self, settings: Settings) -> None:
        self.settings = lambda: settings
        self.room_of: Callable[[RoomId], Room | None] = lambda _: None
        self.visitors: Callable[[], Visitors] = _not_running

    def home(self) -> Home:
        return home_of(self.settings())

    def directory(self) -> DirectorySettings:
        own = self.settings().openfloor
        return DirectorySettings(own.directory, own.private_addresses, own.invite)


async def build(settings: Settings) -> Bridge:
    """Open the store, build accounts and agents, and find the channels.

    Raises:
        ConfigError: A secret is missing, or a part cannot be built.
        StoreError: The store cannot be opened.
    """
    check_one_place()
    clock = SystemClock()
    store: Store
    store, member = (
        (await open_store(settings, clock), None)
        if settings.cluster is None
        else await join_cluster(settings, clock, lambda: wanted())
    )
    connectors: dict[AccountId, Connector] = {}
    files: Files | None = None
    try:
        await check_needs(settings, SecretReader(store))
        current = _Current(settings)
        installs = build_installs(
            settings, store, clock, SecretReader(store), lambda: current.settings()
        )
        file_settings = settings
        settings = await installs.accounts_in(with_guests(settings, await guests_of(store)))
        links = file_links(settings, clock)
        files = await open_files(settings, clock, links)
        instance = await instance_of(store, lambda: uuid4().hex)
        connectors = build_connectors(
            settings, store, clock, files=files, instance=instance,
            tenancy_of=partial(tenancy_of, installs, file_settings),
        )  # fmt: skip
        agents = build_agents(settings, store, clock, files)
        ranking = ModelRanking(agents, lambda: current.settings().openfloor.ranker, clock)
        directory = Directory(current.home, current.directory, clock, ranking)
        consultations = Consultations(
            store, clock, directory, agents, lambda room: current.room_of(room),
            partial(_agent_at, current, directory, store, clock, files),
            lambda: current.visitors(),
        )  # fmt: skip
        own = {AGENT_TOOLS: AgentTools(directory, consultations)}
        tools = open_toolbox(settings.tools, SecretReader(store), clock, files, own)
        problems: list[str] = []
        finder = RoomFinder(store, installs.serves)
        rooms = await finder.find(settings, connectors, problems)
        drawn = agent_pictures(settings, problems)
        pictures = AuthorPictures(key_for(settings.store.path), settings.web.public_url, drawn)
        tracer = open_tracer(settings.traces)
    except BaseException:
        for connector in connectors.values():
            await connector.close()
        if files is not None:
            await close_files(files)
        await store.close()
        raise
    router = Router(
        store=store, connectors=connectors, agents=agents,
        configuration=Configuration(
            rooms, settings.admins, groups_of(settings), email_key(settings),
            quotas=quotas_of(settings, installs), paces=installs.paces(settings.installs),
        ),
        clock=clock, timeouts=timeouts_of(settings),
        content=ContentServices(all_cards(settings), files, pictures), tools=tools,
        tracer=tracer, cluster=member,
    )  # fmt: skip
    if member is not None:
        member.measure(router.signals)
    bridge = Bridge(
        settings, store, connectors, agents, rooms, router, clock, problems, files, links, tools,
        pictures, directory, consultations, installs, file_settings, finder, tracer=tracer,
        member=member,
    )  # fmt: skip
    wanted = partial(wanted_assignments, bridge)
    installs.app_of = bridge.http_app
    current.settings = lambda: bridge.settings
    current.room_of = lambda room: bridge.rooms.by_id.get(room)
    current.visitors = lambda: router.operations.visitors
    return bridge


def open_tracer(settings: TraceSettings) -> Tracer | None:
    """The tracer of these settings; None without an endpoint: OpenTelemetry is not imported then.
    Raises ConfigError where the extra `otel` is not installed."""
    if settings.endpoint is None:
        return None
    try:
        from bridge.app.watch.traces import otlp_tracer
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"traces.endpoint needs the package {error.name}: {how_to_install('otel')}"
        ) from None
    return otlp_tracer(settings.endpoint, settings)


def tenancy_of(installs: Installs, file: Settings, account: str, platform: str) -> Tenancy | None:
    """The tenancy of an account that serves tenants; None for one of the file."""
    return installs.tenancy_of(AccountId(account), platform, file)


async def _agent_at(
    current: _Current,
    directory: Directory,
    store: Store,
    clock: Clock,
    files: Files,
    url: str,
) -> Agent:
    """The agent at an address, for one question. Raises ConfigError for one that may not come."""
    settings = current.settings()
    check_address(url, settings)
    own = free_name(await directory.name_at(url), url, settings.agents)
    settings = with_guests(settings, [Guest("", own, url)])
    built = await asyncio.to_thread(build_agents, settings, store, clock, files, [own])
    return built[own]


def agent_pictures(settings: Settings, problems: list[str]) -> dict[str, AgentPicture]:
    """The pictures of agents; adds a line to `problems` for each that cannot be loaded."""
    pictures: dict[str, AgentPicture] = {}
    for name, entry in settings.agents.items():
        if entry.picture is None:
            continue
        try:
            pictures[name] = agent_picture(entry.picture)
        except ConfigError as error:
            problems.append(f"agents.{name}.picture: {error}")
    return pictures


def build_agents(
    settings: Settings,
    store: Store | None,
    clock: Clock,
    files: Files | None,
    only: Collection[str] | None = None,
    key_value_access: KeyValueAccess | None = None,
) -> dict[str, Agent]:
    """All agents (or `only` these), each behind its policies."""
    tools = _AgentTools(
        clock, SecretReader(store), files, key_value_access or store or Overlay(None),
        (settings.web.public_url or "").rstrip("/"),
    )  # fmt: skip
    refs = secret_refs(settings)  # once: a bridge may have hundreds of agents
    hides_secrets = Secrets(lambda: known_secrets(refs, tools.secrets), hide_secrets)
    policies = build_policies(settings)
    return {
        name: GuardedAgent(
            agent_type(entry.kind).build(name, entry.options, tools),
            [hides_secrets, *(policies[policy] for policy in entry.policies)],
        )
        for name, entry in settings.agents.items()
        if only is None or name in only
    }


def build_policies(settings: Settings) -> dict[str, ContentPolicy]:
    return {
        name: policy_type(entry.kind).build(entry.options)
        for name, entry in settings.policies.items()
    }


def secret_refs(settings: Settings) -> frozenset[SecretRef]:
    """The secrets that accounts and agents of the configuration refer to."""
    entries = (*settings.accounts.values(), *settings.agents.values())
    options = (*(entry.options for entry in entries), *settings.installs.apps.values())
    refs = frozenset(ref for own in options for _, ref in secrets_of(own))
    blobs = settings.store.blobs
    return refs if blobs is None else refs | frozenset(blobs.refs().values())


async def known_secrets(refs: Collection[SecretRef], secrets: SecretSource) -> set[str]:
    """The values of those secrets that are set."""
    values: set[str] = set()
    for ref in refs:
        with contextlib.suppress(ConfigError):
            values.add(await secrets.secret(ref))
    return values


async def open_store(settings: Settings, clock: Clock) -> Store:
    """Open the store of these settings with its key, for this process alone.

    Raises:
        StoreError: The store cannot be opened.
    """
    return await open_to_write(settings.store, clock)


async def join_cluster(
    settings: Settings, clock: Clock, wanted: Callable[[], Collection[Assignment]]
) -> tuple[Store, Member]:
    """Open the store as one of the processes that share it; `wanted`: what they share out.

    Raises:
        StoreError: The store cannot be opened.
        ConfigError: The store cannot be shared, or a package or a secret is missing.
    """
    own = settings.cluster or ClusterSettings()
    token = own.nats_token and await SecretReader(None).secret(own.nats_token)
    calls = Calls(own.nats, token, settings.store.url or "") if own.nats else None
    store = await open_shared(settings.store, clock)
    member = Member(store, wanted, calls)
    try:
        await member.prepare()
    except BaseException:
        await store.close()
        raise
    return store, member


def wanted_assignments(bridge: Bridge) -> Collection[Assignment]:
    """The accounts and agents of the bridge, and the upkeep."""
    accounts = map(account_assignment, bridge.connectors)
    return {UPKEEP, *accounts, *map(agent_assignment, bridge.agents)}


async def open_files(settings: Settings, clock: Clock, links: FileLinks | None) -> Files:
    """The files of these settings: stored in a folder or a bucket, fetched, and served."""
    file_settings = settings.files
    blobs = await open_blob_store(settings.store.path, settings.store.blobs, clock=clock)
    limits = FetchLimits(
        size=int(file_settings.max_file_mb * 1_000_000), seconds=file_settings.fetch_seconds
    )
    fetcher = GuardedFetcher(blobs, limits, loopback=file_settings.allow_loopback)
    return Files(blobs, fetcher) if links is None else Files(blobs, fetcher, links.url_of)


async def close_files(files: Files) -> None:
    await files.fetcher.close()
    await files.blobs.close()


def file_links(settings: Settings, clock: Clock) -> FileLinks | None:
    """The signer of links to files; None without a public address, where nobody could open them."""
    url = settings.web.public_url
    if url is None:
        return None
    return FileLinks(key_for(settings.store.path), url, settings.files.link_days * 86_400, clock)


def all_cards(settings: Settings) -> Cards:
    """The card codecs of every installed platform, also of those without an account."""
    codecs = [connector_type(name).codec() for name in names_of(CONNECTORS)]
    key = known_key(settings.store.path) or b""
    return Cards.over(codecs, hmac.digest(key, b"uacs-bridge tokens of actions", "sha256"))


def build_connectors(
    settings: Settings,
    store: Store | None,
    clock: Clock,
    only: Collection[str] | None = None,
    key_value_access: KeyValueAccess | None = None,
    files: Files | None = None,
    instance: str = "",
    tenancy_of: Callable[[str, str], Tenancy | None] = lambda _account, _platform: None,
) -> dict[AccountId, Connector]:
    """A connector for each account (or `only` these); imports only their platforms."""
    secrets = SecretReader(store)
    key_value_access = key_value_access or store or Overlay(None)
    cards = all_cards(settings)
    built: dict[AccountId, Connector] = {}
    for name, entry in settings.accounts.items():
        if only is not None and name not in only:
            continue
        account = AccountId(name)
        tools = ConnectorTools(
            clock=clock,
            secrets=secrets,
            key_values=AccountShelf(key_value_access, account),
            public_url=settings.web.public_url,
            files=files,
            cards=cards,
            send_deadline=settings.delivery.send_deadline,
            instance=instance,
            tenancy=tenancy_of(name, entry.platform),
        )
        built[account] = connector_type(entry.platform).build(account, entry.options, tools)
    return built


def groups_of(settings: Settings) -> Groups:
    """Equal roles and user groups: name -> account -> id."""
    return {
        name: {AccountId(account): group for account, group in accounts.items()}
        for name, accounts in settings.people.groups.items()
    }


def email_key(settings: Settings) -> bytes | None:
    """The key of digests of e-mail addresses; None unless people are linked by them."""
    if not settings.people.link_by_email:
        return None
    return hmac.digest(key_for(settings.store.path), b"uacs-bridge e-mail addresses", "sha256")


def quotas_of(settings: Settings, installs: Installs) -> QuotaSettings:
    """Quotas of rooms, agents, people and tenants, and the prices of models."""
    prices = {
        name: Prices(**prices_of_entry.model_dump())
        for name, entry in settings.agents.items()
        if isinstance(prices_of_entry := getattr(entry.options, "prices", None), BaseModel)
    }
    return QuotaSettings(
        rooms={RoomId(name): quota_of(entry.quota) for name, entry in settings.rooms.items()},
        agents={name: quota_of(entry.quota) for name, entry in settings.agents.items()},
        person=quota_of(settings.people.quota),
        tenants=installs.quotas(settings.installs),
        prices=prices,
    )


def timeouts_of(settings: Settings) -> Timeouts:
    """The router's timeouts and limits."""
    delivery, catch_up = settings.delivery, settings.catch_up
    return Timeouts(
        most_posts=catch_up.max_posts,
        reconcile_window=catch_up.reconcile_hours * 3600,
        reconcile_messages=catch_up.reconcile_messages,
        reconcile_requests=catch_up.reconcile_requests,
        reconcile_pause=60 / catch_up.requests_per_minute,
        announce_after=catch_up.announce_after,
        stalled_after=catch_up.stalled_after,
        orphan_wait=catch_up.orphan_timeout,
        settle_grace=delivery.settle_grace,
        settle_late=delivery.settle_late,
        send_deadline=delivery.send_deadline,
        retry_for=delivery.retry_for,
        retry_reactions_for=delivery.retry_reactions_for,
        retry_alone_for=delivery.retry_single_for,
        longest_backoff=delivery.max_backoff,
        turn_idle=delivery.agent_idle,
        drain=delivery.drain,
        late_after=math.inf if delivery.late_after is None else delivery.late_after,
    )
