"""`uacs-bridge db migrate` prints what it renamed in the store."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from bridge.store.schema import migrate, migrations, newest_version
from tests.app.running import SMALL, cli, write


def test_migrate_prints_what_it_renamed(tmp_path: Path) -> None:
    config = write(tmp_path / "bridge.yaml", SMALL)
    with closing(sqlite3.connect(tmp_path / "bridge.sqlite3", isolation_level=None)) as db:
        migrate(db, {version: step for version, step in migrations().items() if version <= 16})

    first, *renamed = cli("db", "migrate", "-c", str(config)).stdout.splitlines()
    again = cli("db", "migrate", "-c", str(config)).stdout

    assert first == f"Schema 16 -> {newest_version()}"
    assert "Renamed: table shelf -> key_values" in renamed
    assert "Renamed: column feedback.tells -> feedback.pending_agent" in renamed
    assert all(line.startswith("Renamed: ") for line in renamed)
    assert again == f"Schema {newest_version()}: nothing to do\n"
