"""`uacs-bridge archive erase`, `erasures`, `prune` and `hold`: what goes, and what must stay."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import click

from bridge.app.cli.commands.options import config_option, json_option, seconds_of, settings_from
from bridge.app.cli.commands.stores import store_of
from bridge.errors import ConfigError, StoreError

if TYPE_CHECKING:
    from bridge.app.settings.sections import Settings
    from bridge.app.settings.store import StoreSettings
    from bridge.model.erasure_records import LegalHold
    from bridge.ports.store.whole import Store

_DEADLINE = 600.0  # seconds that a running bridge may take
store_option = click.option(
    "--store", type=click.Path(path_type=Path),
    help="The store's file, instead of the one of the configuration.",
)  # fmt: skip


@click.group("erase")
def erase() -> None:
    """Erase a message or a person for good.

    Without --yes, a command only prints what it would erase. A legal hold forbids an erasure.
    """


def _erase_options(command: Any) -> Any:
    for option in (
        click.option("--yes", is_flag=True, help="Erase; without it, only count."),
        click.option("--copies", is_flag=True, help="Also delete the copies on the platforms."),
        click.option("--reason", default="", help="Why; it is recorded."),
        store_option,
        config_option,
        json_option,
    ):
        command = option(command)
    return command


@erase.command("message")
@click.argument("message")
@_erase_options
def message(
    message: str,
    yes: bool,
    copies: bool,
    reason: str,
    store: Path | None,
    config: Path,
    as_json: bool,
) -> None:
    """Erase one message: its text, former versions, files, reactions, and quotes of it.

    MESSAGE is its id, as `archive search` and `explain` print it, or a link that the platform
    copies, to the message or to one of its copies. The message itself stays as an empty, deleted
    one, so that no import and no platform brings it back.

    \b
    Examples:
      uacs-bridge archive erase message slack:T0ACME:C0123:1700000000.000100
      uacs-bridge archive erase message slack:T0ACME:C0123:1700000000.000100 --yes --copies
      uacs-bridge archive erase message https://acme.slack.com/archives/C0123/p1700000000000100
    """
    place = store_of(store, config)
    found = asyncio.run(_message_of(place, None if store else settings_from(config), message))
    if found != message and not as_json:
        click.echo(f"The message is {found}")
    subject = {"message": found}
    _tell(asyncio.run(_erase(place, subject, reason, copies, yes)), yes, as_json)


@erase.command("person")
@click.argument("person")
@_erase_options
def person(
    person: str,
    yes: bool,
    copies: bool,
    reason: str,
    store: Path | None,
    config: Path,
    as_json: bool,
) -> None:
    """Erase a person: their messages, reactions, names, pictures, and mentions of them.

    PERSON is an actor's id (slack:T01:U01), a name, or a name on one platform (discord:Ann). All
    accounts that are linked to it are erased, too. A ban, or the person's own `optout`, stays.

    \b
    Examples:
      uacs-bridge archive erase person slack:T0ACME:U0ANN
      uacs-bridge archive erase person discord:Ann --yes --reason "request of 3 May"
    """
    place = store_of(store, config)
    actors = asyncio.run(_accounts(place, person))
    _tell(asyncio.run(_erase(place, {"actors": actors}, reason, copies, yes)), yes, as_json)


async def _message_of(place: StoreSettings, settings: Settings | None, reference: str) -> str:
    """The id of the one message that an id or a link names. Raises StoreError."""
    from bridge.app.cli.commands.find_message import find_messages
    from bridge.app.cli.commands.stores import reading

    async with reading(place) as opened:
        found = await find_messages(opened, settings, reference)
    if len(found) > 1:
        raise StoreError(
            f"{reference!r} names {len(found)} messages; write the id of one: {', '.join(found)}"
        )
    return found[0] if found else reference  # the erasure says that there is no such message


async def _accounts(place: StoreSettings, person: str) -> Sequence[str]:
    from bridge.app.cli.commands.find_person import find_person
    from bridge.app.cli.commands.stores import reading

    async with reading(place) as opened:
        actor = await find_person(opened, person)
        linked = await opened.accounts_of(actor)
    return [account.actor for account in linked] or [actor]


async def _erase(
    place: StoreSettings, subject: Mapping[str, Any], reason: str, copies: bool, yes: bool
) -> dict[str, Any]:
    from bridge.app.cli.commands.stores import changing, operator
    from bridge.app.control import running_bridge

    order = {
        **subject, "id": uuid4().hex[:12], "by": operator(), "reason": reason,
        "copies": copies,
    }  # fmt: skip
    if running := running_bridge(place.path):
        return running.ask("/admin/erase", {**order, "dry_run": not yes}, _DEADLINE)
    async with changing(place) as store:
        return await _erase_here(place, store, order, dry_run=not yes)


async def _erase_here(
    place: StoreSettings,
    store: Store,
    order: Mapping[str, Any],
    *,
    dry_run: bool,
) -> dict[str, Any]:
    from bridge.app.archive.erasing import erase, erasure_of
    from bridge.app.files.blob_store import open_blob_store
    from bridge.runtime.clock import SystemClock

    erasure = erasure_of(order)
    if dry_run:
        record = await store.erase(erasure, dry_run=True)
        return {"counts": dict(record.counts), "cleaned": True}
    blobs = await open_blob_store(place.path, place.blobs, clock=SystemClock())
    try:
        record, cleaned = await erase(store, blobs, erasure, alone=True)
    finally:
        await blobs.close()
    return {"counts": dict(record.counts), "cleaned": cleaned}


_KINDS = {
    "messages": "messages",
    "versions": "former versions",
    "payloads": "native payloads",
    "files": "files",
    "reactions": "reactions",
    "feedback": "ratings",
    "mentions": "mentions and quotes in other messages",
    "operations": "records of deliveries",
    "turns": "records of agents",
    "approvals": "approvals",
    "facts": "names and settings",
    "copies": "copies to delete on the platforms",
}


def _tell(result: Mapping[str, Any], done: bool, as_json: bool) -> None:
    from bridge.app.printing import print_json

    if as_json:
        print_json({**result, "erased": done})
        return
    click.echo("Erased:" if done else "This would be erased:")
    counts = result["counts"]
    for kind, words in _KINDS.items():
        if counts.get(kind):
            click.echo(f"  {counts[kind]:>8,} {words}")
    if not done:
        click.echo("To erase it: the same command with --yes")
    elif not result["cleaned"]:
        click.echo("Freed space is not overwritten yet: the bridge does that, at its next start at "
                   "the latest; `archive erasures` shows when it is done")  # fmt: skip
    if not done:
        return
    if "left_at_vendors" not in result:
        click.echo("A running bridge deletes the files that agents uploaded at their vendors")
    for failure in result.get("left_at_vendors", ()):
        click.echo(f"The bridge tries again tomorrow to delete files at a vendor: {failure}")
    click.echo("Backups and exports may still have it: see docs/archive.md")


@click.command("erasures")
@store_option
@config_option
@json_option
def erasures(store: Path | None, config: Path, as_json: bool) -> None:
    """List what was erased: when, by whom, why and how much; never what it was.

    \b
    Examples:
      uacs-bridge archive erasures
    """
    from dataclasses import asdict

    from bridge.app.printing import nothing, print_json, table, when

    records = asyncio.run(_erasures(store_of(store, config)))
    if as_json:
        print_json([asdict(record) for record in records])
        return
    rows = [
        (r.id, when(r.at), r.by, r.subject, str(r.counts.get("messages", 0)),
         "yes" if r.cleaned else "not yet", r.reason)
        for r in records
    ]  # fmt: skip
    heads = ("erasure", "when", "by", "of a", "messages", "overwritten", "reason")
    empty = nothing("erasures", "`archive erase` makes them.")
    click.echo(table(heads, rows, indent="", empty=empty))


async def _erasures(place: StoreSettings) -> Sequence[Any]:
    from bridge.app.cli.commands.stores import reading

    async with reading(place) as store:
        return await store.erasures()


@click.command("prune")
@click.option("--dry-run", is_flag=True, help="Only count what would be removed.")
@config_option
@json_option
def prune(dry_run: bool, config: Path, as_json: bool) -> None:
    """Remove now what the configuration does not keep any longer.

    A running bridge does that once a day (`archive.keep` and the `keep` of rooms). The command
    needs a running bridge, which knows its rooms.

    \b
    Examples:
      uacs-bridge archive prune --dry-run
      uacs-bridge archive prune
    """
    from bridge.app.control import running_bridge
    from bridge.app.printing import print_json

    path = settings_from(config).store.path
    running = running_bridge(path)
    if running is None:
        raise ConfigError(f"No bridge runs with the store {str(path)!r}; it prunes once a day")
    pruned = running.ask("/admin/prune", {"dry_run": dry_run}, _DEADLINE)
    if as_json:
        print_json({**pruned, "removed": not dry_run})
        return
    click.echo(
        ("This would be removed: " if dry_run else "Removed: ")
        + f"{pruned['messages']:,} messages, {pruned['payloads']:,} native payloads, "
        f"{pruned['files']:,} files"
    )
    if dry_run:
        click.echo("To remove it: the same command without --dry-run")


# --- legal holds ------------------------------------------------------------------------------


@click.group("hold")
def hold() -> None:
    """Legal holds: messages that nobody can erase while they last."""


@hold.command("add")
@click.argument("name")
@click.option("--room", help="Only messages of this room.")
@click.option("--channel", metavar="KEY", help="Only messages of this channel.")
@click.option("--person", metavar="WHO", help="Only messages of this person.")
@click.option("--since", metavar="TIME", help="Only from this time on.")
@click.option("--until", metavar="TIME", help="Only before this time.")
@click.option("--reason", required=True, help="Why; `archive erase` shows it.")
@store_option
@config_option
def add_hold(
    name: str,
    room: str | None,
    channel: str | None,
    person: str | None,
    since: str | None,
    until: str | None,
    reason: str,
    store: Path | None,
    config: Path,
) -> None:
    """Forbid that the messages are erased; all messages if no option names some.

    A person with several linked accounts gets a hold for each: NAME-1, NAME-2.

    \b
    Examples:
      uacs-bridge archive hold add case-17 --room general --reason "lawsuit 17"
      uacs-bridge archive hold add case-18 --person slack:Ann --since 2026-01-01 --reason audit
    """
    from bridge.app.archive.erasing import hold_of
    from bridge.app.cli.commands.stores import operator

    place = store_of(store, config)
    actors = [] if person is None else asyncio.run(_accounts(place, person))
    names = [name] if len(actors) < 2 else [f"{name}-{n}" for n, _ in enumerate(actors, 1)]
    for own_name, actor in zip(names, actors or [None], strict=True):
        order = {
            "name": own_name, "by": operator(), "reason": reason, "room": room,
            "channel": channel, "actor": actor, "since": seconds_of("--since", since),
            "until": seconds_of("--until", until),
        }  # fmt: skip
        hold_of(order)  # a mistake is told before anything is kept
        asyncio.run(_hold(place, {"add": order}))
    held = " and ".join(map(repr, names))
    click.echo(f"The legal hold {held} protects these messages from now on")


@hold.command("list")
@store_option
@config_option
@json_option
def list_holds(store: Path | None, config: Path, as_json: bool) -> None:
    """List the legal holds.

    \b
    Examples:
      uacs-bridge archive hold list
    """
    from dataclasses import asdict

    from bridge.app.printing import nothing, print_json, table, when

    holds = asyncio.run(_holds(store_of(store, config)))
    if as_json:
        print_json([asdict(one) | {"channel": one.channel and one.channel.key} for one in holds])
        return
    rows = [
        (
            one.name, one.room or "", one.channel.key if one.channel else "", one.actor or "",
            when(one.since) if one.since is not None else "",
            when(one.until) if one.until is not None else "", one.by, when(one.at), one.reason,
        )
        for one in holds
    ]  # fmt: skip
    heads = ("hold", "room", "channel", "person", "since", "until", "by", "added", "reason")
    empty = nothing("legal holds", "`archive hold add` makes them.")
    click.echo(table(heads, rows, indent="", empty=empty))


@hold.command("remove")
@click.argument("name")
@store_option
@config_option
def remove_hold(name: str, store: Path | None, config: Path) -> None:
    """End a legal hold.

    \b
    Examples:
      uacs-bridge archive hold remove case-17
    """
    asyncio.run(_hold(store_of(store, config), {"remove": name}))
    click.echo(f"The legal hold {name!r} ended")


async def _holds(place: StoreSettings) -> Sequence[LegalHold]:
    from bridge.app.cli.commands.stores import reading

    async with reading(place) as store:
        return await store.holds()


async def _hold(place: StoreSettings, order: Mapping[str, Any]) -> None:
    from bridge.app.archive.erasing import change_hold
    from bridge.app.cli.commands.stores import changing
    from bridge.app.control import running_bridge

    if running := running_bridge(place.path):
        running.ask("/admin/hold", order)
        return
    async with changing(place) as store:
        await change_hold(store, order)


COMMANDS: Sequence[click.Command] = (erase, erasures, prune, hold)
