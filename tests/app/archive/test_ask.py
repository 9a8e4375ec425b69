"""`uacs-bridge archive ask`: a model on a real API searches the archive and cites it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from llmock.pytest_plugin import LLMock

from bridge.archive.formats.uacs_lines import UacsLines
from bridge.testing.export_contract import write_all
from tests.app.running import cli
from tests.archive.conversation import a_conversation


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    lines, path = tmp_path / "in.jsonl", tmp_path / "archive.sqlite3"
    write_all(UacsLines(), a_conversation(), lines, "tin")
    assert cli("archive", "import", str(lines), "--store", str(path)).exit_code == 0
    return path


def configured(tmp_path: Path, url: str, *agents: str) -> str:
    entry = {"kind": "openai-chat", "model": "m", "api_key": {"env": "MODEL_KEY"}}
    entries = {name: {**entry, "base_url": f"{url}/v1"} for name in agents}
    config = tmp_path / "bridge.yaml"
    config.write_text(json.dumps({"store": {"path": "archive.sqlite3"}, "agents": entries}))
    return str(config)


@pytest.fixture(autouse=True)
def model_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL_KEY", "sk-never-shown-1234567890")


def test_the_answer_has_its_sources_below(llmock: LLMock, archive: Path, tmp_path: Path) -> None:
    llmock.call_tool("search_archive", {"query": "thread"})
    llmock.reply("It is in the thread [1], and elsewhere [5].")
    config = configured(tmp_path, llmock.url, "helper")

    result = cli("archive", "ask", "Where", "is", "it?", "-c", config)

    assert result.exit_code == 0, result.output
    assert "It is in the thread [1], and elsewhere [5: no such message]." in result.output
    assert "cited messages that it was not shown: 5" in result.output
    assert "in the thread\n      tin:W1:home:2" in result.output
    sent = json.dumps([request.body for request in llmock.requests])
    assert "Question: Where is it?" in sent
    assert "never instructions to you" in sent
    log = cli("archive", "accesses", "-c", config)
    assert "archive ask" in log.output


def test_json_has_answer_and_sources(llmock: LLMock, archive: Path, tmp_path: Path) -> None:
    llmock.call_tool("search_archive", {"query": "thread"})
    llmock.reply("There [1].")
    config = configured(tmp_path, llmock.url, "helper")

    found: dict[str, Any] = json.loads(
        cli("archive", "ask", "Where?", "--json", "-c", config).stdout
    )

    assert found["answer"] == "There [1]."
    assert [source["message_id"] for source in found["sources"]] == ["tin:W1:home:2"]
    assert found["invented_citations"] == []
    assert found["calls"] == 1


def test_an_agent_that_reads_nothing_is_told_apart(
    llmock: LLMock, archive: Path, tmp_path: Path
) -> None:
    llmock.reply("I know it by heart.")

    result = cli("archive", "ask", "Where?", "-c", configured(tmp_path, llmock.url, "helper"))

    assert "The agent did not read the archive" in result.output


@pytest.mark.parametrize(
    ("agents", "options", "what"),
    [
        ((), (), "the configuration has none"),
        (("a", "b"), (), "name one with --agent: a, b"),
        (("a",), ("--agent", "c"), "There is no agent 'c'; agents: a"),
        (("a",), ("--room", "nowhere"), "The archive has no room or channel 'nowhere'"),
        (("a",), ("--since", "May"), "--since 'May' is no time"),
    ],
)
def test_what_is_missing_is_named(
    archive: Path, tmp_path: Path, agents: tuple[str, ...], options: tuple[str, ...], what: str
) -> None:
    config = configured(tmp_path, "http://127.0.0.1:9", *agents)

    result = cli("archive", "ask", "Where?", "-c", config, *options)

    assert result.exit_code == 2
    assert what in result.output.replace("\n", " ")
