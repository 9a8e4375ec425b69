"""Checks that what the configuration file refers to exists: accounts, agents, tools, secrets."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from pydantic import BaseModel

from bridge.app.redaction import hide_secrets
from bridge.app.settings.agent_memberships import membership_problems
from bridge.app.settings.nearest import nearest
from bridge.app.settings.problems import secret_todo
from bridge.app.settings.rooms import RelaySettings, RoomSettings
from bridge.app.settings.sections import AgentSettings, Settings
from bridge.app.settings.unmatched_people import unmatched_approvers, unmatched_globs
from bridge.content.text.globs import is_glob, matches
from bridge.model.secret_refs import SecretRef
from bridge.ports.installs import HasInstalls
from bridge.ports.tools import AGENT_TOOLS
from bridge.runtime.discovery import connector_type

_NAME = re.compile(r"^[a-z0-9][a-z0-9_-]{0,62}$")
# The web server's own paths; each account is served below its name.
_OWN_ADDRESSES = (
    "a2a", "acp", "admin", "files", "healthz", "livez", "mcp", "metrics", "oauth", "openfloor",
    "pictures", "readyz", "v1",
)  # fmt: skip
_HEX = re.compile(r"[0-9A-Fa-f]{32,}")  # signing secrets look like this
# The names that POSIX allows; anything else is more likely the secret itself.
_VARIABLE = re.compile(r"^[A-Za-z_][A-Za-z0-9_]{0,127}$")


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


def reference_problems(settings: Settings, before: Settings | None) -> list[str]:
    """Problems of references: missing names, and secrets in the place of references to them. Rooms
    that are the same objects in `before` were valid then."""
    rooms = _rooms_to_check(settings, before)
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
            f"{section}.{name}.{key}{problem}; {secret_todo(key)}"
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
