"""DiscordChatExporter's JSON keeps the promises of every export format."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from bridge.ports.exports import ExportFormat, HasExports
from bridge.testing.export_contract import ExportFormatContract, read_all, write_all
from connectors.discord import connector_type
from connectors.discord.exports import DiscordChatExporter
from tests.connectors.discord.exports import samples


def native_documents(path: Path) -> list[Any]:
    files = [path] if path.is_file() else sorted(path.rglob("*.json"))
    return [json.loads(file.read_bytes()) for file in files if "_Files" not in str(file.parent)]


def by_channel(path: Path) -> dict[str, Any]:
    """The documents of an export, with the parts of one channel as one."""
    channels: dict[str, Any] = {}
    for document in native_documents(path):
        own = channels.setdefault(document["channel"]["id"], document | {"messages": []})
        own["messages"] = sorted(
            [*own["messages"], *document["messages"]], key=lambda message: message["id"]
        )
    for document in channels.values():
        document["messageCount"] = len(document["messages"])
    return channels


class TestDiscordChatExporter(ExportFormatContract):
    @pytest.fixture
    def form(self) -> ExportFormat:
        return DiscordChatExporter()

    @pytest.fixture
    def sample(self, tmp_path: Path) -> Path:
        return samples.write_sample(tmp_path / "export")

    def messages_in(self, path: Path) -> int:
        return sum(len(document["messages"]) for document in native_documents(path))

    def comparable(self, path: Path) -> object:
        return by_channel(path)


class TestDiscordChatExporterOfTheCorpus(TestDiscordChatExporter):
    @pytest.fixture
    def sample(self, tmp_path: Path) -> Path:
        corpus = os.environ.get("UACS_CORPUS")
        if not corpus:
            pytest.skip("UACS_CORPUS names no folder of exports")
        (found,) = Path(corpus, "exports/discord").rglob("*.json")
        copied = tmp_path / "corpus" / found.name
        copied.parent.mkdir()
        copied.write_bytes(found.read_bytes())
        return copied.parent


def test_a_single_document_is_an_export_too(tmp_path: Path) -> None:
    form = DiscordChatExporter()
    path = tmp_path / "one.json"
    samples.write(path, samples.document({"id": "5", "name": "one"}, samples.GENERAL_MESSAGES))

    assert form.recognises(path)
    write_all(form, read_all(form, path), tmp_path / "written")
    assert by_channel(tmp_path / "written") == by_channel(path)


def test_the_connector_names_the_format() -> None:
    assert isinstance(connector_type, HasExports)
    assert [form.name for form in connector_type.export_formats()] == ["discord-chat-exporter"]
