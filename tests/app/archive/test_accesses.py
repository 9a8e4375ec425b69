"""Whoever reads or exports the archive is in a log, with what they asked for and nothing more."""

from __future__ import annotations

import json
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import Result

from bridge.app.archive.accesses import AccessLog
from bridge.archive.formats.uacs_lines import UacsLines
from bridge.testing.export_contract import write_all
from tests.app.running import cli
from tests.archive.conversation import a_conversation


@pytest.fixture
def store(tmp_path: Path) -> Path:
    lines, path = tmp_path / "in.jsonl", tmp_path / "archive.sqlite3"
    write_all(UacsLines(), a_conversation(), lines, "tin")
    assert cli("archive", "import", str(lines), "--store", str(path)).exit_code == 0
    return path


def archive(*args: object) -> Result:
    return cli("archive", *map(str, args))


def test_searches_and_exports_are_noted_without_what_they_found(
    store: Path, tmp_path: Path
) -> None:
    archive("search", "message", "--store", store)
    archive("export", tmp_path / "out.jsonl", "--format", "uacs-lines", "--store", store)

    listed = json.loads(archive("accesses", "--store", store, "--json").stdout)

    assert [one["what"] for one in listed] == ["archive search", "archive export"]
    assert all(one["who"].startswith("user ") for one in listed)
    assert listed[0]["facts"] == {"q": "message"}
    assert listed[1]["facts"]["format"] == "uacs-lines"
    (file,) = (tmp_path / "archive.sqlite3.accesses").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "message 1" not in file.read_text()


def test_the_configuration_may_want_no_log(store: Path, tmp_path: Path) -> None:
    config = tmp_path / "bridge.yaml"
    config.write_text("store: {path: archive.sqlite3}\narchive: {access_log_days: 0}\n")

    archive("search", "message", "-c", config)

    assert not (tmp_path / "archive.sqlite3.accesses").exists()
    assert "Readings of the archive appear here" in archive("accesses", "-c", config).output


def test_accesses_are_found_by_reader_and_time(tmp_path: Path) -> None:
    log = AccessLog(tmp_path / "a.sqlite3")
    log.note("token robot", "search", q="x" * 900, room=None)
    log.note("user ann", "archive show", room="den")

    (robot,) = log.read(who="robot")
    assert robot.facts == {"q": "x" * 499 + "…"}
    assert not list(log.read(datetime.now(UTC) + timedelta(days=1)))


def test_lines_that_nobody_wrote_so_are_left_out(tmp_path: Path) -> None:
    log = AccessLog(tmp_path / "a.sqlite3")
    log.note("user ann", "archive show")
    (file,) = log.folder.iterdir()
    with file.open("ab") as lines:
        lines.write(b'\xff\n[]\n{}\n{"at": 7, "who": "x", "what": "y"}\nnull\n')

    assert [access.who for access in log.read()] == ["user ann"]


def test_months_that_are_over_are_removed(tmp_path: Path) -> None:
    log = AccessLog(tmp_path / "a.sqlite3")
    log.folder.mkdir()
    for month in ("2025-01", "2025-11", "2026-11"):
        (log.folder / f"{month}.jsonl").touch()
    now = datetime(2026, 11, 26, tzinfo=UTC).timestamp()

    assert log.prune(365, now) == 1
    assert sorted(path.stem for path in log.folder.iterdir()) == ["2025-11", "2026-11"]


def test_a_log_that_cannot_be_written_stops_no_reader(tmp_path: Path) -> None:
    log = AccessLog(tmp_path / "a.sqlite3")
    log.folder.write_text("a file where the folder should be")

    log.note("user ann", "archive show")

    assert not list(log.read())
