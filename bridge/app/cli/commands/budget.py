"""`uacs-bridge budget`: what agents cost, and budgets that are opened again."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bridge.app.cli.commands.options import config_option, json_option, settings_from
from bridge.app.cli.commands.show import nothing, print_json, table
from bridge.app.settings.nearest import nearest
from bridge.errors import ConfigError

if TYPE_CHECKING:
    from bridge.app.settings.file import Settings
    from bridge.ports.store.whole import Store

_DAY = 86_400.0
_MICROS = 1_000_000


@click.group("budget")
def command() -> None:
    """Show what agents cost, and open budgets again.

    A purse is `room:NAME`, `agent:NAME`, or `person:` and the id of a person or an account.
    """


@command.command("show")
@config_option
@json_option
@click.option(
    "--hours",
    default=24.0,
    type=click.FloatRange(0, min_open=True),
    show_default=True,
    help="How far back.",
)
def show(config: Path, as_json: bool, hours: float) -> None:
    """Show what was spent of each purse.

    \b
    Examples:
      uacs-bridge budget show -c bridge.yaml
      uacs-bridge budget show --hours 1 --json
    """
    found = asyncio.run(_shown(config, hours))
    if as_json:
        print_json(found)
    else:
        rows = [tuple(str(value) for value in one.values()) for one in found]
        empty = nothing(
            f"spending in the last {hours:g} hours", "Ask an agent something in a room."
        )
        click.echo(table(("purse", "messages", "tokens", "money"), rows, indent="", empty=empty))


@command.command("reset")
@click.argument("purse")
@config_option
def reset(purse: str, config: Path) -> None:
    """Forget what was spent of a purse: whoever waits for it may go on.

    Works while the bridge runs.

    \b
    Examples:
      uacs-bridge budget reset room:general
      uacs-bridge budget reset person:slack:T01:U01
    """
    asyncio.run(_reset(config, purse))
    click.echo(f"{purse} is full again")


async def _shown(config: Path, hours: float) -> list[dict[str, Any]]:
    from bridge.app.cli.commands.stores import reading

    async with reading(settings_from(config)) as store:
        return await spent_by(store, hours * 3600)


async def spent_by(store: Store, seconds: float = _DAY) -> list[dict[str, Any]]:
    """What was spent of each purse in that time."""
    return [
        {
            "purse": purse,
            "messages": spent.messages,
            "tokens": spent.tokens,
            "money": round(spent.micros / _MICROS, 4),
        }
        for purse, spent in await store.purses(time.time() - seconds)
    ]


async def _reset(config: Path, purse: str) -> None:
    from bridge.app.cli.commands.stores import reading, writing
    from bridge.app.web.local_door import running_bridge

    settings = settings_from(config)
    async with reading(settings) as store:
        await _check_purse(purse, settings, store)
    if running := running_bridge(settings.store.path):
        running.ask("/admin/budget", {"reset": purse})
        return
    async with writing(settings) as store:
        await store.forget_spending(purse)


async def _check_purse(purse: str, settings: Settings, store: Store) -> None:
    """Raises ConfigError for one that nobody has: a slip of the pen would seem to have worked."""
    kind, _, name = purse.partition(":")
    spent = [known for known, _ in await store.purses(0)]
    if purse in spent:
        return
    known = {"room": list(settings.rooms), "agent": list(settings.agents)}
    if kind in known and name not in known[kind]:
        raise ConfigError(f"There is no {kind} {name!r}{nearest(name, known[kind])}")
    if kind == "person":
        people = [one.removeprefix("person:") for one in spent if one.startswith("person:")]
        raise ConfigError(f"Nothing was spent for {name!r}{nearest(name, people)}")
    if kind not in known:
        forms = "room:NAME, agent:NAME or person:ID"
        raise ConfigError(f"{purse!r} is no purse; it has the form {forms}")
