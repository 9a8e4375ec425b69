"""What `uacs-bridge db check` prints."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from bridge.model.check_records import CheckedPart, StoreCheck

_MOST_SHOWN = 10  # faults of one part; --json has more


def examine(
    ours: Path, other: Path | None, files: Path | None, *, with_files: bool, as_json: bool
) -> bool:
    """Examine the store of the configuration (`ours`) or an `other` one, and print the result.
    Returns whether all is well. Raises StoreError."""
    from bridge.app.printing import print_json
    from bridge.app.settings.keys import known_key
    from bridge.store.checks import check_store
    from bridge.store.seal import Seal

    path = other or ours
    key = known_key(path) or known_key(ours)
    folder = (files or _folder_of(path, ours)) if with_files else None
    report = check_store(
        path, seal=Seal(key), files=folder, progress=lambda name: _show(name, as_json=as_json)
    )
    if as_json:
        print_json({**asdict(report), "fault_count": report.fault_count})
        return not report.fault_count
    _print(report, with_files=with_files, folder=folder)
    return not report.fault_count


def _folder_of(path: Path, ours: Path) -> Path | None:
    """The folder of the files: beside the store itself; that of a backup may be elsewhere."""
    beside = path.with_suffix(".blobs")
    return beside if path == ours or beside.is_dir() else None


def _show(name: str, *, as_json: bool) -> None:
    """Which part is examined now; it may take minutes."""
    if not as_json and sys.stderr.isatty():
        click.echo(f"\r{name} ...\x1b[K", err=True, nl=False)


def _print(report: StoreCheck, *, with_files: bool, folder: Path | None) -> None:
    from bridge.app.printing import bytes_text, many, table

    if sys.stderr.isatty():
        click.echo("\r\x1b[K", err=True, nl=False)
    encrypted = ", encrypted" if report.encrypted else ""
    click.echo(f"{report.path}: schema {report.schema}{encrypted}")
    rows = [(part.name, f"{part.examined:,}", _result(part)) for part in report.parts]
    click.echo(table(("what", "examined", "result"), rows))
    for part in report.parts:
        _print_faults(part)
    if with_files and folder is None:
        click.echo("The files were not compared: name their folder with --files")
    if report.unnamed is not None and report.unnamed.count:
        size = bytes_text(report.unnamed.size)
        click.echo(
            f"{many(report.unnamed.count, 'file')} ({size}) that nothing names: no damage; "
            "`files.keep_unused_days` removes them"
        )
    damage = many(report.fault_count, "fault") if report.fault_count else "nothing is damaged"
    click.echo(f"{report.path}: {damage}")


def _result(part: CheckedPart) -> str:
    if part.fault_count:
        return f"{part.fault_count:,} wrong"
    return part.note or "well"


def _print_faults(part: CheckedPart) -> None:
    from bridge.app.printing import printable

    for fault in part.faults[:_MOST_SHOWN]:
        click.echo(printable(f"Wrong: {fault.value}: {fault.what}; {fault.todo}"))
    if part.fault_count > _MOST_SHOWN:
        click.echo(f"... and {part.fault_count - _MOST_SHOWN:,} more of {part.name}")
