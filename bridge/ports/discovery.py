"""Entry points -> connector types and agent types; an SDK is imported only when it is used."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any

from bridge.errors import ConfigError
from bridge.ports.agent import AgentType
from bridge.ports.connector import ConnectorType
from bridge.ports.policy import PolicyType

CONNECTORS = "uacs_bridge.connectors"
AGENTS = "uacs_bridge.agents"
POLICIES = "uacs_bridge.policies"


def names_of(group: str) -> list[str]:
    """What is installed under this group."""
    return sorted({entry.name for entry in entry_points(group=group)})


def connector_type(platform: str) -> ConnectorType:
    return _load(CONNECTORS, platform, "platform")


def agent_type(kind: str) -> AgentType:
    return _load(AGENTS, kind, "agent kind")


def policy_type(kind: str) -> PolicyType:
    return _load(POLICIES, kind, "policy kind")


def _load(group: str, name: str, noun: str) -> Any:
    found = next(iter(entry_points(group=group, name=name)), None)
    if found is None:
        known = ", ".join(names_of(group)) or "none; is uacs-bridge installed (pip install -e .)?"
        raise ConfigError(f"Unknown {noun} {name!r}; installed are: {known}")
    return found.load()
