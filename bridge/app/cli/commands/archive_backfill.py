"""`uacs-bridge archive backfill`: what was said before the bridge came."""

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
_OPEN = ("waiting", "reading")


@click.command("backfill")
@click.argument("name", metavar="ROOM|CHANNEL", required=False)
@click.option("--since", metavar="TIME", default="1970-01-01", show_default="everything",
              help="From this time on (2026-01-31).")  # fmt: skip
@click.option("--until", metavar="TIME", help="Until this time.")
@click.option("--detach", is_flag=True, help="Do not wait until it is done.")
@click.option("--stop", is_flag=True, help="Stop all backfills; what they read stays.")
@config_option
@json_option
def command(
    name: str | None,
    since: str,
    until: str | None,
    detach: bool,
    stop: bool,
    config: Path,
    as_json: bool,
) -> None:
    """Read what was said in a room or channel before the bridge came into the archive.

    The running bridge reads the channels over the platforms' own APIs, at its lowest priority. It
    mirrors nothing of that, and gives it to no agent. Messages that the archive has stay one. A
    backfill continues after a restart of the bridge, and one that was stopped when the same command
    is given again. Without a name, the command prints how far the backfills are.

    \b
    Examples:
      uacs-bridge archive backfill general --since 2025-01-01
      uacs-bridge archive backfill slack:T0ACME:C0123 --detach
      uacs-bridge archive backfill
      uacs-bridge archive backfill --stop
    """
    from bridge.app.control import running_bridge

    path = settings_from(config).store.path
    running = running_bridge(path)
    if running is None:
        raise ConfigError(f"No bridge runs with the store {str(path)!r}; start it: uacs-bridge run")
    body: dict[str, Any] = {}
    if stop:
        body = {"stop": True}
    elif name is not None:
        body = {"begin": name, "since": max(seconds_of("--since", since) or 0.0, 0.0)}
        body |= {} if until is None else {"until": seconds_of("--until", until)}
    listed = running.ask("/admin/backfill", body)["backfills"]
    waits = name is not None and not detach and not stop
    while waits and any(one["state"] in _OPEN for one in listed):
        _show(listed)
        time.sleep(_PAUSE)
        listed = running.ask("/admin/backfill", {})["backfills"]
    _tell(listed, as_json=as_json)
    if listed and all(one["state"] == "failed" for one in listed):
        raise SystemExit(1)


def _show(listed: Sequence[dict[str, Any]]) -> None:
    """One line on a terminal, written over the one before."""
    if not sys.stderr.isatty():
        return
    for one in listed:
        if one["state"] == "reading":
            messages, requests = one["added"] + one["known"], one["requests"]
            line = f"{one['channel']}: {messages:,} messages in {requests:,} requests"
            click.echo(f"\r\x1b[2K{line}", nl=False, err=True)


def _tell(listed: Sequence[dict[str, Any]], *, as_json: bool) -> None:
    from bridge.app.printing import nothing, print_json, table, when

    if as_json:
        print_json(list(listed))
        return
    rows = [
        (
            one["channel"], one["state"], f"{one['added']:,}", f"{one['known']:,}",
            "" if one["reached"] is None else when(one["reached"]),
            one["error"] or ", ".join(f"{n} {what}" for what, n in one["left_out"].items()),
        )
        for one in listed
    ]  # fmt: skip
    heads = ("channel", "state", "added", "known", "back to", "not archived")
    empty = nothing("backfills", "`archive backfill ROOM` begins one.")
    click.echo(table(heads, rows, indent="", empty=empty))
