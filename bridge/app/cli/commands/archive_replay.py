"""`uacs-bridge archive replay`: posts archived messages in a channel."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from bridge.app.cli.commands.options import config_option, json_option, seconds_of, settings_from
from bridge.errors import ConfigError

_PAUSE = 1.0  # seconds between two looks at the progress
_OPEN = ("waiting", "posting")


@click.command("replay")
@click.argument("source", metavar="ROOM|CHANNEL", required=False)
@click.option("--to", "target", metavar="KEY", help="The channel that shows the messages: the key "
              "of a channel of a room (platform:workspace:channel).")  # fmt: skip
@click.option("--since", metavar="TIME", help="From this time on (2026-01-31).")
@click.option("--until", metavar="TIME", help="Until this time.")
@click.option("--yes", is_flag=True, help="Post; without it, the command counts the messages.")
@click.option("--detach", is_flag=True, help="Do not wait until it is done.")
@click.option("--stop", is_flag=True, help="Stop all replays; what they posted stays.")
@config_option
@json_option
def command(
    source: str | None,
    target: str | None,
    since: str | None,
    until: str | None,
    yes: bool,
    detach: bool,
    stop: bool,
    config: Path,
    as_json: bool,
) -> None:
    """Post archived messages in a channel of another platform, for a migration.

    The running bridge posts each message under its author's name and time, in its thread, oldest
    first, one after the other. Nobody is pinged, and nothing is relayed. A replay continues after
    a restart, posts nothing twice, and after --stop the same command continues it. Without a name,
    the command prints how far the replays are.

    \b
    Examples:
      uacs-bridge archive replay general --to discord:1234:5678
      uacs-bridge archive replay general --to discord:1234:5678 --since 2025-01-01 --yes
      uacs-bridge archive replay
    """
    from bridge.app.control import running_bridge

    path = settings_from(config).store.path
    running = running_bridge(path)
    if running is None:
        raise ConfigError(f"No bridge runs with the store {str(path)!r}; start it: uacs-bridge run")
    body: dict[str, Any] = {"stop": True} if stop else {}
    if source is not None and not stop:
        if target is None:
            raise ConfigError(
                "A replay needs a channel: --to KEY; `uacs-bridge rooms` lists the keys"
            )
        times = {"since": seconds_of("--since", since), "until": seconds_of("--until", until)}
        body = {"begin": source, "to": target, **times}
        if not yes:
            count = running.ask("/admin/archive-replay", {**body, "count": True})["count"]
            click.echo(f"{count:,} messages would be posted; --yes posts them")
            return
    listed = running.ask("/admin/archive-replay", body)["replays"]
    waits = source is not None and not detach and not stop
    while waits and any(one["state"] in _OPEN for one in listed):
        _show(listed)
        time.sleep(_PAUSE)
        listed = running.ask("/admin/archive-replay", {})["replays"]
    _tell(listed, as_json=as_json)
    if listed and all(one["state"] == "failed" for one in listed):
        raise SystemExit(1)


def _show(listed: Sequence[dict[str, Any]]) -> None:
    """One line on a terminal, written over the one before."""
    if not sys.stderr.isatty():
        return
    for one in listed:
        if one["state"] == "posting":
            line = f"{one['source']} -> {one['target']}: {one['posted']:,} messages"
            click.echo(f"\r\x1b[2K{line}", nl=False, err=True)


def _tell(listed: Sequence[dict[str, Any]], *, as_json: bool) -> None:
    from bridge.app.printing import nothing, print_json, table, when

    if as_json:
        print_json(list(listed))
        return
    rows = [
        (
            one["source"], one["target"], one["state"], f"{one['posted']:,}", f"{one['failed']:,}",
            "" if one["reached"] is None else when(one["reached"]),
            one["error"] or ", ".join(f"{n} {what}" for what, n in one["left_out"].items()),
        )
        for one in listed
    ]  # fmt: skip
    heads = ("from", "to", "state", "posted", "failed", "up to", "not posted")
    empty = nothing("replays", "`archive replay ROOM --to CHANNEL` begins one.")
    click.echo(table(heads, rows, indent="", empty=empty))
