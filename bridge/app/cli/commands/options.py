"""Options that several commands share, and the settings of their configuration file."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bridge.errors import ConfigError

if TYPE_CHECKING:
    from bridge.app.settings.reader import SettingsReader
    from bridge.app.settings.sections import Settings

_FILE = click.Path(path_type=Path, dir_okay=False)
_LINE = re.compile(r"(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)=(.*)")

Command = Callable[..., Any]


def config_option(command: Command) -> Command:
    """-c / --config: the configuration file."""
    return click.option(
        "-c", "--config", type=_FILE, default="config/bridge.yaml", show_default=True,
        envvar="UACS_BRIDGE_CONFIG", show_envvar=True, help="The configuration file.",
    )(command)  # fmt: skip


def env_file_option(command: Command) -> Command:
    """--env-file: values of environment variables; variables that are set take precedence."""
    return click.option(
        "--env-file", type=_FILE, default=None,
        help="A file of NAME=value lines for the environment.",
    )(command)  # fmt: skip


def json_option(command: Command) -> Command:
    """--json: for programs."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")(
        command
    )


def settings_from(config: Path, env_file: Path | None = None) -> Settings:
    """The settings in a file; a warning on stderr names each renamed key.

    From here on only errors are logged: what is printed belongs to the command. Raises ConfigError.
    """
    settings = quiet_settings_from(config, env_file)
    for key in settings.renamed_keys:
        click.echo(f"uacs-bridge: warning: {config}: {key}", err=True)
    return settings


def quiet_settings_from(config: Path, env_file: Path | None = None) -> Settings:
    """As `settings_from`, for commands that report renamed keys in their own way."""
    return first_reading(config, env_file)[1]


def first_reading(config: Path, env_file: Path | None = None) -> tuple[SettingsReader, Settings]:
    """As `quiet_settings_from`, with what reads the file again. Raises ConfigError."""
    from bridge.app.settings.yaml_file import read_text
    from bridge.app.settings.yaml_sections import YamlReader

    if env_file is not None:
        read_environment(env_file)
    text, yaml = read_text(config), YamlReader(config)
    data = yaml.parse(text)  # reports syntax errors before the large imports

    from bridge.app.logs.setup import configure_logs
    from bridge.app.settings.reader import SettingsReader
    from bridge.app.settings.sections import LogSettings

    configure_logs(LogSettings(level="error"))
    reader = SettingsReader(config, yaml)
    return reader, reader.take(text, data)


def read_environment(path: Path, set_before: Collection[str] | None = None) -> None:
    """Set the NAME=value lines of a file in os.environ; variables in `set_before` keep their
    values. Raises ConfigError."""
    preset = frozenset(os.environ) if set_before is None else set_before
    try:
        lines = path.read_text("utf-8").splitlines()
    except OSError as error:
        raise ConfigError(
            f"Cannot read the environment file {str(path)!r}: {error.strerror}; correct --env-file"
        ) from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not text in UTF-8; save it again as UTF-8") from None
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        if (match := _LINE.fullmatch(text)) is None:
            raise ConfigError(f"{path} line {number} is not NAME=value")  # the line may be a secret
        name, value = match.groups()
        if name not in preset:
            os.environ[name] = _unquoted(value.strip())


def _unquoted(value: str) -> str:
    quoted = len(value) >= 2 and value[0] == value[-1] and value[0] in "'\""
    return value[1:-1] if quoted else value


def seconds_of(option: str, text: str | None) -> float | None:
    """Return the time that an option names, in seconds since 1970; without an offset, it is a time
    of this machine. None for no text.

    Raises:
        ConfigError: it is no time.
    """
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text).astimezone().timestamp()
    except (ValueError, OverflowError):
        raise ConfigError(
            f"{option} {text!r} is no time; write 2026-01-31 or 2026-01-31T08:00Z"
        ) from None
