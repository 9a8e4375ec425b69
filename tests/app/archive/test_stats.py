"""`uacs-bridge archive stats` counts messages by time, place and author."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import Result

from bridge.app.archive.stats_page import sparkline, stats_html, stats_text
from bridge.archive.formats.uacs_lines import UacsLines
from bridge.model.statistics_records import Speaker, Statistics
from bridge.testing.export_contract import write_all
from tests.app.running import cli
from tests.archive.conversation import ANN, BOB, a_conversation


def stats(*args: object) -> Result:
    return cli("archive", "stats", *map(str, args))


@pytest.fixture
def store(tmp_path: Path) -> Path:
    lines, path = tmp_path / "in.jsonl", tmp_path / "archive.sqlite3"
    write_all(UacsLines(), a_conversation(), lines, "tin")
    assert cli("archive", "import", str(lines), "--store", str(path)).exit_code == 0
    return path


def test_everything_is_counted(store: Path) -> None:
    found = json.loads(stats("--store", store, "--json").stdout)

    assert found["messages"] == sum(found["by_hour"]) == sum(found["by_weekday"]) == 8
    assert sum(count for _, count in found["by_month"]) == 8
    assert found["by_platform"] == [["tin", 8]]
    assert {(s["id"], s["name"]) for s in found["speakers"]} == {
        (ANN.id, ANN.name), (BOB.id, BOB.name),
    }  # fmt: skip
    assert (found["deleted"], found["edited"], found["reactions"]) == (1, 1, 3)


def test_a_time_limits_what_is_counted(store: Path) -> None:
    found = json.loads(stats("--store", store, "--since", "2030-01-01", "--json").stdout)

    assert (found["messages"], found["by_month"]) == (0, [])
    assert "no messages of this time" in stats("--store", store, "--since", "2030-01-01").output
    assert "--since 'May' is no time" in stats("--store", store, "--since", "May").output


def test_the_terminal_shows_lines_and_bars(store: Path) -> None:
    text = stats("--store", store).output

    assert "messages              8" in text
    assert "Messages by month" in text
    assert "█" in text


def test_the_page_is_written_once_and_escapes_names(store: Path, tmp_path: Path) -> None:
    page = tmp_path / "stats.html"
    assert stats("--store", store, "--html", page).exit_code == 0
    assert "<svg" in page.read_text("utf-8")
    assert "exists already" in stats("--store", store, "--html", page).output
    hostile = Speaker("x", "<script>alert(1)</script>", bot=False, messages=3)
    months = (("2026-01", 3),)
    found = Statistics(messages=3, by_month=months, speakers=(hostile,), losses={"a_b": 2})
    html = stats_html(found)

    assert "<script>" not in html
    assert "a b" in html


@pytest.mark.parametrize(
    ("counts", "line"), [([], ""), ([0, 0], "  "), ([1, 8], "▁█"), ([0, 5, 10], " ▄█")]
)
def test_a_line_has_a_block_for_each_number(counts: list[int], line: str) -> None:
    assert sparkline(counts) == line


def test_an_archive_with_losses_names_them() -> None:
    text = stats_text(Statistics(messages=1, by_month=(("2026-01", 1),), losses={"no_pins": 4}))

    assert "What copies could not show" in text
    assert "no pins" in text
