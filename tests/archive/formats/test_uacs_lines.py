"""UACS as JSON lines keeps the format's contract, and all that the archive knows of a message."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bridge.archive.formats.uacs_lines import UacsLines
from bridge.model.export_records import ExportedMessage, ExportedPerson, NotUnderstood
from bridge.ports.exports import ExportFormat
from bridge.testing.export_contract import ExportFormatContract, read_all, write_all
from tests.archive.conversation import a_conversation


class TestUacsLines(ExportFormatContract):
    """The contract, on a small conversation."""

    @pytest.fixture
    def form(self) -> ExportFormat:
        return UacsLines()

    @pytest.fixture
    def sample(self, tmp_path: Path) -> Path:
        path = tmp_path / "archive.jsonl"
        write_all(UacsLines(), a_conversation(), path, "tin")
        return path

    def messages_in(self, path: Path) -> int:
        return sum(line.startswith(b'{"message"') for line in path.read_bytes().splitlines())

    def comparable(self, path: Path) -> object:
        return [json.loads(line) for line in path.read_bytes().splitlines()]


def read(path: Path, *lines: str) -> list[object]:
    path.write_text("".join(f"{line}\n" for line in lines))
    return list(read_all(UacsLines(), path))


def test_what_the_archive_knows_of_a_message_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "archive.jsonl"
    write_all(UacsLines(), a_conversation(), path, "tin")

    again = {item.posted.native_id: item for item in read_all(UacsLines(), path)
             if isinstance(item, ExportedMessage)}  # fmt: skip
    for item in a_conversation():
        if isinstance(item, ExportedMessage):
            there = again[item.posted.native_id]
            assert there.posted == item.posted
            assert there.relations() == item.relations()
            assert there.reactions == item.reactions
            assert (there.editor, there.deleted, there.pinned) == (
                item.editor,
                item.deleted,
                item.pinned,
            )


def test_a_line_that_is_no_json_is_reported_and_the_rest_is_read(tmp_path: Path) -> None:
    path = tmp_path / "archive.jsonl"
    write_all(UacsLines(), a_conversation(), path, "tin")
    lines = path.read_text().splitlines()

    items = read(path, *lines[:6], '{"message": {"actor"', *lines[6:])

    reported = [item for item in items if isinstance(item, NotUnderstood)]
    assert [item.where for item in reported] == ["archive.jsonl, line 7"]
    assert sum(isinstance(item, ExportedMessage) for item in items) == 8


@pytest.mark.parametrize(
    "line",
    [
        "[]",
        "null",
        '{"message": 3}',
        '{"message": {}}',
        '{"message": {"message_id": "a:b:c:d", "actor": {"id": "x", "role": "human"}}}',
        '{"person": {"id": 3}}',
        '{"conversation": {"metadata": {"uacs_bridge": {"channel": "one"}}}}',
        '{"conversation": {"metadata": 5}}',
        '{"message": {"message_id": "a:b:c:d", "timestamp": "yesterday", '
        '"actor": {"id": "x", "role": "human"}, "content": [], '
        '"metadata": {"uacs_bridge": {"channel": "a:b:c"}}}}',
        "[" * 100_000,
    ],
    ids=range(10),
)
def test_a_line_that_breaks_the_schema_is_reported(tmp_path: Path, line: str) -> None:
    items = read(tmp_path / "archive.jsonl", line)

    assert [type(item) for item in items] == [NotUnderstood]


def test_authors_and_channels_without_a_line_of_their_own_are_made_from_the_messages(
    tmp_path: Path,
) -> None:
    path = tmp_path / "archive.jsonl"
    write_all(UacsLines(), a_conversation(), path, "tin")
    messages = [line for line in path.read_text().splitlines() if line.startswith('{"message"')]

    items = read(path, *messages)

    names = [item.person.name for item in items if isinstance(item, ExportedPerson)]
    assert names == ["Ann", "Bob 漢字"]
