"""The local platforms' apps -> accounts as they stand in a configuration, and their secrets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bridge.ports.discovery import connector_type
from bridge.sandbox.platform import World


def local_accounts(
    worlds: Mapping[str, World], base_url: str
) -> tuple[dict[str, Any], dict[str, str]]:
    """An account for the first app of each local platform, and the environment variables that
    its secrets are named by."""
    accounts: dict[str, Any] = {}
    environment: dict[str, str] = {}
    for name, world in worlds.items():
        own = dict(connector_type(name).sandbox_settings(world.apps[0], base_url))
        environment |= own.pop("environment", {})
        accounts[name] = {"platform": name, **own}
    return accounts, environment
