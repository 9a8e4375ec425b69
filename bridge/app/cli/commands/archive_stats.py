"""`uacs-bridge archive stats`: figures of the archive."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bridge.app.cli.commands.options import config_option, json_option, seconds_of
from bridge.app.cli.commands.stores import store_of
from bridge.errors import ConfigError

if TYPE_CHECKING:
    from bridge.app.settings.store import StoreSettings
    from bridge.model.statistics_records import Statistics

_PATH = click.Path(path_type=Path)


@click.command("stats")
@click.option("--since", metavar="TIME", help="From this time on (2026-01-31, 2026-01-31T08:00Z).")
@click.option("--until", metavar="TIME", help="Before this time.")
@click.option("--most", type=click.IntRange(1, 1000), default=15, show_default=True,
              help="How many people and channels.")  # fmt: skip
@click.option("--html", type=_PATH, help="Write a web page to this file instead.")
@click.option("--store", type=_PATH, help="The store's file, instead of the configuration's.")
@config_option
@json_option
def command(
    since: str | None,
    until: str | None,
    most: int,
    html: Path | None,
    store: Path | None,
    config: Path,
    as_json: bool,
) -> None:
    """Print who wrote how much, when and where.

    Counts messages by month, hour, platform, channel and author, reactions, and what copies could
    not show. Private and deleted messages are counted; nothing of them is shown. The bridge may run
    meanwhile.

    \b
    Examples:
      uacs-bridge archive stats
      uacs-bridge archive stats --since 2026-01-01 --html stats.html
    """
    place = store_of(store, config)
    if html is not None and html.exists():
        raise ConfigError(f"{str(html)!r} exists already: choose another name, or remove it")
    span = (seconds_of("--since", since), seconds_of("--until", until))
    found = asyncio.run(_statistics(place, *span, most))
    if html is not None:
        from bridge.app.archive.stats_page import stats_html

        html.write_text(stats_html(found), "utf-8")
        click.echo(f"Written: {html}")
    elif as_json:
        from dataclasses import asdict

        from bridge.app.printing import print_json

        print_json(asdict(found))
    else:
        from bridge.app.archive.stats_page import stats_text

        click.echo(stats_text(found))


async def _statistics(
    place: StoreSettings, since: float | None, until: float | None, most: int
) -> Statistics:
    from bridge.app.cli.commands.stores import reading

    async with reading(place) as store:
        return await store.statistics(since=since, until=until, most=most)
