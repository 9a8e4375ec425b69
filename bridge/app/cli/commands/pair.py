"""`uacs-bridge pair`: who may use agents in direct messages."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import click

from bridge.app.cli.commands.options import config_option, json_option, settings_from
from bridge.app.printing import nothing, print_json, table, when
from bridge.errors import ConfigError


@click.group("pair")
def command() -> None:
    """Let people use agents in direct messages, by a code.

    A person who sends the code to the bot in a direct message gets answers from then on. A code
    works once, for some minutes; give it to one person only.
    """


@command.command("new")
@click.argument("agent", required=False)
@click.option("--minutes", default=10.0, show_default=True, help="How long the code works.")
@config_option
def new(agent: str | None, minutes: float, config: Path) -> None:
    """Make a code for one agent, or for all without its name.

    Works while the bridge runs.

    \b
    Examples:
      uacs-bridge pair new claude -c bridge.yaml
      uacs-bridge pair new --minutes 60
    """
    click.echo(asyncio.run(_new(config, agent, minutes)))


@command.command("list")
@config_option
@json_option
def list_(config: Path, as_json: bool) -> None:
    """List paired people, and the number of open codes.

    \b
    Examples:
      uacs-bridge pair list
    """
    pairings, codes = asyncio.run(_pairings_and_codes(config))
    if as_json:
        print_json({"paired": pairings, "codes": codes})
        return
    rows = [
        (pairing["actor"], pairing["name"], pairing["agent"], pairing["at"]) for pairing in pairings
    ]
    empty = nothing("pairings yet", "`uacs-bridge pair new` makes a code.")
    click.echo(table(("account", "name", "agent", "since"), rows, indent="", empty=empty))
    click.echo(f"open codes: {codes}")


@command.command("revoke")
@click.argument("person", metavar="WHO")
@click.option("--agent", default=None, help="Only from this agent; without it, from all.")
@config_option
def revoke(person: str, agent: str | None, config: Path) -> None:
    """Remove a pairing.

    WHO is an actor's id (slack:T01:U01), or a name. Works while the bridge runs.

    \b
    Examples:
      uacs-bridge pair revoke slack:T01:U01
    """
    actor, was_paired = asyncio.run(_revoke(config, person, agent))
    click.echo(f"{actor} is not paired" + ("" if was_paired else "; it was not before"))


async def _new(config: Path, agent: str | None, minutes: float) -> str:
    settings = settings_from(config)

    from bridge.app.cli.commands.stores import writing
    from bridge.app.control import running_bridge
    from bridge.router.turns.access import ALL, begin_pairing
    from bridge.runtime.clock import SystemClock

    if agent is not None and agent not in settings.agents:
        names = ", ".join(settings.agents) or "none"
        raise ConfigError(f"There is no agent {agent!r}; there are: {names}")
    name = agent or ALL
    if running := running_bridge(settings.store.path):
        return str(running.ask("/admin/pair", {"new": name, "minutes": minutes})["code"])
    async with writing(settings.store) as store:
        return await begin_pairing(store, SystemClock(), name, "command", minutes)


async def _pairings_and_codes(config: Path) -> tuple[list[dict[str, Any]], int]:
    from bridge.app.cli.commands.stores import reading

    async with reading(settings_from(config).store) as store:
        pairings: list[dict[str, Any]] = []
        for pairing in await store.pairings():
            person = await store.person(pairing.actor)
            name = person.name if person else ""
            pairings.append(
                {
                    "actor": pairing.actor,
                    "name": name,
                    "agent": pairing.agent,
                    "at": when(pairing.at),
                }
            )
        return pairings, len(await store.pairing_codes())


async def _revoke(config: Path, person: str, agent: str | None) -> tuple[str, bool]:
    from bridge.app.cli.commands.find_person import find_person
    from bridge.app.cli.commands.stores import reading, writing
    from bridge.app.control import running_bridge

    settings = settings_from(config)
    async with reading(settings.store) as store:
        actor = await find_person(store, person)
    if running := running_bridge(settings.store.path):
        return actor, bool(running.ask("/admin/pair", {"revoke": actor, "agent": agent})["done"])
    async with writing(settings.store) as store:
        return actor, await store.unpair(actor, agent)
