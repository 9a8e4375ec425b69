"""`uacs-bridge secrets`: secrets sealed in the store, which the YAML names {sealed: NAME}."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from bridge.app.cli.commands.options import config_option, settings_from
from bridge.app.printing import nothing, printable
from bridge.errors import ConfigError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")
_LONGEST = 100_000


@click.group("secrets")
def command() -> None:
    """Store secrets, sealed in the bridge's own store.

    The configuration refers to them as {sealed: NAME}. They are encrypted with the key in
    UACS_BRIDGE_KEY, or in the `.key` file beside the store, which is created if it is missing.
    """


@command.command("set")
@click.argument("name")
@config_option
def set_(name: str, config: Path) -> None:
    """Store a secret that is typed without being shown, or read from stdin.

    It replaces an existing value; a running bridge uses the new one from then on.

    \b
    Examples:
      uacs-bridge secrets set slack-bot
      uacs-bridge secrets set slack-bot < token.txt
    """
    if not _NAME.fullmatch(name):
        raise ConfigError(f"{name!r} is no name for a secret; use letters, digits, - _ and .")
    if sys.stdin.isatty():
        value = click.prompt(f"Value of {name}", hide_input=True, confirmation_prompt=False)
    else:
        value = sys.stdin.read(_LONGEST + 1)
    value = str(value).strip()
    if not value or len(value) > _LONGEST:
        raise ConfigError("The secret is empty, or far too long; nothing was changed")
    asyncio.run(_keep(config, name, value))
    click.echo(f"Stored. Write {{sealed: {name}}} in the configuration.")


@command.command("list")
@config_option
def list_(config: Path) -> None:
    """List the names of stored secrets, never their values.

    \b
    Examples:
      uacs-bridge secrets list -c bridge.yaml
    """
    names = asyncio.run(_names(config))
    empty = nothing("secrets yet", "`uacs-bridge secrets set NAME` stores one.")
    click.echo("\n".join(map(printable, names)) or empty)


async def _names(config: Path) -> Sequence[str]:
    from bridge.app.cli.commands.stores import reading

    async with reading(settings_from(config).store) as store:
        return await store.credential_names()


async def _keep(config: Path, name: str, value: str) -> None:
    from bridge.app.cli.commands.stores import writing
    from bridge.app.control import running_bridge

    settings = settings_from(config)
    if running := running_bridge(settings.store.path):
        running.ask("/admin/secrets", {"name": name, "value": value})
        return
    async with writing(settings.store) as store:
        await store.put_credential(name, value)
