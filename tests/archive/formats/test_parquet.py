"""An export as Parquet has a row for each message, reaction and person, with types."""

from __future__ import annotations

import builtins
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from bridge.archive.formats import parquet as format_module
from bridge.archive.formats.parquet import Parquet
from bridge.errors import ExportUnreadable
from bridge.model.export_records import ExportedMessage, ExportedPerson
from bridge.ports.exports import ReadOptions, WriteOptions
from bridge.testing.export_contract import write_all
from tests.archive.conversation import ANN, a_conversation

tables = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")


def written(tmp_path: Path) -> Path:
    write_all(Parquet(), a_conversation(), tmp_path / "out", "tin")
    return tmp_path / "out"


def rows(out: Path, table: str) -> list[dict[str, Any]]:
    return tables.read_table(out / f"{table}.parquet").to_pylist()


def test_each_message_is_a_row_with_its_uacs(tmp_path: Path) -> None:
    items = a_conversation()
    out = written(tmp_path)
    messages = [item for item in items if isinstance(item, ExportedMessage)]

    found = rows(out, "messages")
    assert len(found) == len(messages)
    assert [row["id"] for row in found] == [m.posted.message.message_id for m in messages]
    first = found[0]
    assert first["text"] == "message 1"
    assert first["author"] == ANN.id
    assert first["time"] == datetime(2024, 2, 29, 23, 59, 59, tzinfo=UTC)
    assert first["pinned"]
    assert orjson.loads(first["uacs"])["message_id"] == first["id"]
    people = [item for item in items if isinstance(item, ExportedPerson)]
    assert {row["id"] for row in rows(out, "people")} == {p.person.id for p in people}


def test_each_reaction_is_a_row(tmp_path: Path) -> None:
    items = a_conversation()
    expected = [
        (item.posted.message.message_id, reaction.emoji, reaction.actor)
        for item in items
        if isinstance(item, ExportedMessage)
        for reaction in item.reactions
    ]

    found = rows(written(tmp_path), "reactions")

    assert expected
    assert [(row["message"], row["emoji"], row["actor"]) for row in found] == expected


def test_rows_are_written_in_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(format_module, "_GROUP", 2)

    out = written(tmp_path)

    metadata = tables.ParquetFile(out / "messages.parquet").metadata
    assert metadata.num_row_groups == (metadata.num_rows + 1) // 2


def test_without_pyarrow_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def without(name: str, *arguments: Any) -> Any:
        if name == "pyarrow":
            raise ImportError(name)
        return real(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", without)

    with pytest.raises(ExportUnreadable, match=r"pip install '\.\[parquet\]'"):
        Parquet().writer(tmp_path / "out", WriteOptions())
    assert not (tmp_path / "out").exists()


def test_it_is_not_read(tmp_path: Path) -> None:
    with pytest.raises(ExportUnreadable, match="only be written"):
        Parquet().reader(tmp_path, ReadOptions())
