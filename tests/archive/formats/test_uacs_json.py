"""UACS as one JSON document keeps the format's contract, and reads documents of other programs."""

from __future__ import annotations

import json
from pathlib import Path
from uuid import uuid4

import pytest

from bridge.archive.formats.uacs_json import UacsJson
from bridge.errors import ExportUnreadable
from bridge.model.export_records import (
    ExportedChannel,
    ExportedMessage,
    ExportedPerson,
    NotUnderstood,
)
from bridge.ports.exports import ExportFormat
from bridge.testing.export_contract import ExportFormatContract, read_all, write_all
from bridge.uacs import read_conversation
from tests.archive.conversation import HOME, a_conversation


class TestUacsJson(ExportFormatContract):
    """The contract, on a small conversation."""

    @pytest.fixture
    def form(self) -> ExportFormat:
        return UacsJson()

    @pytest.fixture
    def sample(self, tmp_path: Path) -> Path:
        path = tmp_path / "archive.json"
        write_all(UacsJson(), a_conversation(), path, "tin")
        return path

    def messages_in(self, path: Path) -> int:
        return sum(len(one["messages"]) for one in json.loads(path.read_bytes()))

    def comparable(self, path: Path) -> object:
        return json.loads(path.read_bytes())


def test_each_channel_is_a_valid_conversation(tmp_path: Path) -> None:
    path = tmp_path / "archive.json"
    write_all(UacsJson(), a_conversation(), path, "tin")

    for one in json.loads(path.read_bytes()):
        conversation = read_conversation(json.dumps(one).encode())
        assert conversation.created_at <= conversation.updated_at


def test_one_channel_is_one_conversation_and_none_is_an_empty_list(tmp_path: Path) -> None:
    items = [
        item for item in a_conversation()
        if not isinstance(item, ExportedChannel) or item.channel == HOME
    ]  # fmt: skip
    write_all(UacsJson(), items, tmp_path / "one.json", "tin")
    write_all(UacsJson(), [], tmp_path / "none.json", "tin")

    assert isinstance(json.loads((tmp_path / "one.json").read_bytes()), dict)
    assert json.loads((tmp_path / "none.json").read_bytes()) == []
    assert len([i for i in read_all(UacsJson(), tmp_path / "one.json")
                if isinstance(i, ExportedMessage)]) > 3  # fmt: skip


FOREIGN = {
    "messages": [
        {"message_id": "a", "timestamp": "2025-01-01T00:00:00Z",
         "actor": {"id": "u", "role": "human"},
         "content": [{"type": "text", "text": "hello"}]},
        {"message_id": "b", "timestamp": "2025-01-01T00:00:01Z",
         "actor": {"id": "bot", "role": "assistant", "name": "Bot"},
         "content": [{"type": "text", "text": "hi"}]},
        {"message_id": "c"},
        7,
    ],
    "conversation_id": "5e0f2f4e-52f4-4a0e-9b1e-3f0f7b0a6f11",
    "created_at": "2025-01-01T00:00:00Z",
    "updated_at": "2025-01-01T00:00:01Z",
}  # fmt: skip


@pytest.mark.parametrize("document", [FOREIGN, [FOREIGN]])
def test_a_conversation_of_another_program_is_a_channel_of_its_own(
    tmp_path: Path, document: object
) -> None:
    path = tmp_path / "foreign.json"
    path.write_text(json.dumps(document, indent=1))

    assert UacsJson().recognises(path)
    items = read_all(UacsJson(), path)

    (channel,) = [item for item in items if isinstance(item, ExportedChannel)]
    assert channel.channel.channel == FOREIGN["conversation_id"]
    messages = [item for item in items if isinstance(item, ExportedMessage)]
    assert [message.posted.native_id for message in messages] == ["a", "b"]
    assert [item.person.bot for item in items if isinstance(item, ExportedPerson)] == [False, True]
    reported = [item for item in items if isinstance(item, NotUnderstood)]
    assert [item.where for item in reported] == [
        "foreign.json, conversation 1, message 3", "foreign.json, conversation 1, message 4",
    ]  # fmt: skip


@pytest.mark.parametrize("text", ['{"conversation_id": "x", "messages": [', "[{", "", "[1]"])
def test_a_document_that_is_cut_is_not_readable(tmp_path: Path, text: str) -> None:
    path = tmp_path / f"{uuid4()}.json"
    path.write_text(text)

    with pytest.raises(ExportUnreadable):
        read_all(UacsJson(), path)


def test_metadata_of_any_shape_does_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "odd.json"
    for about in ({"channel": 7}, {"channel": "x"}, {"kind": "room"}, {"people": [{}]}, [], 1):
        path.write_text(json.dumps({**FOREIGN, "metadata": {"uacs_bridge": about}}))
        items = read_all(UacsJson(), path)
        assert len([item for item in items if isinstance(item, ExportedMessage)]) == 2
