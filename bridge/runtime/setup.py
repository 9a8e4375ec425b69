"""What the set-up commands of all platforms share."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from bridge.errors import ConfigError


def refuse_unknown(options: Mapping[str, str], taken: Collection[str], platform: str) -> None:
    """Check the options of a set-up command.

    Args:
        options: values by option name, as given on the command line.
        taken: names of the options that the platform knows.
        platform: name of the platform, for the error.

    Raises:
        ConfigError: the platform does not know one of the options.
    """
    for key in options.keys() - set(taken):
        flag = key.replace("_", "-")
        raise ConfigError(f"{platform} has no --{flag}; leave it out")
