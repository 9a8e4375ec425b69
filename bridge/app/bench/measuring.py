"""Measures everything, in a temporary folder on the disk of the store."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from bridge.app.bench.cpu import measure_hashing, measure_translations
from bridge.app.bench.disk import measure_disk
from bridge.app.bench.relay import measure_relay
from bridge.app.bench.results import Bench, verdict_of
from bridge.store.vault import is_encrypted

# Seconds for each part. With the start of a bridge all take about 15 s.
_DISK, _TRANSLATIONS, _HASHING, _RELAY = 2.0, 1.0, 0.2, 4.0


async def measure(store: Path, progress: Callable[[str], None], *, share: float = 1.0) -> Bench:
    """Measure what this machine can do with a store at this path. Nothing of it is touched.

    Args:
        store: the path of the store, which need not be there.
        progress: called with the name of each part before it begins.
        share: of the usual time.

    Raises:
        BridgeError: something cannot be measured.
        OSError: nothing can be written in the folder of the store.
    """
    encrypted, folder = is_encrypted(store), _existing(store)
    with tempfile.TemporaryDirectory(prefix=".uacs-bridge-bench-", dir=folder) as name:
        progress("disk")
        disk = await measure_disk(Path(name) / "disk.sqlite3", _DISK * share, encrypted=encrypted)
        progress("translations")
        translations = measure_translations(_TRANSLATIONS * share)
        hashing = measure_hashing(_HASHING * share, encrypted=encrypted)
        progress("relay")
        relay = await measure_relay(Path(name), _RELAY * share, encrypted=encrypted)
    return Bench(
        str(folder), encrypted, os.cpu_count() or 1, disk, translations, hashing, relay,
        verdict_of(disk, relay),
    )  # fmt: skip


def _existing(store: Path) -> Path:
    """The folder of the store, or the nearest one above it that is there."""
    folder = store.absolute().parent
    while not folder.is_dir():
        folder = folder.parent
    return folder
