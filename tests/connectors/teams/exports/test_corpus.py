"""Real answers and a real export of the corpus; `UACS_CORPUS` names its folder."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from bridge.model.export_records import (
    ExportedChannel,
    ExportedMessage,
    ExportedPerson,
    ExportItem,
    NotUnderstood,
)
from bridge.ports.exports import ReadOptions
from bridge.testing.export_contract import read_all, write_all
from connectors.teams.exports import FORMATS, TeamsExportTool, TeamsGraph

CORPUS = Path(os.environ.get("UACS_CORPUS", "/nowhere"))
pytestmark = pytest.mark.skipif(
    not CORPUS.is_dir(), reason="UACS_CORPUS names no folder of exports"
)


def test_every_message_of_the_export_tool_is_imported() -> None:
    path = CORPUS / "exports/teams/TeamsDataExport"
    assert [form.name for form in FORMATS if form.recognises(path)] == ["teams-export-tool"]
    items = read_all(TeamsExportTool(), path)
    natives = [item for file in path.rglob("*.json") for item in json.loads(file.read_bytes())]

    imported = [item.posted.native_id for item in items if isinstance(item, ExportedMessage)]

    assert sorted(imported) == sorted(native["Id"] for native in natives)
    assert not [item for item in items if isinstance(item, NotUnderstood)]


def test_every_message_of_graph_is_imported_or_reported() -> None:
    path = CORPUS / "teams/graph"
    items = read_all(TeamsGraph(), path, ReadOptions(workspace="tenant"))
    messages = sum(map(_messages_in, path.glob("*.json")))

    imported = [item for item in items if isinstance(item, ExportedMessage)]
    reported = [item for item in items if isinstance(item, NotUnderstood)]

    assert len(imported) >= 50
    assert len(imported) + sum("message" in item.what for item in reported) >= messages


def test_an_exported_import_of_graph_has_the_same_messages(tmp_path: Path) -> None:
    form, options = TeamsGraph(), ReadOptions(workspace="tenant")
    items = _without_repetitions(read_all(form, CORPUS / "teams/graph", options))

    write_all(form, items, tmp_path / "export")
    again = read_all(form, tmp_path / "export", options)

    assert _payloads(again) == _payloads(items)


def _without_repetitions(items: list[ExportItem]) -> list[ExportItem]:
    """Keep the first of the items about one thing, as the archive does."""
    found: dict[str, ExportItem] = {}
    for item in items:
        if isinstance(item, ExportedMessage):
            found.setdefault(item.posted.message.message_id, item)
        elif isinstance(item, ExportedChannel):
            found.setdefault(f"channel {item.channel.key}", item)
        elif isinstance(item, ExportedPerson):
            found.setdefault(f"person {item.person.id}", item)
    return list(found.values())


def _payloads(items: list[ExportItem]) -> dict[str, Any]:
    messages = (item for item in items if isinstance(item, ExportedMessage))
    return {one.posted.message.message_id: json.loads(one.payload) for one in messages}


def _messages_in(path: Path) -> int:
    document: Any = json.loads(path.read_bytes())
    value = document.get("value") if isinstance(document, dict) else document
    items = value if isinstance(value, list) else [document]
    return sum(isinstance(item, dict) and "body" in item and "id" in item for item in items)
