"""Finds connector, agent and policy types by entry points; imports an SDK only when it is used."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any

from bridge.errors import ConfigError

if TYPE_CHECKING:
    from bridge.ports.agent import AgentType
    from bridge.ports.connector import ConnectorType
    from bridge.ports.content_policy import ContentPolicyType

CONNECTORS = "uacs_bridge.connectors"
AGENTS = "uacs_bridge.agents"
POLICIES = "uacs_bridge.policies"


def names_of(group: str) -> list[str]:
    """Return the names that are installed in an entry-point group, sorted."""
    return list(installed(group))


@cache
def installed(group: str) -> Mapping[str, EntryPoint]:
    """Return the entry points of a group by name, sorted.

    Reading all installed distributions takes 8 ms, so a process does it once: it finds packages
    that are installed later only after a restart.
    """
    entries = {entry.name: entry for entry in reversed(tuple(entry_points(group=group)))}
    return dict(sorted(entries.items()))


def connector_type(platform: str) -> ConnectorType:
    """Return a platform's connector type. Raises ConfigError when none is installed."""
    return _load(CONNECTORS, platform, "platform")


def agent_type(kind: str) -> AgentType:
    """Return the agent type of this kind. Raises ConfigError when none is installed."""
    return _load(AGENTS, kind, "agent kind")


def policy_type(kind: str) -> ContentPolicyType:
    """Return the content policy type of this kind. Raises ConfigError when none is installed."""
    return _load(POLICIES, kind, "policy kind")


def _load(group: str, name: str, noun: str) -> Any:
    entry = installed(group).get(name)
    if entry is None:
        names = ", ".join(names_of(group)) or "none; is uacs-bridge installed (pip install -e .)?"
        raise ConfigError(f"Unknown {noun} {name!r}; installed are: {names}")
    return entry.load()
