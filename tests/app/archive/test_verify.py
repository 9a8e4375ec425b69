"""`uacs-bridge archive verify`: what was changed, and heads that are pinned."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import Result

from bridge.archive.formats.uacs_lines import UacsLines
from bridge.testing.export_contract import write_all
from tests.app.running import cli
from tests.archive.conversation import a_conversation


def verify(*args: object) -> Result:
    return cli("archive", "verify", *map(str, args))


@pytest.fixture
def store(tmp_path: Path) -> Path:
    lines, path = tmp_path / "in.jsonl", tmp_path / "archive.sqlite3"
    write_all(UacsLines(), a_conversation(), lines, "tin")
    assert cli("archive", "import", str(lines), "--store", str(path)).exit_code == 0
    return path


def change(store: Path, statement: str) -> None:
    with closing(sqlite3.connect(store)) as db:
        db.execute(statement)
        db.commit()


def test_an_unchanged_archive_passes(store: Path) -> None:
    result = verify("--store", store)

    assert result.exit_code == 0
    assert "compared: nothing was changed" in result.output.replace("\n", " ")


def test_a_changed_message_is_named_and_the_command_fails(store: Path) -> None:
    change(store, "UPDATE authors SET body = replace(body, 'Ann', 'Eve')")

    result = verify("--store", store)

    assert result.exit_code == 1
    assert "message tin:W1:home:1: what was added is not what is kept now" in (
        result.output.replace("\n", " ")
    )


def test_a_chain_that_was_cut_differs_from_the_pinned_heads(store: Path, tmp_path: Path) -> None:
    heads = tmp_path / "heads.json"
    assert f"Heads written: {heads}" in verify("--store", store, "--pin", heads).output.replace(
        "\n", " "
    )
    assert verify("--store", store, "--head", heads).exit_code == 0
    for table in ("chain", "entries"):
        change(store, f"DELETE FROM {table} WHERE message = (SELECT max(n) FROM message_rows)")

    cut = verify("--store", store)
    compared = json.loads(verify("--store", store, "--head", heads, "--json").stdout)

    assert cut.exit_code == 0
    assert compared["fault_count"]
    assert "when it was pinned" in compared["faults"][0]["what"]


@pytest.mark.parametrize("text", ["", "[]", '{"heads": {"a": 1}}', "\ud7ff"])
def test_a_file_that_pins_nothing_is_named(store: Path, tmp_path: Path, text: str) -> None:
    heads = tmp_path / "heads.json"
    heads.write_text(text, "utf-8")

    result = verify("--store", store, "--head", heads)

    assert "is no file that `archive verify --pin` wrote" in result.output.replace("\n", " ")


def test_pinned_heads_are_not_overwritten(store: Path, tmp_path: Path) -> None:
    heads = tmp_path / "heads.json"
    heads.write_text("mine")

    assert "exists already" in verify("--store", store, "--pin", heads).output
    assert heads.read_text() == "mine"
