"""`uacs-bridge archive verify`: the archive compared with its hash chain."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bridge.app.cli.commands.options import config_option, json_option
from bridge.app.cli.commands.stores import store_of
from bridge.errors import ConfigError, StoreError

if TYPE_CHECKING:
    from bridge.app.settings.store import StoreSettings
    from bridge.model.chain_records import ChainHead, ChainReport

_PATH = click.Path(path_type=Path)


@click.command("verify")
@click.option("--pin", type=_PATH, help="Write the heads of all chains to this file.")
@click.option("--head", type=_PATH, help="Compare with the heads that --pin wrote earlier.")
@click.option("--store", type=_PATH, help="The store's file, instead of the configuration's.")
@config_option
@json_option
def command(
    pin: Path | None, head: Path | None, store: Path | None, config: Path, as_json: bool
) -> None:
    """Verify that nobody changed the archive behind the bridge's back.

    Compares every message, former version, native payload and reaction with the hash chain of its
    conversation. A chain that was cut or made anew as a whole differs only from heads that were
    written down before: keep the file of --pin elsewhere. The bridge may run meanwhile. The command
    fails if anything was changed.

    \b
    Examples:
      uacs-bridge archive verify
      uacs-bridge archive verify --pin heads-2026-11.json
      uacs-bridge archive verify --head heads-2026-10.json --pin heads-2026-11.json
    """
    place = store_of(store, config)
    pinned = {} if head is None else _read_heads(head)
    report = asyncio.run(_verify(place, pinned))
    if pin is not None and not report.fault_count:
        _write_heads(pin, report.heads)
    _tell(report, pin, as_json=as_json)
    if report.fault_count:
        raise SystemExit(1)


async def _verify(place: StoreSettings, pinned: Mapping[str, ChainHead]) -> ChainReport:
    from bridge.app.cli.commands.stores import reading

    async with reading(place) as store:
        return await store.verify_chain(pinned)


def _read_heads(path: Path) -> dict[str, ChainHead]:
    from bridge.model.chain_records import ChainHead

    try:
        heads: dict[str, Any] = json.loads(path.read_text("utf-8"))["heads"]
        return {key: ChainHead(int(h["links"]), str(h["hash"])) for key, h in heads.items()}
    except OSError as error:
        raise ConfigError(f"{str(path)!r} cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ConfigError(f"{str(path)!r} is no file that `archive verify --pin` wrote") from None


def _write_heads(path: Path, heads: Mapping[str, ChainHead]) -> None:
    from datetime import UTC, datetime

    if path.exists():
        raise StoreError(f"{str(path)!r} exists already: choose another name, or remove it")
    listed = {key: {"links": h.links, "hash": h.hash} for key, h in heads.items()}
    document = {"pinned": datetime.now(UTC).isoformat(), "heads": listed}
    path.write_text(json.dumps(document, indent=1) + "\n", "utf-8")


def _tell(report: ChainReport, pin: Path | None, *, as_json: bool) -> None:
    from dataclasses import asdict

    from bridge.app.printing import many, print_json

    if as_json:
        print_json(asdict(report))
        return
    for fault in report.faults:
        link = f", link {fault.link}" if fault.link else ""
        message = f", message {fault.message}" if fault.message else ""
        click.echo(f"Changed: conversation {fault.conversation}{link}{message}: {fault.what}")
    if report.fault_count > len(report.faults):
        click.echo(f"... and {report.fault_count - len(report.faults):,} more")
    click.echo(
        f"{many(report.messages, 'message')} and {many(report.links, 'link')} of "
        f"{many(len(report.heads), 'conversation')} compared: "
        f"{many(report.fault_count, 'fault') if report.fault_count else 'nothing was changed'}"
    )
    if report.erased or report.payloads_gone:
        click.echo(
            f"Not comparable: {report.erased:,} erased states, {report.payloads_gone:,} native "
            "payloads that are not kept any more"
        )
    if pin is not None:
        done = "not written, since there are faults" if report.fault_count else "written"
        click.echo(f"Heads {done}: {pin}")
