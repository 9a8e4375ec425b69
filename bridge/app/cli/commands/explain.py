"""`uacs-bridge explain`: the steps of one message, or a sequence diagram of a room."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bridge.app.cli.commands.options import config_option, json_option, settings_from
from bridge.app.printing import print_json
from bridge.errors import StoreError

if TYPE_CHECKING:
    from bridge.app.settings.sections import Settings


@click.command("explain")
@click.argument("message", required=False)
@config_option
@json_option
@click.option("--markdown", is_flag=True, help="Print a page, as docs/one-message.md.")
@click.option("--sequence", metavar="ROOM", help="Draw a sequence diagram of a room (Mermaid).")
@click.option(
    "--speakers",
    is_flag=True,
    help="With --sequence: who speaks to whom, instead of what goes to which channel.",
)
@click.option(
    "--reader", metavar="WHO", help="With --speakers: also messages to this one alone (agent:NAME)."
)
@click.option(
    "--newest",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="The number of messages to draw.",
)
def command(
    message: str | None,
    config: Path,
    as_json: bool,
    markdown: bool,
    sequence: str | None,
    speakers: bool,
    reader: str | None,
    newest: int,
) -> None:
    """Follow one message through the bridge, step by step.

    MESSAGE is its id (platform:workspace:channel:id), its link on a platform or the link of a copy,
    or the end of either.

    \b
    Examples:
      uacs-bridge explain slack:T0ACME:C0123:1700000000.000100
      uacs-bridge explain https://acme.slack.com/archives/C0123/p1700000000000100
      uacs-bridge explain --json 1323802873036800099
      uacs-bridge explain --sequence general > general.mmd
      uacs-bridge explain --sequence general --speakers --reader agent:helper
    """
    if (message is None) == (sequence is None):
        raise click.UsageError("Give either a MESSAGE, or a room with --sequence ROOM.")
    if sequence is not None and (as_json or markdown):
        raise click.UsageError("--sequence prints Mermaid: leave --json and --markdown out.")
    if (speakers or reader) and sequence is None:
        raise click.UsageError("--speakers and --reader belong to --sequence ROOM.")
    if sequence is not None and speakers:
        click.echo(asyncio.run(_speakers(config, sequence, newest, reader)))
    elif sequence is not None:
        click.echo(asyncio.run(_sequence(config, sequence, newest)))
    elif message is not None:
        _explain(config, message, as_json=as_json, markdown=markdown)


def _explain(config: Path, message: str, *, as_json: bool, markdown: bool) -> None:
    settings = settings_from(config)  # before the SDKs are imported

    from bridge.app.cli.commands.way import as_markdown, as_text

    way = asyncio.run(_way(settings, message))
    if as_json:
        print_json(way)
    else:
        click.echo(as_markdown(way) if markdown else as_text(way))


async def _way(settings: Settings, reference: str) -> dict[str, object]:
    from bridge.app.cli.commands.find_message import find_messages
    from bridge.app.cli.commands.stores import reading
    from bridge.app.cli.commands.way import way_of

    async with reading(settings.store) as store:
        message_ids = await find_messages(store, settings, reference)
        if len(message_ids) > 1:
            raise StoreError(f"{reference!r} could be any of: {', '.join(message_ids)}")
        explanation = await store.explain(message_ids[0]) if message_ids else None
        if explanation is None:
            raise StoreError(
                f"No message {reference!r} is archived; give its id or its link, and see "
                "`uacs-bridge status` for events that could not be decoded"
            )
        return await way_of(explanation, settings, store)


async def _sequence(config: Path, room: str, newest: int) -> str:
    settings = settings_from(config)

    from bridge.app.cli.commands.sequence import sequence_of
    from bridge.app.cli.commands.stores import reading

    async with reading(settings.store) as store:
        accounts = {name: entry.platform for name, entry in settings.accounts.items()}
        return await sequence_of(store, room, newest, accounts)


async def _speakers(config: Path, room: str, newest: int, reader: str | None) -> str:
    settings = settings_from(config)

    from bridge.app.cli.commands.find_person import find_person
    from bridge.app.cli.commands.speakers import speakers_of
    from bridge.app.cli.commands.stores import note_access, reading

    addresses = {
        url: name
        for name, entry in settings.agents.items()
        if isinstance(url := getattr(entry.options, "url", None), str)
    }
    async with reading(settings.store) as store:
        note_access(settings.store.path, config, "explain", room=room, reader=reader)
        readers = () if reader is None else (await find_person(store, reader),)
        return await speakers_of(store, room, newest, addresses, readers)
