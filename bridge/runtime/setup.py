"""What the set-up of every platform does alike."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from bridge.errors import ConfigError


def refuse_unknown(options: Mapping[str, str], taken: Collection[str], platform: str) -> None:
    """Raises ConfigError for settings of `setup` that a platform has no use for."""
    for key in options.keys() - set(taken):
        flag = key.replace("_", "-")
        raise ConfigError(f"{platform} has no --{flag}; leave it out")
