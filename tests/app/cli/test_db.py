"""`uacs-bridge db migrate`, `size`, `vacuum` and `copy`."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from bridge.archive.formats.uacs_lines import UacsLines
from bridge.store.schema import migrate, migrations, newest_version
from bridge.testing.export_contract import write_all
from tests.app.running import SMALL, cli, write
from tests.archive.conversation import a_conversation
from tests.store.postgresql_server import empty_database


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


def test_size_names_every_subject_and_vacuum_shrinks_the_file(tmp_path: Path) -> None:
    lines, config = tmp_path / "in.jsonl", tmp_path / "bridge.yaml"
    write_all(UacsLines(), a_conversation(), lines, "tin")
    config.write_text("store: {path: a.sqlite3}\n")
    assert cli("archive", "import", str(lines), "-c", str(config)).exit_code == 0
    with closing(sqlite3.connect(tmp_path / "a.sqlite3")) as db:
        db.execute("CREATE TABLE large (x)")
        db.execute("INSERT INTO large VALUES (zeroblob(500000))")
        db.execute("DROP TABLE large")
        db.commit()

    before = json.loads(cli("db", "size", "-c", str(config), "--json").stdout)
    shown = cli("db", "size", "-c", str(config)).output
    vacuumed = cli("db", "vacuum", "-c", str(config))
    after = json.loads(cli("db", "size", "-c", str(config), "--json").stdout)

    assert {"messages", "search index", "hash chain", "native payloads"} <= before[
        "subjects"
    ].keys()
    assert sum(before["subjects"].values()) + before["free"] == before["database"]
    assert "native payloads" in shown
    assert vacuumed.exit_code == 0, vacuumed.output
    assert before["free"] >= 500_000
    assert after["database"] <= before["database"] - 490_000
    status = cli("status", "-c", str(config)).output
    assert "database" in status
    assert "files     0 bytes in 0 files" in status


def test_copy_moves_a_store_into_a_database_once(tmp_path: Path) -> None:
    lines, config = tmp_path / "in.jsonl", tmp_path / "bridge.yaml"
    write_all(UacsLines(), a_conversation(), lines, "tin")
    config.write_text("store: {path: a.sqlite3}\n")
    assert cli("archive", "import", str(lines), "-c", str(config)).exit_code == 0
    url = empty_database("moved").url

    copied = cli("db", "copy", url, "-c", str(config))
    again = cli("db", "copy", url, "-c", str(config))
    config.write_text(f"store: {{path: a.sqlite3, url: {url!r}}}\n")
    moved = cli("archive", "verify", "-c", str(config))

    assert copied.exit_code == 0, copied.output
    assert "message_rows" in copied.stdout
    assert "rows equal" in copied.stdout
    assert f"set store.url to {url}" in copied.stdout
    assert again.exit_code == 1
    assert "was used by a bridge" in again.stderr
    assert moved.exit_code == 0, moved.output


def test_copy_takes_no_password_and_no_other_address(tmp_path: Path) -> None:
    store = str(tmp_path / "a.sqlite3")

    with_password = cli("db", "copy", "postgresql://ann:geheim@host/bridge", "--store", store)
    elsewhere = cli("db", "copy", "mysql://host/bridge", "--store", store)
    unset = cli(
        "db", "copy", "postgresql://host/bridge", "--store", store, "--password-env", "UACS_UNSET"
    )

    assert (with_password.exit_code, elsewhere.exit_code, unset.exit_code) == (2, 2, 2)
    assert "--password-env NAME" in with_password.stderr
    assert "geheim" not in with_password.stderr
    assert "postgresql://USER@HOST/DATABASE" in elsewhere.stderr
    assert "UACS_UNSET" in unset.stderr
