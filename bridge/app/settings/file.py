"""The configuration file -> validated settings; errors name the place and the nearest known key."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from bridge.app.redaction import hide_secrets
from bridge.app.settings.nearest import nearest
from bridge.app.settings.problems import problems_in
from bridge.app.settings.references import reference_problems
from bridge.app.settings.rooms import RoomSettings
from bridge.app.settings.sections import AgentSettings, Settings
from bridge.app.settings.yaml_file import read_yaml
from bridge.errors import ConfigError
from bridge.ports.installs import HasInstalls
from bridge.runtime.discovery import (
    AGENTS,
    CONNECTORS,
    POLICIES,
    agent_type,
    connector_type,
    names_of,
    policy_type,
)
from bridge.runtime.renamed_keys import KeyRenaming
from bridge.tools.settings import ToolServerSettings

# Keys that all agents have besides `kind`.
_SHARED = {"agents": frozenset({"quota", "picture", "policies", "tools", "manifest"})}


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
        problems += problems_in(error, Settings)
    else:
        problems += reference_problems(settings, before)
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
        renaming.problems += [f"{section}.{name}.{text}" for text in problems_in(error, model)]
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
            renaming.problems += [f"{where}.{text}" for text in problems_in(error, model)]
    return {"installs": {**entry, "apps": validated}}


def _tool_server(name: str, entry: object, problems: list[str]) -> ToolServerSettings | None:
    """A tool server, validated by itself so that errors show no secret; None if it is not valid."""
    try:
        return ToolServerSettings.model_validate(entry)
    except ValidationError as error:
        problems += [
            f"tools.{name}{'' if text.startswith(':') else '.' if ': ' in text else ': '}{text}"
            for text in problems_in(error, ToolServerSettings)
        ]
        return None
