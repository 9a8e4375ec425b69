"""`uacs-bridge people`: whose accounts are whose, and who is blocked."""

from __future__ import annotations

import asyncio
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bridge.app.cli.commands.options import config_option, json_option, settings_from
from bridge.app.cli.commands.show import nothing, print_json, table, when
from bridge.errors import ConfigError, StoreError

if TYPE_CHECKING:
    from bridge.model import ActorId
    from bridge.model.people_records import LinkedAccount
    from bridge.ports.store.whole import Store

_HEADS = ("person", "account", "name", "linked by", "when")


@click.group("people")
def command() -> None:
    """Say which accounts are one person's, and who is blocked.

    A mention of somebody with linked accounts is a real mention where it is carried to. WHO is an
    actor's id (slack:T01:U01), a name, or a name on one platform (discord:Ann).
    """


@command.command("list")
@config_option
@json_option
def list_(config: Path, as_json: bool) -> None:
    """List the people who have several accounts.

    \b
    Examples:
      uacs-bridge people list -c bridge.yaml
    """
    found = asyncio.run(_linked(config, None))
    if as_json:
        print_json(found)
        return
    empty = nothing("linked accounts yet", "`uacs-bridge people link ONE OTHER` links two.")
    click.echo(table(_HEADS, [_row(one) for one in found], indent="", empty=empty))


@command.command("show")
@click.argument("who")
@config_option
@json_option
def show(who: str, config: Path, as_json: bool) -> None:
    """Show all accounts of one person.

    \b
    Examples:
      uacs-bridge people show Ann
      uacs-bridge people show slack:T01:U01
    """
    found = asyncio.run(_linked(config, who))
    if as_json:
        print_json(found)
    else:
        todo = f"`uacs-bridge people link {shlex.quote(who)} OTHER` links one."
        empty = nothing(f"other accounts of {who!r} are known", todo)
        click.echo(table(_HEADS, [_row(one) for one in found], indent="", empty=empty))


@command.command("link")
@click.argument("one")
@click.argument("other")
@config_option
def link(one: str, other: str, config: Path) -> None:
    """Say that two accounts are one person's.

    Works while the bridge runs.

    \b
    Examples:
      uacs-bridge people link slack:T01:U01 discord:1323802873036800000:1323802873036800099
      uacs-bridge people link slack:Ann discord:Ann
    """
    first, second = asyncio.run(_link(config, one, other))
    click.echo(f"{first} and {second} are one person")


@command.command("unlink")
@click.argument("who")
@config_option
def unlink(who: str, config: Path) -> None:
    """Take an account from the others of its person.

    Works while the bridge runs.

    \b
    Examples:
      uacs-bridge people unlink discord:Ann
    """
    actor, done = asyncio.run(_unlink(config, who))
    click.echo(f"{actor} is linked to no other account" + ("" if done else "; it was not before"))


@command.command("block")
@click.argument("who")
@click.option("--room", default=None, help="Only in this room; without it, in all.")
@config_option
def block(who: str, room: str | None, config: Path) -> None:
    """Admit nothing of somebody, in one room or in all.

    It holds for all linked accounts of theirs. Works while the bridge runs.

    \b
    Examples:
      uacs-bridge people block slack:Mallory
      uacs-bridge people block discord:1323802873036800000:1323802873036800099 --room general
    """
    actor, _ = asyncio.run(_bar(config, who, room, blocked=True))
    click.echo(f"{actor} is blocked {_where(room)}")


@command.command("unblock")
@click.argument("who")
@click.option("--room", default=None, help="Where they were blocked in one room alone.")
@config_option
def unblock(who: str, room: str | None, config: Path) -> None:
    """Admit somebody again.

    Works while the bridge runs.

    \b
    Examples:
      uacs-bridge people unblock slack:Mallory
    """
    actor, done = asyncio.run(_bar(config, who, room, blocked=False))
    was = "" if done else "; they were not before"
    click.echo(f"{actor} is not blocked {_where(room)}{was}")


def _where(room: str | None) -> str:
    return f"in room {room!r}" if room else "in all rooms"


def _row(one: dict[str, Any]) -> tuple[str, ...]:
    return one["person"][:8], one["account"], one["name"], one["how"], one["linked"]


async def _linked(config: Path, who: str | None) -> list[dict[str, Any]]:
    from bridge.app.cli.commands.find_person import found_person
    from bridge.app.cli.commands.stores import reading

    async with reading(settings_from(config)) as store:
        if who is None:
            accounts = await store.linked_accounts()
        else:
            accounts = await store.accounts_of(await found_person(store, who))
        return [await _facts(store, one) for one in accounts]


async def _facts(store: Store, one: LinkedAccount) -> dict[str, Any]:
    known = await store.person(one.actor)
    return {
        "person": one.person,
        "account": one.actor,
        "name": known.name if known else "",
        "how": one.how,
        "linked": when(one.linked),
    }


async def _link(config: Path, one: str, other: str) -> tuple[ActorId, ActorId]:
    from bridge.app.cli.commands.find_person import found_person
    from bridge.app.cli.commands.stores import reading, writing
    from bridge.app.web.local_door import running_bridge

    settings = settings_from(config)
    async with reading(settings) as store:
        first, second = await found_person(store, one), await found_person(store, other)
    if first == second:
        raise StoreError(f"{one!r} and {other!r} are one account, {first}; name two")
    if running := running_bridge(settings.store.path):
        running.ask("/admin/people", {"link": [first, second]})
    else:
        async with writing(settings) as store:
            await store.link_people(first, second, "command")
    return first, second


async def _unlink(config: Path, who: str) -> tuple[ActorId, bool]:
    from bridge.app.cli.commands.find_person import found_person
    from bridge.app.cli.commands.stores import reading, writing
    from bridge.app.web.local_door import running_bridge

    settings = settings_from(config)
    async with reading(settings) as store:
        actor = await found_person(store, who)
    if running := running_bridge(settings.store.path):
        return actor, bool(running.ask("/admin/people", {"unlink": actor})["unlinked"])
    async with writing(settings) as store:
        return actor, await store.unlink_person(actor)


async def _bar(config: Path, who: str, room: str | None, *, blocked: bool) -> tuple[ActorId, bool]:
    from bridge.app.cli.commands.find_person import found_person
    from bridge.app.cli.commands.stores import reading, writing
    from bridge.app.web.local_door import running_bridge
    from bridge.model import RoomId
    from bridge.router.rooms.bans import BansAndPauses
    from bridge.router.signals import Signals
    from bridge.runtime.clock import SystemClock

    settings = settings_from(config)
    if room is not None and room not in settings.rooms:
        raise ConfigError(f"There is no room {room!r}; there are: {', '.join(settings.rooms)}")
    async with reading(settings) as store:
        actor = await found_person(store, who)
    if running := running_bridge(settings.store.path):
        wish = {"block" if blocked else "unblock": actor, "room": room}
        return actor, bool(running.ask("/admin/people", wish)["done"])
    async with writing(settings) as store:
        decided = BansAndPauses(store, SystemClock(), Signals().people_linked)
        where = None if room is None else RoomId(room)
        return actor, await decided.set_blocked(actor, "command", where, blocked=blocked)
