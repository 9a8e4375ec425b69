"""`uacs-bridge account`: resume sending through an account that was stopped."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from bridge.app.cli.commands.options import config_option, settings_from


@click.group("account")
def command() -> None:
    """Resume sending through an account that was stopped."""


@command.command("resume")
@click.argument("name")
@config_option
def resume(name: str, config: Path) -> None:
    """Resume sending through account NAME, after another bridge used its tokens.

    Stop the other bridge first. Waiting operations are sent at once. Works while the bridge runs.

    \b
    Examples:
      uacs-bridge account resume slack
    """
    if asyncio.run(_resume(config, name)):
        click.echo(f"{name} sends again")
    else:
        click.echo(f"{name} was not stopped")


async def _resume(config: Path, name: str) -> bool:
    settings = settings_from(config)

    from bridge.app.cli.commands.stores import writing
    from bridge.app.control import running_bridge
    from bridge.errors import InvalidData
    from bridge.model import AccountId
    from bridge.router.recovery.other_bridges import resume_sending

    if name not in settings.accounts:
        names = ", ".join(settings.accounts) or "none"
        raise InvalidData(f"There is no account {name!r}; the configuration has: {names}")
    if running := running_bridge(settings.store.path):
        return bool(running.ask("/admin/account", {"resume": name})["resumed"])
    async with writing(settings.store) as store:
        return await resume_sending(store, AccountId(name))
