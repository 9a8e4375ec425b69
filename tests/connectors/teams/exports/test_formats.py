"""The promises of every export format, for both of Teams."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bridge.ports.exports import ExportFormat, HasExports
from bridge.testing.export_contract import ExportFormatContract
from connectors.teams import connector_type
from connectors.teams.exports import FORMATS, TeamsExportTool, TeamsGraph
from tests.connectors.teams.exports import samples


class TeamsContract(ExportFormatContract):
    def messages_in(self, path: Path) -> int:
        return sum(file.read_text().lower().count('"messagetype"') for file in path.rglob("*.json"))

    def comparable(self, path: Path) -> object:
        found: dict[str, Any] = {}
        for file in path.rglob("*.json"):
            document = json.loads(file.read_bytes())
            items = document["value"] if isinstance(document, dict) else document
            found |= {item["id"]: item for item in items}
        return found


class TestGraph(TeamsContract):
    @pytest.fixture
    def form(self) -> ExportFormat:
        return TeamsGraph()

    @pytest.fixture
    def sample(self, tmp_path: Path) -> Path:
        return samples.graph(tmp_path / "saved")


class TestExportTool(TeamsContract):
    @pytest.fixture
    def form(self) -> ExportFormat:
        return TeamsExportTool()

    @pytest.fixture
    def sample(self, tmp_path: Path) -> Path:
        return samples.tool(tmp_path / "TeamsDataExport")


def test_the_connector_type_offers_both_formats() -> None:
    assert isinstance(connector_type, HasExports)
    names = [form.name for form in connector_type.export_formats()]
    assert names == ["teams-export-tool", "teams-graph"]


def test_an_export_is_of_one_format_alone(tmp_path: Path) -> None:
    graph, tool = samples.graph(tmp_path / "saved"), samples.tool(tmp_path / "tool")
    one = samples.write(tmp_path / "one.json", samples.IN_CHAT[0])

    recognised = {
        path.name: [form.name for form in FORMATS if form.recognises(path)]
        for path in (graph, tool, one, graph / "chat.json", graph / "users.json")
    }

    assert recognised == {
        "saved": ["teams-graph"], "tool": ["teams-export-tool"], "one.json": ["teams-graph"],
        "chat.json": ["teams-graph"], "users.json": [],
    }  # fmt: skip
