"""`uacs-bridge db`: migrate, size, vacuum, check, reindex, copy, and backups in a folder."""

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


def test_check_says_what_is_wrong_and_fails(tmp_path: Path) -> None:
    config = _archive(tmp_path)
    store, copy = tmp_path / "a.sqlite3", tmp_path / "copy.sqlite3"

    well = cli("db", "check", "-c", config)
    assert cli("db", "backup", str(copy), "-c", config).exit_code == 0
    with closing(sqlite3.connect(store)) as db:
        db.execute("UPDATE timelines SET length = length + 2 WHERE n = 1")
        db.execute("INSERT INTO words (words) VALUES ('delete-all')")
        db.commit()
    damaged = cli("db", "check", "-c", config)
    report = json.loads(cli("db", "check", "--json", "-c", config).stdout)
    of_copy = cli("db", "check", str(copy), "-c", config)

    assert (well.exit_code, of_copy.exit_code, damaged.exit_code) == (0, 0, 1)
    assert "nothing is damaged" in well.stdout
    assert "name their folder with --files" in of_copy.stdout
    assert "Wrong: conversation " in damaged.stdout
    assert "uacs-bridge db reindex" in damaged.stdout
    assert report["fault_count"] > 1
    (wrong,) = (part for part in report["parts"] if part["name"] == "conversations")
    assert wrong["faults"][0]["todo"]


def test_reindex_mends_the_search_index(tmp_path: Path) -> None:
    config = _archive(tmp_path)
    with closing(sqlite3.connect(tmp_path / "a.sqlite3")) as db:
        db.execute("INSERT INTO words (words) VALUES ('delete-all')")
        db.commit()
    assert cli("db", "check", "-c", config).exit_code == 1

    assert "is built anew" in cli("db", "reindex", "-c", config).stdout

    assert cli("db", "check", "-c", config).exit_code == 0


def _archive(tmp_path: Path) -> str:
    """The configuration of a store with a small archive."""
    lines, config = tmp_path / "in.jsonl", tmp_path / "bridge.yaml"
    write_all(UacsLines(), a_conversation(), lines, "tin")
    config.write_text("store: {path: a.sqlite3}\n")
    assert cli("archive", "import", str(lines), "-c", str(config)).exit_code == 0
    return str(config)


def test_backups_into_a_folder_are_listed_verified_and_restored(tmp_path: Path) -> None:
    config, folder = _archive(tmp_path), tmp_path / "backups"
    (tmp_path / "a.blobs").mkdir(exist_ok=True)

    first = cli("db", "backup", "--into", str(folder), "-c", config)
    again = cli("db", "backup", "--into", str(folder), "--keep", "1", "-c", config)
    listed = cli("db", "backups", str(folder), "--verify")
    as_json = json.loads(cli("db", "backups", str(folder), "--json").stdout)
    (tmp_path / "a.sqlite3").unlink()
    restored = cli("db", "restore", str(folder), "-c", config)

    assert "Written: backup 1" in first.stdout
    assert "backup 2" in again.stdout
    assert "0 bytes new" in again.stdout
    assert "Backup 2 is whole" in listed.stdout
    assert [backup["number"] for backup in as_json["backups"]] == [2]
    assert "Restored" in restored.stdout
    assert cli("db", "check", "-c", config).exit_code == 0


def test_a_damaged_backup_is_told_and_a_wrong_command_line_is_refused(tmp_path: Path) -> None:
    config, folder = _archive(tmp_path), tmp_path / "backups"
    assert cli("db", "backup", "--into", str(folder), "-c", config).exit_code == 0
    (folder / "000001.pack").write_bytes(b"nothing")

    assert cli("db", "backups", str(folder), "--verify").exit_code == 1
    assert "is damaged" in cli("db", "restore", str(folder), "-c", config).output
    for arguments in (["backup"], ["backup", "x", "--keep", "2"],
                      ["backup", "x", "--into", str(folder)],
                      ["restore", str(tmp_path / "x"), "--at", "2026-01-01"]):  # fmt: skip
        assert cli("db", *arguments, "-c", config).exit_code == 2


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
