"""Removes old backups from a folder, with the packs and files that no other backup needs."""

from __future__ import annotations

from pathlib import Path

from bridge.store.increments.manifest import FILES, numbers_in, pack_of, read_manifest
from bridge.store.place import sync_folder


def prune(folder: Path, keep: int) -> None:
    """Keep this many of the newest backups. Whoever is killed here leaves packs that nobody needs;
    the next call removes them. Raises StoreError."""
    numbers = numbers_in(folder)
    kept = [read_manifest(folder, number) for number in numbers[-keep:]]
    packs = {pack for own in kept for stream in (own.database, own.log) for pack in stream.packs}
    files = {digest for own in kept for digest in own.files}
    for number in numbers[:-keep]:
        (folder / f"{number:06}.manifest").unlink()
    sync_folder(folder)  # before anything goes that they name
    needed = {pack_of(folder, number) for number in packs}
    for path in folder.glob("*.pack"):
        if path not in needed:
            path.unlink()
    for path in (folder / FILES).glob("*/*"):
        if path.name not in files:
            path.unlink()
