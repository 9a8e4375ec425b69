"""`uacs-bridge archive accesses`: who read or exported what."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from pathlib import Path

import click

from bridge.app.cli.commands.options import config_option, json_option, seconds_of, settings_from


@click.command("accesses")
@click.option("--since", metavar="TIME", help="From this time on (2026-01-31, 2026-01-31T08:00Z).")
@click.option("--who", metavar="NAME", help="Only of readers with this in their name.")
@click.option("--store", type=click.Path(path_type=Path),
              help="The store's file, instead of the configuration's.")  # fmt: skip
@config_option
@json_option
def command(
    since: str | None, who: str | None, store: Path | None, config: Path, as_json: bool
) -> None:
    """List who read, searched or exported the archive.

    A reader is a token of the API or of MCP, or the user who ran a command.

    \b
    Examples:
      uacs-bridge archive accesses --since 2026-11-01
      uacs-bridge archive accesses --who 'token robot' --json
    """
    from bridge.app.archive.accesses import AccessLog
    from bridge.app.printing import nothing, print_json, table

    path = settings_from(config).store.path if store is None else store
    seconds = seconds_of("--since", since)
    begin = None if seconds is None else datetime.fromtimestamp(seconds).astimezone()
    found = list(AccessLog(path).read(begin, who))
    if as_json:
        print_json([asdict(access) for access in found])
        return
    rows = [
        (access.at, access.who, access.what,
         ", ".join(f"{name}: {value}" for name, value in access.facts.items()))
        for access in found
    ]  # fmt: skip
    empty = nothing("accesses", "Readings of the archive appear here.")
    click.echo(table(("when", "who", "what", "of"), rows, indent="", empty=empty))
