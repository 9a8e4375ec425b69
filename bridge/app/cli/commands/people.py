"""`uacs-bridge people`: which accounts belong to one person, and who is banned."""

from __future__ import annotations

import asyncio
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bridge.app.cli.commands.options import config_option, json_option, settings_from
from bridge.app.cli.renamed_commands import RenamedCommands
from bridge.app.printing import nothing, print_json, table, when
from bridge.errors import ConfigError, StoreError

if TYPE_CHECKING:
    from bridge.model import ActorId
    from bridge.model.people_records import LinkedAccount
    from bridge.ports.store.whole import Store

_HEADS = ("person", "account", "name", "linked by", "when")


@click.group("people", cls=RenamedCommands, renamed={"block": "ban", "unblock": "unban"})
def command() -> None:
    """Manage which accounts belong to one person, and who is banned.

    A mention of a person with linked accounts pings their account on the other platform. WHO is an
    actor's id (slack:T01:U01), a name, or a name on one platform (discord:Ann).
    """


@command.command("list")
@config_option
@json_option
def list_(config: Path, as_json: bool) -> None:
    """List people with several accounts.

    \b
    Examples:
      uacs-bridge people list -c bridge.yaml
    """
    linked_accounts = asyncio.run(_linked_accounts(config, None))
    if as_json:
        print_json(linked_accounts)
        return
    empty = nothing("linked accounts yet", "`uacs-bridge people link WHO OTHER` links two.")
    click.echo(table(_HEADS, [_row(linked) for linked in linked_accounts], indent="", empty=empty))


@command.command("show")
@click.argument("person", metavar="WHO")
@config_option
@json_option
def show(person: str, config: Path, as_json: bool) -> None:
    """Show all accounts of one person.

    \b
    Examples:
      uacs-bridge people show Ann
      uacs-bridge people show slack:T01:U01
    """
    linked_accounts = asyncio.run(_linked_accounts(config, person))
    if as_json:
        print_json(linked_accounts)
    else:
        todo = f"`uacs-bridge people link {shlex.quote(person)} OTHER` links one."
        empty = nothing(f"other accounts of {person!r} are known", todo)
        click.echo(
            table(_HEADS, [_row(linked) for linked in linked_accounts], indent="", empty=empty)
        )


@command.command("link")
@click.argument("person", metavar="WHO")
@click.argument("other")
@config_option
def link(person: str, other: str, config: Path) -> None:
    """Link two accounts of one person.

    Works while the bridge runs.

    \b
    Examples:
      uacs-bridge people link slack:T01:U01 discord:1323802873036800000:1323802873036800099
      uacs-bridge people link slack:Ann discord:Ann
    """
    first, second = asyncio.run(_link(config, person, other))
    click.echo(f"{first} and {second} are one person")


@command.command("unlink")
@click.argument("person", metavar="WHO")
@config_option
def unlink(person: str, config: Path) -> None:
    """Unlink an account from the other accounts of its person.

    Works while the bridge runs.

    \b
    Examples:
      uacs-bridge people unlink discord:Ann
    """
    actor, was_linked = asyncio.run(_unlink(config, person))
    click.echo(
        f"{actor} is linked to no other account" + ("" if was_linked else "; it was not before")
    )


@command.command("ban")
@click.argument("person", metavar="WHO")
@click.option("--room", default=None, help="Only from this room; without it, from all.")
@config_option
def ban(person: str, room: str | None, config: Path) -> None:
    """Ban a person from one room, or from all.

    The bridge neither carries nor stores the messages of a banned person. A ban holds for all
    linked accounts of the person. Works while the bridge runs.

    \b
    Examples:
      uacs-bridge people ban slack:Mallory
      uacs-bridge people ban discord:1323802873036800000:1323802873036800099 --room general
    """
    actor, _ = asyncio.run(_set_banned(config, person, room, banned=True))
    click.echo(f"{actor} is banned {_where(room)}")


@command.command("unban")
@click.argument("person", metavar="WHO")
@click.option("--room", default=None, help="The room, where the ban is of one room only.")
@config_option
def unban(person: str, room: str | None, config: Path) -> None:
    """Lift a ban.

    Works while the bridge runs.

    \b
    Examples:
      uacs-bridge people unban slack:Mallory
    """
    actor, was_banned = asyncio.run(_set_banned(config, person, room, banned=False))
    note = "" if was_banned else "; they were not before"
    click.echo(f"{actor} is not banned {_where(room)}{note}")


def _where(room: str | None) -> str:
    return f"from room {room!r}" if room else "from all rooms"


def _row(linked: dict[str, Any]) -> tuple[str, ...]:
    return linked["person"][:8], linked["account"], linked["name"], linked["how"], linked["linked"]


async def _linked_accounts(config: Path, person: str | None) -> list[dict[str, Any]]:
    from bridge.app.cli.commands.find_person import find_person
    from bridge.app.cli.commands.stores import reading

    async with reading(settings_from(config).store) as store:
        if person is None:
            accounts = await store.linked_accounts()
        else:
            accounts = await store.accounts_of(await find_person(store, person))
        return [await _facts(store, account) for account in accounts]


async def _facts(store: Store, linked_account: LinkedAccount) -> dict[str, Any]:
    person = await store.person(linked_account.actor)
    return {
        "person": linked_account.person,
        "account": linked_account.actor,
        "name": person.name if person else "",
        "how": linked_account.how,
        "linked": when(linked_account.linked),
    }


async def _link(config: Path, person: str, other: str) -> tuple[ActorId, ActorId]:
    from bridge.app.cli.commands.find_person import find_person
    from bridge.app.cli.commands.stores import reading, writing
    from bridge.app.control import running_bridge

    settings = settings_from(config)
    async with reading(settings.store) as store:
        first, second = (
            await find_person(store, person),
            await find_person(store, other),
        )
    if first == second:
        raise StoreError(f"{person!r} and {other!r} are one account, {first}; name two")
    if running := running_bridge(settings.store.path):
        running.ask("/admin/people", {"link": [first, second]})
    else:
        async with writing(settings.store) as store:
            await store.link_people(first, second, "command")
    return first, second


async def _unlink(config: Path, person: str) -> tuple[ActorId, bool]:
    from bridge.app.cli.commands.find_person import find_person
    from bridge.app.cli.commands.stores import reading, writing
    from bridge.app.control import running_bridge

    settings = settings_from(config)
    async with reading(settings.store) as store:
        actor = await find_person(store, person)
    if running := running_bridge(settings.store.path):
        return actor, bool(running.ask("/admin/people", {"unlink": actor})["unlinked"])
    async with writing(settings.store) as store:
        return actor, await store.unlink_person(actor)


async def _set_banned(
    config: Path, person: str, room: str | None, *, banned: bool
) -> tuple[ActorId, bool]:
    """The account, and whether it is, or was, banned there."""
    from bridge.app.cli.commands.find_person import find_person
    from bridge.app.cli.commands.stores import reading, writing
    from bridge.app.control import running_bridge
    from bridge.model import RoomId
    from bridge.router.rooms.bans import BansAndPauses
    from bridge.router.signals import Signals
    from bridge.runtime.clock import SystemClock

    settings = settings_from(config)
    if room is not None and room not in settings.rooms:
        raise ConfigError(f"There is no room {room!r}; there are: {', '.join(settings.rooms)}")
    async with reading(settings.store) as store:
        actor = await find_person(store, person)
    if running := running_bridge(settings.store.path):
        body = {"ban" if banned else "unban": actor, "room": room}
        return actor, bool(running.ask("/admin/people", body)["done"])
    async with writing(settings.store) as store:
        bans = BansAndPauses(store, SystemClock(), Signals().people_linked)
        where = None if room is None else RoomId(room)
        return actor, await bans.set_blocked(actor, "command", where, blocked=banned)
