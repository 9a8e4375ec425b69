"""Rows and bytes of one relayed message with two copies in the store, and the transactions of its
bridge: `python -m tests.benchmarks.rows [MESSAGES]`, beside the sandbox."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from bridge.store.sizes import size_of, sizes_by_subject
from tests.benchmarks.relay import PLATFORMS, metered, program

RATE = 40.0
MESSAGES = 1500


async def measure(messages: int) -> dict[str, float]:
    """Return rows of each table and bytes of each subject for one message."""
    with tempfile.TemporaryDirectory(prefix="uacs-rows-") as folder:
        before, after = Path(folder) / "before.sqlite3", Path(folder) / "after.sqlite3"
        async with metered(limits=False) as sandbox, program(sandbox, "bridge") as running:
            store = Path(running.config.parent) / "bridge.sqlite3"
            await _copy(store, before)
            for platform in PLATFORMS:
                await sandbox.post(platform, messages // len(PLATFORMS), rate=RATE)
            await asyncio.sleep(2)
            await _copy(store, after)
        first, last = _counts(before), _counts(after)
        return {name: (last[name] - first.get(name, 0)) / messages for name in last}


async def _copy(store: Path, target: Path) -> None:
    def copy() -> None:
        with closing(sqlite3.connect(store)) as source, closing(sqlite3.connect(target)) as db:
            source.backup(db)

    await asyncio.to_thread(copy)
    await asyncio.to_thread(shutil.copyfile, store.with_suffix(".key"), target.with_suffix(".key"))


def _counts(path: Path) -> Mapping[str, float]:
    counts = {f"bytes: {name}": float(size) for name, size in sizes_by_subject(path).items()}
    whole = size_of(path)
    counts["bytes: database"] = float(whole.database - whole.free)
    with closing(sqlite3.connect(path)) as db:
        tables: list[tuple[str]] = db.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
            " AND name NOT LIKE 'words%'"
        ).fetchall()
        for (name,) in tables:
            (rows,) = db.execute(f'SELECT count(*) FROM "{name}"').fetchone()
            counts[f"rows: {name}"] = float(rows)
    return counts


def main() -> None:
    """Print what is more than nothing."""
    messages = int(sys.argv[1]) if len(sys.argv) > 1 else MESSAGES
    for name, number in sorted(asyncio.run(measure(messages)).items()):
        if number > 0.005:
            print(f"{name:40} {number:10.2f}")


if __name__ == "__main__":
    main()
