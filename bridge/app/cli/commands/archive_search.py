"""`uacs-bridge archive search`: full-text search in the store, also while the bridge runs."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bridge.app.cli.commands.options import config_option, json_option
from bridge.app.cli.commands.stores import store_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.app.settings.store import StoreSettings
    from bridge.model.search_records import FoundMessage, SearchPage, Surroundings

_EXCERPT = 300  # characters


@click.command("search")
@click.argument("query", nargs=-1, required=True)
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True,
              help="How many messages.")  # fmt: skip
@click.option("--before", type=int, metavar="NEXT", help="The next page, as the page before says.")
@click.option("--context", type=click.IntRange(0, 50), default=0, metavar="N",
              help="With so many messages before and behind each.")  # fmt: skip
@click.option("--deleted", is_flag=True, help="Also deleted messages.")
@click.option("--reader", metavar="WHO", help="Also messages to this person only.")
@click.option("--store", type=click.Path(path_type=Path), help="The store's file, instead of the "
              "one of the configuration.")  # fmt: skip
@config_option
@json_option
def command(
    query: tuple[str, ...],
    limit: int,
    before: int | None,
    context: int,
    deleted: bool,
    reader: str | None,
    store: Path | None,
    config: Path,
    as_json: bool,
) -> None:
    """Find archived messages, newest first.

    QUERY has words, "phrases", prefixes (dep*), and words to exclude (-staging). Conditions:
    from:NAME, in:ROOM, thread:MESSAGE-ID, before:DATE, after:DATE, on:DATE,
    has:image|video|audio|file|link|card|code, is:edited|deleted|reply|bot|whisper. A minus before a
    condition excludes what fits it. Case and accents do not matter; in scripts without spaces, each
    character is a word.

    \b
    Examples:
      uacs-bridge archive search deploy friday
      uacs-bridge archive search '"went wrong" from:Ann in:general after:2026-01-31'
      uacs-bridge archive search outage --context 3
      uacs-bridge archive search has:file from:slack:Bob --store archive.sqlite3
    """
    from bridge.app.cli.commands.stores import note_access

    place = store_of(store, config)
    text = " ".join(f'"{part}"' if " " in part and len(query) > 1 else part for part in query)
    note_access(place.path, config, "search", q=text, reader=reader, deleted=deleted or None)
    page, surroundings = asyncio.run(
        _find(place, text, limit, before, reader, context, deleted=deleted)
    )
    if as_json:
        from bridge.app.printing import print_json

        shown = [_with_context(*both) for both in zip(page.found, surroundings, strict=True)]
        print_json({"found": shown, "next": page.more})
        return
    for found, around in zip(page.found, surroundings, strict=True):
        for earlier in around.before:
            click.echo(_around_line(earlier))
        click.echo(_line(found))
        for later in around.behind:
            click.echo(_around_line(later))
        if context:
            click.echo()
    if not page.found:
        click.echo("Nothing found")
    if page.more is not None:
        click.echo(f"There are older ones: --before {page.more}")


async def _find(
    place: StoreSettings,
    text: str,
    limit: int,
    before: int | None,
    reader: str | None,
    context: int,
    *,
    deleted: bool,
) -> tuple[SearchPage, Sequence[Surroundings]]:
    from bridge.app.cli.commands.find_person import find_person
    from bridge.app.cli.commands.stores import reading
    from bridge.archive.search_names import names_in
    from bridge.archive.search_query import read_query
    from bridge.model.search_records import Surroundings

    async with reading(place) as store:
        search = await read_query(text, names_in(store))
        readers = () if reader is None else (await find_person(store, reader),)
        search = replace(search, readers=readers, deleted=deleted)
        page = await store.find(search, limit=limit, before=before)
        surroundings = [
            await store.around(found, found.conversations[0], search, count=context)
            if context and found.conversations
            else Surroundings()
            for found in page.found
        ]
        return page, surroundings


def _line(found: FoundMessage) -> str:
    from bridge.app.printing import printable

    stored = found.stored
    time = datetime.fromtimestamp(stored.time).astimezone().strftime("%Y-%m-%d %H:%M")
    place = "" if stored.place is None else f" {stored.place.channel.key}"
    state = "" if stored.state == "complete" else f" ({stored.state})"
    head = click.style(printable(f"{time}{place} {stored.author.name}{state}"), dim=True)
    link = _link(found)
    return "\n".join(
        (
            head,
            f"  {printable(_excerpt(found))}",
            f"  {stored.message.message_id}",
            *([f"  {printable(link)}"] if link else []),
        )
    )


def _around_line(found: FoundMessage) -> str:
    from bridge.app.printing import printable

    time = datetime.fromtimestamp(found.stored.time).astimezone().strftime("%H:%M")
    line = f"    {time} {found.stored.author.name}: {_excerpt(found)}"
    return click.style(printable(line), dim=True)


def _link(found: FoundMessage) -> str:
    """The address of the original on its platform, as far as it is known."""
    from bridge.content.messages.metadata import read_bridge_metadata

    return read_bridge_metadata(found.stored.message)[0].origin or ""


def _excerpt(found: FoundMessage) -> str:
    from bridge.content.messages.parts import message_text

    text = " ".join(message_text(found.stored.message)[0].split())
    return text if len(text) <= _EXCERPT else text[: _EXCERPT - 1] + "…"


def _with_context(found: FoundMessage, around: Surroundings) -> dict[str, Any]:
    if not around.before and not around.behind:
        return _json(found)
    before, behind = map(_json, around.before), map(_json, around.behind)
    return {**_json(found), "before": list(before), "behind": list(behind)}


def _json(found: FoundMessage) -> dict[str, Any]:
    stored = found.stored
    return {
        "message_id": stored.message.message_id,
        "time": stored.time,
        "channel": None if stored.place is None else stored.place.channel.key,
        "author": {"id": stored.author.id, "name": stored.author.name},
        "text": _excerpt(found),
        "state": stored.state,
        "thread_root": stored.root,
        "reply_to": found.reply_to,
        "link": _link(found) or None,
    }
