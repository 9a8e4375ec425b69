"""`uacs-bridge quota`: what agents cost, and quotas that are reset."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bridge.app.cli.commands.options import config_option, json_option, settings_from
from bridge.app.printing import nothing, print_json, table
from bridge.app.settings.nearest import nearest
from bridge.errors import ConfigError

if TYPE_CHECKING:
    from bridge.app.settings.sections import Settings
    from bridge.ports.store.whole import Store

_DAY = 86_400.0
_MICROS = 1_000_000


@click.group("quota")
def command() -> None:
    """Show what agents cost, and reset quotas.

    The NAME of a quota is `room:NAME`, `agent:NAME`, or `person:` and the id of a person or an
    account.
    """


@command.command("show")
@config_option
@json_option
@click.option(
    "--hours",
    default=24.0,
    type=click.FloatRange(0, min_open=True),
    show_default=True,
    help="The period, in hours before now.",
)
def show(config: Path, as_json: bool, hours: float) -> None:
    """Show how much of each quota was used.

    \b
    Examples:
      uacs-bridge quota show -c bridge.yaml
      uacs-bridge quota show --hours 1 --json
    """
    usage = asyncio.run(_usage(config, hours))
    if as_json:
        print_json(usage)
    else:
        rows = usage_rows(usage)
        empty = nothing(f"usage in the last {hours:g} hours", "Ask an agent something in a room.")
        click.echo(table(("quota", "messages", "tokens", "money"), rows, indent="", empty=empty))


@command.command("reset")
@click.argument("name")
@config_option
def reset(name: str, config: Path) -> None:
    """Reset a quota: all of it is available again.

    Works while the bridge runs.

    \b
    Examples:
      uacs-bridge quota reset room:general
      uacs-bridge quota reset person:slack:T01:U01
    """
    asyncio.run(_reset(config, name))
    click.echo(f"{name} is reset")


async def _usage(config: Path, hours: float) -> list[dict[str, Any]]:
    from bridge.app.cli.commands.stores import reading

    async with reading(settings_from(config).store) as store:
        return await quota_usage(store, hours * 3600)


async def quota_usage(store: Store, seconds: float = _DAY) -> list[dict[str, Any]]:
    """How much of each quota was used in the last `seconds`, as JSON."""
    return [
        {
            "quota": name,
            "purse": name,  # the member's name of the version before, until the next version
            "messages": usage.messages,
            "tokens": usage.tokens,
            "money": round(usage.micros / _MICROS, 4),
        }
        for name, usage in await store.spending(time.time() - seconds)
    ]


def usage_rows(usage: Iterable[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """What `quota_usage` returns -> the rows of a table."""
    columns = ("quota", "messages", "tokens", "money")
    return [tuple(str(quota[column]) for column in columns) for quota in usage]


async def _reset(config: Path, name: str) -> None:
    from bridge.app.cli.commands.stores import reading, writing
    from bridge.app.control import running_bridge

    settings = settings_from(config)
    async with reading(settings.store) as store:
        await _check_quota(name, settings, store)
    if running := running_bridge(settings.store.path):
        running.ask("/admin/quota", {"reset": name})
        return
    async with writing(settings.store) as store:
        await store.forget_spending(name)


async def _check_quota(quota: str, settings: Settings, store: Store) -> None:
    """Raises ConfigError for a quota that does not exist: a typing error would seem to work."""
    kind, _, name = quota.partition(":")
    used = [quota for quota, _ in await store.spending(0)]
    if quota in used:
        return
    names = {"room": list(settings.rooms), "agent": list(settings.agents)}
    if kind in names and name not in names[kind]:
        raise ConfigError(f"There is no {kind} {name!r}{nearest(name, names[kind])}")
    if kind == "person":
        people = [
            used_quota.removeprefix("person:")
            for used_quota in used
            if used_quota.startswith("person:")
        ]
        raise ConfigError(f"Nothing was spent for {name!r}{nearest(name, people)}")
    if kind not in names:
        forms = "room:NAME, agent:NAME or person:ID"
        raise ConfigError(f"{quota!r} is no quota; its name has the form {forms}")
