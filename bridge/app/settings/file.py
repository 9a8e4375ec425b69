"""The configuration file -> validated settings; errors name the place and the nearest known key."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, cast, get_origin

from pydantic import BaseModel, Field, PrivateAttr, ValidationError
from pydantic_core import ErrorDetails

from bridge.app.redaction import hide_secrets
from bridge.app.settings.agent_memberships import DirectSettings, membership_problems
from bridge.app.settings.catch_up import CatchUpSettings
from bridge.app.settings.cluster import ClusterSettings
from bridge.app.settings.installs import InstallSettings
from bridge.app.settings.keep import ArchiveSettings
from bridge.app.settings.manifest import ManifestSettings
from bridge.app.settings.nearest import closest, nearest
from bridge.app.settings.quotas import QuotaSettings
from bridge.app.settings.rooms import RelaySettings, RoomSettings
from bridge.app.settings.store import StoreSettings
from bridge.app.settings.strict import NativeId, StrictSettings
from bridge.app.settings.traces import TraceSettings
from bridge.app.settings.unmatched_people import unmatched_approvers, unmatched_globs
from bridge.app.settings.yaml_file import read_yaml
from bridge.content.text.globs import Glob, is_glob, matches
from bridge.errors import ConfigError
from bridge.model.secret_refs import SecretRef
from bridge.ports.installs import HasInstalls
from bridge.ports.tools import AGENT_TOOLS
from bridge.runtime.discovery import (
    AGENTS,
    CONNECTORS,
    POLICIES,
    agent_type,
    connector_type,
    names_of,
    policy_type,
)
from bridge.runtime.renamed_keys import KeyRenaming, RenamedFrom, RenamedKey
from bridge.tools.settings import ToolServerSettings

_NAME = re.compile(r"^[a-z0-9][a-z0-9_-]{0,62}$")
# The web server's own paths; each account is served below its name.
_OWN_ADDRESSES = (
    "a2a", "acp", "admin", "files", "healthz", "livez", "mcp", "metrics", "oauth", "openfloor",
    "pictures", "readyz", "v1",
)  # fmt: skip
# Keys that all agents have besides `kind`.
_SHARED = {"agents": frozenset({"quota", "picture", "policies", "tools", "manifest"})}
_HEX = re.compile(r"[0-9A-Fa-f]{32,}")  # signing secrets look like this
_LISTS = ("tuple_type", "list_type", "set_type", "frozen_set_type")
_MAPPINGS = ("dict_type", "mapping_type", "model_type", "model_attributes_type")
_QUOTED = re.compile(r"'([^']*)'")
# The names that POSIX allows; anything else is more likely the secret itself.
_VARIABLE = re.compile(r"^[A-Za-z_][A-Za-z0-9_]{0,127}$")


class AccountSettings(StrictSettings):
    """Settings of an account: a Slack app in a workspace, a Discord bot, a Teams bot."""

    platform: str = Field(description="Its platform: slack, discord, teams, irc.")
    options: Any = Field(
        default=None, description="The platform's own settings, which its connector validates."
    )


class AgentSettings(StrictSettings):
    """Settings of an agent; people write its name after the @."""

    kind: str = Field(
        description="Its agent API: echo, openai-chat, openai-responses, anthropic, "
        "gemini, ailoy, a2a, acp, openfloor, webhook."
    )
    tools: tuple[str, ...] = Field(
        default=(), description="The servers under `tools` whose tools it may call."
    )
    options: Any = Field(default=None, description="The agent API's own settings.")
    manifest: ManifestSettings = Field(
        default=ManifestSettings(), description="What agents of other makers learn about it."
    )
    picture: str | None = Field(
        default=None,
        description="The picture beside its messages: an https address, or a PNG, JPEG, GIF or "
        "WebP file (relative to the configuration file; needs web.public_url).",
    )
    quota: Annotated[QuotaSettings, RenamedFrom("budget")] = Field(
        default=QuotaSettings(), description="Limits of its cost in all rooms together."
    )
    policies: tuple[str, ...] = Field(
        default=(), description="The policies between the rooms and it: names under `policies`."
    )


class PolicySettings(StrictSettings):
    """Settings of a policy, which inspects everything that an agent receives and writes."""

    kind: str = Field(description="redact, deny, or a policy that is installed beside the bridge.")
    options: Any = Field(default=None, description="The policy's own settings.")


class WebSettings(StrictSettings):
    """Settings of the bridge's own web server."""

    host: str = Field(default="127.0.0.1", description="The address to listen on.")
    port: int = Field(default=8080, ge=0, le=65535, description="The port; 0 selects a free one.")
    public_url: str | None = Field(
        default=None,
        description="The address under which platforms reach the bridge, e.g. "
        "https://bridge.example.org.",
    )


class OpenFloorServerSettings(StrictSettings):
    """Settings of the rooms' Open Floor endpoints, `/openfloor/ROOM`."""

    directory: tuple[str, ...] = Field(
        default=(),
        description="Addresses that are asked for manifests of agents, when an agent looks for "
        "others (tools: [agents]).",
    )
    private_addresses: bool = Field(
        default=False,
        description="Whether an address of the directory may be in a private network.",
    )
    invite: tuple[Glob, ...] = Field(
        default=(),
        description="Hosts (globs) whose agents people may invite to a room by command; none: only "
        "agents of the configuration.",
    )
    discovery: bool = Field(
        default=False,
        description="Whether peers that look for agents are told of all that the bridge knows, "
        "ranked for their task.",
    )
    ranker: str | None = Field(
        default=None,
        description="The agent that ranks others for a task; null: the words of their manifests "
        "do.",
    )
    push: tuple[Glob, ...] = Field(
        default=(),
        description="Hosts (globs) of peers to whose address (`replyTo`, `serviceUrl`) answers are "
        "posted that took longer than `answer_seconds`; none: they come with the next answer.",
    )
    require_invite: bool = Field(
        default=False,
        description="Whether a peer has to invite a room before it speaks; otherwise its first "
        "utterance is an invitation.",
    )
    idle_minutes: float | None = Field(
        default=1440.0,
        gt=0,
        description="Minutes without an envelope after which a peer has left a room; null: it "
        "stays until it says good-bye.",
    )
    on_failure: Literal["stay", "yield", "bye", "propose"] = Field(
        default="yield",
        description="What a peer gets when an agent cannot answer it: stay: words; yield: the "
        "floor back, with the reason; bye: a good-bye; propose: other agents that fit.",
    )
    answer_seconds: float = Field(
        default=25.0,
        ge=0,
        le=300,
        description="Seconds that a request waits for the room's agents; what they say later comes "
        "with the answer to the next envelope.",
    )


class FileSettings(StrictSettings):
    """Settings of files: what the bridge fetches and stores, and how it shows them."""

    max_file_mb: Annotated[float, RenamedFrom("largest_mb")] = Field(
        default=100.0,
        gt=0,
        le=10_000,
        description="The largest file that the bridge fetches, in MB.",
    )
    fetch_seconds: float = Field(
        default=120.0, gt=0, description="Timeout of fetching one file, in seconds."
    )
    keep_unused_days: float | None = Field(
        default=30.0,
        ge=1,
        description="Days after which the bridge removes a file that no message uses any more; "
        "null: never.",
    )
    link_days: float = Field(
        default=30.0,
        gt=0,
        le=3650,
        description="Days for which a link to a stored file works; needs public_url.",
    )
    allow_loopback: bool = Field(
        default=False,
        description="Whether the bridge also fetches files from this machine: for the sandbox "
        "only.",
    )


class PeopleSettings(StrictSettings):
    """Settings of people: linked accounts, equal groups and quotas."""

    quota: Annotated[QuotaSettings, RenamedFrom("budget")] = Field(
        default=QuotaSettings(), description="Limits of agents' cost for each person."
    )
    link_by_email: bool = Field(
        default=False,
        description="Whether the bridge links accounts with the same e-mail address; it asks the "
        "platforms for addresses, and stores keyed digests of them.",
    )
    groups: dict[str, dict[str, NativeId]] = Field(
        default={},
        description="Roles and user groups that are the same, by a name of your choice: account -> "
        "the id of the group there.",
    )


class LogSettings(StrictSettings):
    """Settings of the log."""

    level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="The lowest level that is logged."
    )
    format: Literal["auto", "json", "text"] = Field(
        default="auto", description="json for machines, text for people; auto: text on a terminal."
    )


class DeliverySettings(StrictSettings):
    """Deadlines and retries of delivery."""

    settle_grace: float = Field(
        default=2.0,
        ge=0,
        description="Seconds after a lost response before the bridge checks whether the post "
        "arrived.",
    )
    settle_late: float = Field(
        default=30.0,
        ge=0,
        description="Seconds after `send_deadline` during which the bridge looks for a post "
        "without a response, before it sends it again: a slow platform may accept it late.",
    )
    send_deadline: float = Field(
        default=30.0,
        gt=0,
        description="Timeout of one request to a platform, in seconds; files take longer.",
    )
    retry_for: float = Field(
        default=86400.0,
        gt=0,
        description="Seconds after which a post, an edit or a deletion that its platform does not "
        "accept (5xx, no connection, rate limits, rejected tokens, missing permissions) becomes a "
        "dead letter.",
    )
    retry_reactions_for: Annotated[float, RenamedFrom("retry_marks_for")] = Field(
        default=3600.0, gt=0, description="The same for reactions and pins."
    )
    retry_single_for: Annotated[float, RenamedFrom("retry_alone_for")] = Field(
        default=600.0,
        gt=0,
        description="Seconds for which one request may fail before the bridge tries the requests "
        "behind it in its channel. If the platform accepts one of these, the bridge tries the "
        "failing one a last time and makes it a dead letter; if they fail as well, all wait in "
        "their order.",
    )
    max_backoff: Annotated[float, RenamedFrom("longest_backoff")] = Field(
        default=60.0, gt=0, description="The longest pause between two attempts, in seconds."
    )
    agent_idle: float = Field(
        default=60.0,
        gt=0,
        description="Seconds that an agent may be silent before the bridge gives it up.",
    )
    late_after: float | None = Field(
        default=120.0,
        gt=0,
        description="Seconds that a channel may be behind before the bridge tells the room's "
        "other channels; null: never.",
    )
    drain: float = Field(
        default=5.0, ge=0, description="Seconds that a stop waits for running work."
    )


class Settings(StrictSettings):
    """The whole configuration file."""

    accounts: dict[str, AccountSettings] = Field(
        default={}, description="Accounts of the bridge, by a name of your choice."
    )
    rooms: dict[str, RoomSettings] = Field(
        default={}, description="Rooms, by a name of your choice."
    )
    agents: dict[str, AgentSettings] = Field(
        default={}, description="Agents, by the name that people write after the @."
    )
    tools: dict[str, ToolServerSettings] = Field(
        default={}, description="Tool servers (MCP), by a name of your choice."
    )
    admins: tuple[Glob, ...] = Field(
        default=(),
        description="Who may give admins' commands in channels: ids (slack:T01:U01) or globs of "
        "them.",
    )
    store: StoreSettings = Field(
        default=StoreSettings(), description="Where the bridge stores everything."
    )
    cluster: ClusterSettings | None = Field(
        default=None,
        description="Makes this process one of many that share a PostgreSQL store; null: it has "
        "the store for itself.",
    )
    web: WebSettings = Field(default=WebSettings(), description="The bridge's own web server.")
    openfloor: OpenFloorServerSettings = Field(
        default=OpenFloorServerSettings(),
        description="Rooms as endpoints for agents of other makers.",
    )
    files: FileSettings = Field(
        default=FileSettings(), description="Files: what the bridge fetches and stores."
    )
    archive: ArchiveSettings = Field(
        default=ArchiveSettings(), description="What the archive keeps, and for how long."
    )
    direct: tuple[DirectSettings, ...] = Field(
        default=(), description="Agents that answer direct messages."
    )
    policies: dict[str, PolicySettings] = Field(
        default={}, description="Policies of agents, by a name of your choice."
    )
    people: PeopleSettings = Field(
        default=PeopleSettings(), description="Linked accounts, equal groups and quotas."
    )
    installs: InstallSettings = Field(
        default=InstallSettings(),
        description="Apps that many workspaces install by themselves, each as a tenant.",
    )
    log: LogSettings = Field(default=LogSettings(), description="Level and format of the log.")
    traces: TraceSettings = Field(
        default=TraceSettings(), description="OpenTelemetry traces of messages."
    )
    catch_up: CatchUpSettings = Field(
        default=CatchUpSettings(),
        description="How the bridge catches up with time in which it received nothing.",
    )
    delivery: DeliverySettings = Field(
        default=DeliverySettings(), description="Deadlines and retries of delivery."
    )

    _renamed_keys: tuple[RenamedKey, ...] = PrivateAttr(default=())

    @property
    def renamed_keys(self) -> tuple[RenamedKey, ...]:
        """The keys of the version before that the file still has."""
        return self._renamed_keys

    def with_renamed_keys(self, renamed: Sequence[RenamedKey]) -> Settings:
        """The same settings, read from a file that has these old keys."""
        settings = self.model_copy()
        settings._renamed_keys = tuple(renamed)
        return settings


def read_settings(path: Path) -> Settings:
    """Read and validate a configuration file. Raises ConfigError, which lists every problem."""
    return settings_in(path, read_yaml(path))


KnownRooms = Mapping[str, tuple[object, RoomSettings]]
"""Rooms that were read before, by name: what YAML holds for each, and its settings."""


def settings_in(
    path: Path, data: object, known: KnownRooms | None = None, before: Settings | None = None
) -> Settings:
    """Validated settings from the value that `read_yaml` returned for this file.

    Relative paths become relative to the file's folder. `known` rooms are taken as they are: they
    were valid in the settings `before`. Raises ConfigError.
    """
    settings = settings_of(_with_known(data, known or {}), str(path), before)
    store_path = settings.store.path.expanduser()
    if store_path != path.parent / settings.store.path:
        store = settings.store.model_copy(update={"path": path.parent / store_path})
        settings = settings.model_copy(update={"store": store})
    agents = {name: _with_picture(agent, path) for name, agent in settings.agents.items()}
    return settings.model_copy(update={"agents": agents})


def _with_known(data: object, known: KnownRooms) -> object:
    """The same value with the settings of the rooms that did not change."""
    rooms = data.get("rooms") if isinstance(data, Mapping) else None
    if not known or not isinstance(data, Mapping) or not isinstance(rooms, Mapping):
        return data
    before = {name: known.get(name, (None, None)) for name in rooms}
    same = {name: entry for name, (value, entry) in before.items() if value == rooms[name]}
    return {**data, "rooms": {**rooms, **same}}


def _with_picture(agent: AgentSettings, path: Path) -> AgentSettings:
    """The agent with the path of its picture relative to the configuration file."""
    if agent.picture is None or "://" in agent.picture:
        return agent
    picture = str(path.parent / Path(agent.picture).expanduser())
    return agent.model_copy(update={"picture": picture})


def settings_of(
    data: object, source: str = "configuration", before: Settings | None = None
) -> Settings:
    """Validated settings from parsed YAML; `source` names it in errors, and rooms that are the same
    objects `before` were valid then. Raises ConfigError."""
    if not isinstance(data, Mapping):
        raise ConfigError(f"{source}: the top must be a mapping, not {type(data).__name__}")
    renaming = KeyRenaming()
    renamed = renaming.apply(Settings, data)
    prepared = dict(cast("Mapping[str, Any]", renamed))
    problems = renaming.problems
    for section, nested in (("accounts", "platform"), ("agents", "kind"), ("policies", "kind")):
        if isinstance(entries := prepared.get(section), Mapping):
            prepared[section] = {
                str(name): _with_options(section, str(name), entry, nested, renaming)
                for name, entry in entries.items()
            }
    prepared |= _with_install_apps(prepared.get("installs"), renaming)
    if isinstance(rooms := prepared.get("rooms"), Mapping):
        prepared["rooms"] = {str(name): room for name, room in rooms.items()}
    if isinstance(servers := prepared.get("tools"), Mapping):
        read = (
            (str(name), _tool_server(str(name), server, problems))
            for name, server in servers.items()
        )
        prepared["tools"] = {name: server for name, server in read if server is not None}
    try:
        settings = Settings.model_validate(prepared)
    except ValidationError as error:
        problems += _problems(error, Settings)
    else:
        problems += _reference_problems(settings, _rooms_to_check(settings, before))
        if not problems:
            return settings.with_renamed_keys(renaming.renamed)
    problems += map(str, renaming.renamed)
    lines = hide_secrets("\n".join(f"- {problem}" for problem in problems))
    raise ConfigError(f"{source} is not valid:\n{lines}")


def _with_options(
    section: str, name: str, entry: object, nested: str, renaming: KeyRenaming
) -> object:
    """An entry whose own keys were validated by its connector, agent API or policy."""
    if not isinstance(entry, Mapping) or not isinstance(kind := entry.get(nested), str):
        return entry
    group = {"accounts": CONNECTORS, "agents": AGENTS}.get(section, POLICIES)
    if kind not in names_of(group):
        hint = nearest(kind, names_of(group))
        renaming.problems.append(f"{section}.{name}.{nested}: there is no {nested} {kind!r}{hint}")
        return {nested: kind}
    types = {"accounts": connector_type, "agents": agent_type}
    model = types.get(section, policy_type)(kind).settings
    shared = _SHARED.get(section, frozenset())
    own = {key: value for key, value in entry.items() if key != nested and key not in shared}
    shared_values = {key: value for key, value in entry.items() if key in shared}
    own = renaming.apply(model, own, f"{section}.{name}")
    try:
        return {nested: kind, **shared_values, "options": model.model_validate(own)}
    except ValidationError as error:
        renaming.problems += [f"{section}.{name}.{text}" for text in _problems(error, model)]
        return {nested: kind, **shared_values}


def _with_install_apps(entry: object, renaming: KeyRenaming) -> dict[str, object]:
    """`installs` with the keys of each app validated by its connector; empty if there is none."""
    if not isinstance(entry, Mapping) or not isinstance(apps := entry.get("apps"), Mapping):
        return {}
    validated: dict[str, object] = {}
    offered = [
        name for name in names_of(CONNECTORS) if isinstance(connector_type(name), HasInstalls)
    ]
    for platform, own in apps.items():
        where = f"installs.apps.{platform}"
        kind = connector_type(platform) if platform in offered else None
        if not isinstance(kind, HasInstalls):
            problem = f"no app of {platform!r} can be installed; there are: {', '.join(offered)}"
            renaming.problems.append(f"{where}: {problem}")
            continue
        model = kind.installs().settings
        try:
            validated[platform] = model.model_validate(own)
        except ValidationError as error:
            renaming.problems += [f"{where}.{text}" for text in _problems(error, model)]
    return {"installs": {**entry, "apps": validated}}


def _tool_server(name: str, entry: object, problems: list[str]) -> ToolServerSettings | None:
    """A tool server, validated by itself so that errors show no secret; None if it is not valid."""
    try:
        return ToolServerSettings.model_validate(entry)
    except ValidationError as error:
        problems += [
            f"tools.{name}{'' if text.startswith(':') else '.' if ': ' in text else ': '}{text}"
            for text in _problems(error, ToolServerSettings)
        ]
        return None


def value_problem(model: type[BaseModel], key: str, value: str) -> str:
    """Why the key of this model cannot have the value; empty if it can."""
    try:
        model.model_validate({key: value})
    except ValidationError as error:
        own = [text for text in _problems(error, model) if text.startswith(f"{key}: ")]
        return own[0].removeprefix(f"{key}: ") if own else ""
    return ""


def name_problem(section: str, name: str) -> str:
    """Why nothing in this section can have the name; empty if it can."""
    if not _NAME.match(name):
        return "a name is lower-case letters, digits, - and _, at most 63"
    if section == "accounts" and name in _OWN_ADDRESSES:
        return "this is an address of the bridge's own; choose another name"
    return ""


def _rooms_to_check(settings: Settings, before: Settings | None) -> Mapping[str, RoomSettings]:
    """The rooms whose references may have become wrong: where the same names stand for the same
    kinds of things, only those that are others."""
    if before is None or _named(before) != _named(settings):
        return settings.rooms
    return {
        name: entry for name, entry in settings.rooms.items() if before.rooms.get(name) is not entry
    }


def _named(settings: Settings) -> tuple[object, ...]:
    """What the references of rooms are checked against."""
    kinds = {name: agent.kind for name, agent in settings.agents.items()}
    return settings.accounts.keys(), settings.installs.apps.keys(), settings.tools.keys(), kinds


def _reference_problems(settings: Settings, rooms: Mapping[str, RoomSettings]) -> list[str]:
    """Problems of references: missing names, and secrets in the place of references to them; of
    rooms only those of `rooms`."""
    sections: Mapping[str, Collection[str]] = {
        "accounts": settings.accounts, "rooms": rooms, "agents": settings.agents,
        "tools": settings.tools,
    }  # fmt: skip
    problems = [
        f"{section}.{name}: {problem}"
        for section, names in sections.items()
        for name in names
        if (problem := name_problem(section, name))
    ]
    owners = [("accounts", name, account.options) for name, account in settings.accounts.items()]
    owners += [("agents", name, agent.options) for name, agent in settings.agents.items()]
    owners += [("tools", name, server) for name, server in settings.tools.items()]
    owners += [("installs.apps", name, app) for name, app in settings.installs.apps.items()]
    problems += _install_problems(settings)
    for section, name, options in owners:
        problems += [
            f"{section}.{name}.{key}{problem}; {_secret_todo(key)}"
            for key, ref in secrets_of(options)
            if (problem := _reference_problem(ref))
        ]
    problems += _unknown_tools(settings, rooms)
    problems += _unmatched_globs(settings, rooms)
    for group, accounts in settings.people.groups.items():
        problems += [
            f"people.groups.{group}.{account}: there is no account {account!r}"
            f"{nearest(account, settings.accounts)}"
            for account in accounts
            if account not in settings.accounts
        ]
    accounts = _Accounts(_account_names(settings), later=bool(settings.installs.apps))
    for room, entry in rooms.items():
        for index, member in enumerate(entry.members):
            if not accounts.has(member.account):
                near = nearest(member.account, settings.accounts)
                problems.append(
                    f"rooms.{room}.members[{index}].account: there is no account "
                    f"{member.account!r}{near}"
                )
        problems += _translator_problems(room, entry, settings.agents)
        for index, membership in enumerate(entry.agents):
            if membership.agent not in settings.agents:
                near = nearest(membership.agent, settings.agents)
                where = f"rooms.{room}.agents[{index}].agent"
                problems.append(f"{where}: there is no agent {membership.agent!r}{near}")
        problems += membership_problems(f"rooms.{room}", entry.agents)
        problems += _convener_problems(room, entry, settings.agents)
    problems += [
        f"agents.{name}.policies: there is no policy {policy!r}{nearest(policy, settings.policies)}"
        for name, entry in settings.agents.items()
        for policy in entry.policies
        if policy not in settings.policies
    ]
    ranker = settings.openfloor.ranker
    if ranker is not None and ranker not in settings.agents:
        near = nearest(ranker, settings.agents)
        problems.append(f"openfloor.ranker: there is no agent {ranker!r}{near}")
    for index, direct in enumerate(settings.direct):
        where = f"direct[{index}]"
        if not accounts.has(direct.account):
            near = nearest(direct.account, settings.accounts)
            problems.append(f"{where}.account: there is no account {direct.account!r}{near}")
        problems += [
            f"{where}.agents[{number}].agent: there is no agent {membership.agent!r}"
            f"{nearest(membership.agent, settings.agents)}"
            for number, membership in enumerate(direct.agents)
            if membership.agent not in settings.agents
        ]
        problems += membership_problems(where, direct.agents)
    return problems


def _convener_problems(
    room: str, entry: RoomSettings, agents: Mapping[str, AgentSettings]
) -> Iterator[str]:
    """A room with several conveners, and agents that cannot be one."""
    conveners = [(n, one.agent) for n, one in enumerate(entry.agents) if one.convener]
    for number, agent in conveners:
        where = f"rooms.{room}.agents[{number}].convener"
        if agent in agents and agents[agent].kind != "openfloor":
            yield f"{where}: {agent!r} is of the kind {agents[agent].kind}, not openfloor"
        if number != conveners[0][0]:
            yield f"{where}: {conveners[0][1]!r} convenes this room already"


def _translator_problems(
    room: str, entry: RoomSettings, agents: Mapping[str, object]
) -> Iterator[str]:
    """Languages without a translator, and translators that are no agents."""
    places: list[tuple[str, RelaySettings]] = [(f"rooms.{room}", entry)]
    places += [(f"rooms.{room}.members[{n}]", one) for n, one in enumerate(entry.members)]
    for where, settings in places:
        translator = settings.translator
        if translator is not None and translator not in agents:
            near = nearest(translator, agents)
            yield f"{where}.translator: there is no agent {translator!r}{near}"
        if settings.language and not (translator or entry.translator or where == f"rooms.{room}"):
            yield f"{where}.language: nobody translates; name an agent: translator"
    if entry.language and not entry.translator:
        yield f"rooms.{room}.language: nobody translates; name an agent: translator"


class _Accounts:
    """Whether globs match an account; remembers each result. `later`: accounts may come while the
    bridge runs, so that a glob may match none now."""

    def __init__(self, names: Collection[str], *, later: bool = False) -> None:
        self._names = names
        self._later = later
        self._known: dict[str, bool] = dict.fromkeys(names, True)

    def has(self, glob: str) -> bool:
        if glob not in self._known:
            fits = any(matches(glob, name) for name in self._names)
            self._known[glob] = fits or (self._later and is_glob(glob))
        return self._known[glob]


def _account_names(settings: Settings) -> list[str]:
    """The accounts of the file, and those that serve all tenants of an app."""
    shared = [name for name in settings.installs.apps if _shares_account(name)]
    return [*settings.accounts, *shared]


def _shares_account(platform: str) -> bool:
    kind = connector_type(platform)
    return isinstance(kind, HasInstalls) and kind.installs().shares_account


def _install_problems(settings: Settings) -> Iterator[str]:
    """Apps whose account has the name of another, and agents of templates that do not exist."""
    for name in settings.installs.apps:
        if _shares_account(name) and name in settings.accounts:
            yield f"accounts.{name}: this is the name of the account of installs.apps.{name}"
    for room, template in settings.installs.rooms.items():
        if problem := name_problem("rooms", room):
            yield f"installs.rooms.{room}: {problem}"
        for index, membership in enumerate(template.agents):
            if membership.agent not in settings.agents:
                near = nearest(membership.agent, settings.agents)
                where = f"installs.rooms.{room}.agents[{index}].agent"
                yield f"{where}: there is no agent {membership.agent!r}{near}"
        yield from membership_problems(f"installs.rooms.{room}", template.agents)


def _unmatched_globs(settings: Settings, rooms: Mapping[str, RoomSettings]) -> Iterator[str]:
    """Problems of globs of people that match nobody: most of them are typing errors."""
    for index, problem in unmatched_globs(settings.admins):
        yield f"admins[{index}]: {problem}"
    for name, server in settings.tools.items():
        for index, problem in unmatched_approvers(server.approvers):
            yield f"tools.{name}.approvers[{index}]: {problem}"
    members = [(f"rooms.{name}", room.agents) for name, room in rooms.items()]
    members += [(f"direct[{index}]", direct.agents) for index, direct in enumerate(settings.direct)]
    for where, memberships in members:
        for number, membership in enumerate(memberships):
            for key, globs in (("allow", membership.allow), ("deny", membership.deny)):
                for index, problem in unmatched_globs(globs, groups=True):
                    yield f"{where}.agents[{number}].{key}[{index}]: {problem}"
            for index, problem in unmatched_globs(membership.operators):
                yield f"{where}.agents[{number}].operators[{index}]: {problem}"


def _unknown_tools(settings: Settings, rooms: Mapping[str, RoomSettings]) -> list[str]:
    named = [(f"agents.{name}.tools", agent.tools) for name, agent in settings.agents.items()]
    for room, entry in rooms.items():
        named += [
            (f"rooms.{room}.agents[{index}].tools", membership.tools or ())
            for index, membership in enumerate(entry.agents)
        ]
    return [
        f"{where}: there is no tool server {tool!r}{nearest(tool, settings.tools)}"
        for where, tools in named
        for tool in tools
        if tool not in settings.tools and tool != AGENT_TOOLS
    ]


def secrets_of(options: object) -> Iterator[tuple[str, SecretRef]]:
    """The keys of own settings of an account, agent or tool server that refer to secrets, with the
    references."""
    if isinstance(options, BaseModel):
        for key in type(options).model_fields:
            value = getattr(options, key)
            if isinstance(value, SecretRef):
                yield key, value
            elif isinstance(value, dict):
                named = value.items()
                yield from ((f"{key}.{n}", ref) for n, ref in named if isinstance(ref, SecretRef))


def _reference_problem(ref: SecretRef) -> str:
    """What is wrong with a reference to a secret; empty if nothing is."""
    if ref.env is not None and not _VARIABLE.match(ref.env):
        return ".env: this is no name of an environment variable"
    value = ref.env or ref.file or ref.sealed or ""
    odd = _HEX.fullmatch(value) or hide_secrets(value) != value
    return ": this looks like the secret itself" if odd else ""


def _secret_key(model: type[BaseModel], loc: tuple[int | str, ...]) -> str | None:
    """The key at or above this place that holds a SecretRef: errors never show the value there.
    None if there is none."""
    annotation: Any = model
    for index, step in enumerate(loc):
        kinds = (annotation, *getattr(annotation, "__args__", ()))
        models = [k for k in kinds if isinstance(k, type) and issubclass(k, BaseModel)]
        field = models[0].model_fields.get(str(step)) if models else None
        if field is None:
            return None
        annotation = field.annotation
        if annotation is SecretRef or SecretRef in getattr(annotation, "__args__", ()):
            named = loc[index + 1 : index + 2] if get_origin(annotation) is dict else ()
            return str((*named, step)[0])
    return None


def _secret_todo(key: str) -> str:
    variable = re.sub(r"[^A-Z0-9]+", "_", key.rpartition(".")[2].upper())
    return (
        f"this file never contains secrets; say where it is found: {key}: {{env: {variable}}} "
        "(or {file: PATH}, or {sealed: NAME} after `uacs-bridge secrets set NAME`)"
    )


def _problems(error: ValidationError, model: type[BaseModel]) -> list[str]:
    """A line for each of pydantic's errors: the path of the key, and what is wrong."""
    texts: list[str] = []
    details = error.errors(include_url=False)
    for detail in details:
        where = _path(detail["loc"])
        if detail["type"] == "extra_forbidden":
            keys = _fields_at(model, detail["loc"][:-1])
            texts.append(f"{where}: unknown key{nearest(str(detail['loc'][-1]), keys)}")
        elif detail["type"] == "missing":
            texts.append(f"{where}: this key is needed")
        elif (key := _secret_key(model, detail["loc"])) is not None:
            texts.append(f"{where}: {_secret_todo(key)}")
        elif detail["type"] == "too_short" and _has_deeper(details, detail["loc"]):
            continue  # pydantic counts only the valid items
        else:
            value = (
                ""
                if isinstance(detail["input"], Mapping)
                else f" (is {_shown_value(detail['input'])})"
            )
            text = hide_secrets(_in_plain_words(detail))
            texts.append(f"{where}: {text}{value}" if where else f"{text}")
    return texts


def _in_plain_words(detail: ErrorDetails) -> str:
    """What the place needs, in terms of YAML instead of Python."""
    value, kind = detail["input"], detail["type"]
    if kind in _LISTS:
        return "this is a list: put it in brackets, or each item on a line after a dash"
    if kind in _MAPPINGS:
        return "this is a mapping: write its keys as `key: value`, one on each line"
    if kind == "string_type" and value is None:
        return "there is no value; text that begins with # is a comment unless it is in quotes"
    if kind == "string_type" and not isinstance(value, (Mapping, list)):
        return "this is a text: put it in quotes"
    if kind == "too_short":
        return "it needs at least one"
    if kind == "literal_error" and isinstance(value, str):
        choices = _QUOTED.findall(str(detail.get("ctx", {}).get("expected", "")))
        return detail["msg"] + nearest(value, choices) if closest(value, choices) else detail["msg"]
    return detail["msg"].removeprefix("Value error, ")


def _shown_value(value: object) -> str:
    """An invalid value, shortened, without anything that looks like a secret."""
    text = hide_secrets(repr(value))
    return text if len(text) <= 80 else f"{text[:79]}…"


def _has_deeper(errors: Sequence[ErrorDetails], loc: tuple[int | str, ...]) -> bool:
    return any(len(e["loc"]) > len(loc) and e["loc"][: len(loc)] == loc for e in errors)


def _path(loc: tuple[int | str, ...]) -> str:
    text = ""
    for step in loc:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
    return text


def _fields_at(model: type[BaseModel], loc: tuple[int | str, ...]) -> list[str]:
    """The keys of the model at this place."""
    annotation: Any = model
    for step in loc:
        if (
            isinstance(annotation, type)
            and issubclass(annotation, BaseModel)
            and step in annotation.model_fields
        ):
            annotation = annotation.model_fields[str(step)].annotation
        arguments = [a for a in getattr(annotation, "__args__", ()) if isinstance(a, type)]
        models = [a for a in arguments if issubclass(a, BaseModel)]
        annotation = models[0] if models else annotation
    return (
        list(annotation.model_fields)
        if isinstance(annotation, type) and issubclass(annotation, BaseModel)
        else []
    )
