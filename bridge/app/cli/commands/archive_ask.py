"""`uacs-bridge archive ask`: an agent answers from the archive, and cites messages."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

import click

from bridge.app.cli.commands.options import config_option, json_option, seconds_of, settings_from
from bridge.app.cli.commands.stores import store_of
from bridge.errors import ConfigError

if TYPE_CHECKING:
    from bridge.app.settings.sections import Settings
    from bridge.archive.asking import ArchiveAnswer, Source
    from bridge.model.search_records import Search
    from bridge.ports.store.whole import Store

_EXCERPT = 160  # characters of a source


@click.command("ask")
@click.argument("question", nargs=-1, required=True)
@click.option("--agent", metavar="NAME", help="Which agent of the configuration answers; needed if "
              "there are several.")  # fmt: skip
@click.option("--room", metavar="NAME", multiple=True, help="Only this room or channel.")
@click.option("--since", metavar="TIME", help="Only messages from this time on (2026-01-31).")
@click.option("--until", metavar="TIME", help="Only messages before this time.")
@click.option("--deleted", is_flag=True, help="Also deleted messages.")
@click.option("--reader", metavar="WHO", help="Also messages to this person only.")
@click.option("--calls", type=click.IntRange(1, 200), default=20, show_default=True,
              help="How many searches and readings at most.")  # fmt: skip
@click.option("--seconds", type=click.IntRange(1, 3600), default=180, show_default=True,
              help="How long it may take.")  # fmt: skip
@click.option("--store", type=click.Path(path_type=Path), help="The store's file, instead of the "
              "one of the configuration.")  # fmt: skip
@config_option
@json_option
def command(
    question: tuple[str, ...],
    agent: str | None,
    room: tuple[str, ...],
    since: str | None,
    until: str | None,
    deleted: bool,
    reader: str | None,
    calls: int,
    seconds: int,
    store: Path | None,
    config: Path,
    as_json: bool,
) -> None:
    """Let an agent answer a question from the archive.

    The agent searches and reads the archive with tools that only read, and cites messages: their
    links and ids are listed below the answer. A citation of a message that no tool showed is
    marked. The bridge may run meanwhile. What the agent reads goes to its API.

    \b
    Examples:
      uacs-bridge archive ask "Why did we move the release to Friday?"
      uacs-bridge archive ask --agent helper --room general --since 2026-01-01 "Who knows Kafka?"
    """
    from bridge.app.cli.commands.stores import note_access

    settings = settings_from(config)
    name = _agent_of(settings, agent)
    place = store_of(store, config)
    text = " ".join(question)
    note_access(
        place.path, config, "ask", q=text, agent=name, reader=reader, deleted=deleted or None
    )
    live = not as_json and sys.stdout.isatty()

    async def run() -> ArchiveAnswer:
        from bridge.app.account_values import Overlay
        from bridge.app.build import build_agents
        from bridge.app.cli.commands.stores import reading
        from bridge.archive.asking import Question, ask
        from bridge.runtime.clock import SystemClock

        async with reading(place) as opened:
            rights = await _rights(opened, room, since, until, reader, deleted=deleted)
            clock = SystemClock()
            values = Overlay(opened)
            built = build_agents(
                settings, opened, clock, None, only=[name], key_value_access=values
            )
            asked = Question(text, rights, calls, float(seconds))
            return await ask(built[name], opened, asked, _printed if live else lambda _: None)

    answer = asyncio.run(run())
    _show(answer, live=live, as_json=as_json)


def _agent_of(settings: Settings, name: str | None) -> str:
    names = sorted(settings.agents)
    if name is None and len(names) == 1:
        return names[0]
    if name is None:
        what = (
            f"name one with --agent: {', '.join(names)}" if names else "the configuration has none"
        )
        raise ConfigError(f"An agent must answer; {what}")
    if name not in settings.agents:
        raise ConfigError(f"There is no agent {name!r}; agents: {', '.join(names) or 'none'}")
    return name


async def _rights(
    store: Store,
    rooms: tuple[str, ...],
    since: str | None,
    until: str | None,
    reader: str | None,
    *,
    deleted: bool,
) -> Search:
    from bridge.app.cli.commands.find_person import find_person
    from bridge.model.search_records import Search

    readers = () if reader is None else (await find_person(store, reader),)
    rights = Search(
        since=seconds_of("--since", since), until=seconds_of("--until", until), readers=readers,
        deleted=deleted,
    )  # fmt: skip
    if not rooms:
        return rights
    conversations: list[UUID] = []
    for name in rooms:
        found = await store.conversations_named(name.removeprefix("#"))
        if not found:
            raise ConfigError(f"The archive has no room or channel {name!r}")
        conversations += map(UUID, found)
    return replace(rights, conversations=tuple(conversations))


def _printed(text: str) -> None:
    click.echo(_printable(text), nl=False)


def _printable(text: str) -> str:
    from bridge.app.printing import printable

    return "\n".join(map(printable, text.split("\n")))


def _show(answer: ArchiveAnswer, *, live: bool, as_json: bool) -> None:
    from bridge.app.printing import print_json

    if as_json:
        print_json(
            {
                "answer": answer.text,
                "sources": [_source_json(source) for source in answer.sources],
                "invented_citations": list(answer.unknown),
                "calls": answer.calls,
            }
        )
        return
    if live:
        click.echo()
    else:
        click.echo(_printable(answer.text))
    if answer.unknown:
        numbers = ", ".join(map(str, answer.unknown))
        click.echo(f"\nThe agent cited messages that it was not shown: {numbers}")
    if answer.sources:
        click.echo("\nSources")
    for source in answer.sources:
        click.echo(_printable(_line(source)))
    if not answer.calls:
        click.echo("\nThe agent did not read the archive: it may not support tools.")


def _line(source: Source) -> str:
    time = datetime.fromtimestamp(source.time).astimezone().strftime("%Y-%m-%d %H:%M")
    text = " ".join(source.text.split())
    text = text if len(text) <= _EXCERPT else text[: _EXCERPT - 1] + "…"
    head = f"  [{source.number}] {time} {source.author} {source.channel or ''}: {text}"
    return f"{head}\n      {source.link or source.message}"


def _source_json(source: Source) -> dict[str, object]:
    return {
        "number": source.number,
        "message_id": source.message,
        "author": source.author,
        "channel": source.channel,
        "time": source.time,
        "text": source.text,
        "link": source.link,
    }
