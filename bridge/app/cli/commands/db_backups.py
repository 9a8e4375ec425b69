"""What `uacs-bridge db backup --into`, `db restore FOLDER` and `db backups` print."""

from __future__ import annotations

import time
from pathlib import Path

import click


def back_up_into(path: Path, folder: Path, keep: int | None) -> None:
    """Add a backup to a folder. Raises StoreError."""
    from bridge.app.printing import bytes_text, many
    from bridge.store.increments import back_up

    manifest = back_up(path, folder, time.time(), keep=keep)
    size = bytes_text(manifest.database.size + manifest.log.size)
    click.echo(
        f"Written: backup {manifest.number} in {folder}, {bytes_text(manifest.written)} new of "
        f"{size}, and {many(len(manifest.files), 'file')}"
    )
    for digest in manifest.damaged:
        click.echo(
            f"Not copied: the file {digest}, which is damaged; uacs-bridge db check", err=True
        )


def restore_from_folder(folder: Path, path: Path, at: float | None) -> Path | None:
    """Restore a backup of a folder. Returns where the old store is now. Raises StoreError."""
    from bridge.app.printing import many, when
    from bridge.store.increments import restore_from

    manifest, aside, files = restore_from(folder, path, at)
    click.echo(f"Backup {manifest.number} of {when(manifest.time)}; {many(files, 'file')} put back")
    return aside


def list_backups(folder: Path, *, with_verification: bool, as_json: bool) -> bool:
    """Print the backups of a folder. Returns whether the newest is whole, if that was asked.
    Raises StoreError."""
    from bridge.app.printing import bytes_text, print_json, printable, table, when
    from bridge.store.increments import manifests_in, verify

    manifests = manifests_in(folder)
    wrong = verify(folder, manifests[-1]) if with_verification and manifests else []
    if as_json:
        listed = [
            {"number": own.number, "time": own.time, "size": own.database.size,
             "files": len(own.files), "written": own.written}
            for own in manifests
        ]  # fmt: skip
        print_json({"backups": listed, "wrong": wrong})
        return not wrong
    rows = [
        (own.number, when(own.time), bytes_text(own.database.size), len(own.files),
         bytes_text(own.written))
        for own in manifests
    ]  # fmt: skip
    heads = ("backup", "time", "database", "files", "written")
    click.echo(table(heads, rows, indent="", empty="No backups"))
    for fault in wrong:
        click.echo(printable(f"Wrong: {fault}"))
    if with_verification and manifests and not wrong:
        click.echo(f"Backup {manifests[-1].number} is whole")
    return not wrong
