"""`uacs-bridge bench`: what this machine can do."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bridge.app.cli.commands.options import config_option, json_option, settings_from

if TYPE_CHECKING:
    from bridge.app.bench.results import Bench

_DEFAULT = Path("bridge.sqlite3")


@click.command("bench")
@config_option
@json_option
def command(config: Path, as_json: bool) -> None:
    """Measure what this machine can do: its disk, its CPU, and messages a second.

    It takes about 15 s: COMMITs on the disk of the store's folder, translations of a card, hashing,
    and a relay of messages between local platforms, each to two others. Everything happens in a
    temporary folder beside the store, which is not touched. Without a configuration, the disk of
    this folder is measured. Run it while the machine has nothing else to do.

    \b
    Examples:
      uacs-bridge bench
      uacs-bridge bench --json
    """
    store = settings_from(config).store.path if config.exists() else _DEFAULT

    from dataclasses import asdict

    from bridge.app.bench.measuring import measure
    from bridge.app.printing import print_json

    found = asyncio.run(measure(store, _show))
    _clear()
    if as_json:
        print_json(asdict(found))
        return
    for line in lines_of(found):
        click.echo(line)


def lines_of(found: Bench) -> Iterator[str]:
    """The result for people."""
    from bridge.app.printing import table

    disk, relay, hashing, verdict = found.disk, found.relay, found.hashing, found.verdict
    rows = [
        ("COMMITs, one after the other", f"{disk.commits:,.0f}/s",
         f"half of them in {disk.commit_ms:.2f} ms, 99 % in {disk.slow_ms:.2f} ms"),
        ("units of work that share COMMITs", f"{disk.units:,.0f}/s", ""),
        ("translations of a card", f"{found.translations.per_second:,.0f}/s",
         f"{found.translations.microseconds:,.0f} us of CPU; {found.translations.slowest} "
         f"{found.translations.slowest_microseconds:,.0f} us"),
        ("SHA-256 of files", f"{hashing.sha256:,.0f} MB/s", ""),
    ]  # fmt: skip
    if hashing.encryption is not None:
        rows.append(("encryption of files", f"{hashing.encryption:,.0f} MB/s", ""))
    rows.append(
        ("messages, each to two platforms", f"{relay.per_second:,.0f}/s",
         f"{relay.messages:,} in {relay.seconds:.1f} s, beside the local platforms; "
         f"{relay.cpu_microseconds:,.0f} us of CPU and {relay.units:.1f} units each")
    )  # fmt: skip
    encrypted = ", encrypted" if found.encrypted else ""
    yield f"{found.folder}{encrypted}, {found.cores} cores"
    yield table(("what", "measured", ""), rows)
    yield (
        f"The {verdict.limit} is the limit: the CPU allows {verdict.by_cpu:,.0f} messages/s to one "
        f"bridge, which uses one core, and the disk {verdict.by_disk:,.0f}."
    )
    yield (
        f"That is {verdict.per_day / 1e6:,.1f} million messages a day at most; plan with half "
        "of it. The platforms let one account post far less: often one message a second in a "
        "channel."
    )


def _show(name: str) -> None:
    """Which part is measured now."""
    if sys.stderr.isatty():
        click.echo(f"\r{name} ...\x1b[K", err=True, nl=False)


def _clear() -> None:
    if sys.stderr.isatty():
        click.echo("\r\x1b[K", err=True, nl=False)
