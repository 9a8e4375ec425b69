"""The local platforms' apps -> accounts for a configuration, and their secrets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bridge.errors import ConfigError
from bridge.ports.local_platform import HasLocalPlatform
from bridge.runtime.discovery import connector_type
from bridge.sandbox.platform import CallsBridge, LocalPlatform, World


def local_accounts(
    worlds: Mapping[str, World], base_url: str
) -> tuple[dict[str, Any], dict[str, str]]:
    """An account for the first app of each local platform, and the environment variables with their
    secrets."""
    accounts: dict[str, Any] = {}
    environment: dict[str, str] = {}
    for name, world in worlds.items():
        own = app_settings(name, world.apps[0], base_url)
        environment |= own.pop("environment", {})
        accounts[name] = {"platform": name, **own}
    return accounts, environment


def app_settings(platform: str, app: Mapping[str, Any], base_url: str) -> dict[str, Any]:
    """The settings of one app of a local platform; adds its secrets to `environment`.

    Raises:
        ConfigError: The platform has no local twin.
    """
    kind = connector_type(platform)
    if not isinstance(kind, HasLocalPlatform):
        raise ConfigError(f"The platform {platform!r} has no local twin")
    return dict(kind.sandbox_settings(app, base_url))


def announce_accounts(platforms: Mapping[str, LocalPlatform], bridge_url: str) -> None:
    """Tell the local platforms the URLs at which the bridge serves the accounts of
    `local_accounts`, as operators enter them in a platform's settings."""
    for name, platform in platforms.items():
        if isinstance(platform, CallsBridge):
            platform.set_account_url(f"{bridge_url}/{name}")
