"""Programs in Python search and read the archive as the documentation shows it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bridge.app.archive.library import open_archive
from bridge.archive.formats.uacs_lines import UacsLines
from bridge.archive.search_query import BadQuery
from bridge.errors import ConfigError, StoreError
from bridge.testing.export_contract import write_all
from tests.app.running import cli
from tests.archive.conversation import a_conversation

DOCUMENT = Path(__file__).parents[3] / "docs" / "archive.md"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    lines, path = tmp_path / "in.jsonl", tmp_path / "archive.sqlite3"
    write_all(UacsLines(), a_conversation(), lines, "tin")
    assert cli("archive", "import", str(lines), "--store", str(path)).exit_code == 0
    return path


def test_the_example_of_the_documentation_runs(
    store: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text("utf-8"), re.DOTALL)
    monkeypatch.chdir(store.parent)
    example = example.replace("bridge.sqlite3", store.name).replace("from:Ann deploy", "thread")

    exec(compile(example, "docs/archive.md", "exec"), {"__name__": "__main__"})

    printed = capsys.readouterr().out
    assert "in the thread" in printed
    assert "home" in printed


async def test_searches_and_channels_are_read_whole(store: Path) -> None:
    async with open_archive(store) as archive:
        found = [one async for one in archive.search("message")]
        own = [message async for message in archive.messages("home")]
        some = [message async for message in archive.messages("home", since=own[1].time)]

    assert [one.moment for one in found] == sorted((one.moment for one in found), reverse=True)
    assert [message.time for message in own] == sorted(message.time for message in own)
    assert some == own[1:]


async def test_what_is_not_there_is_named(store: Path, tmp_path: Path) -> None:
    async with open_archive(store) as archive:
        with pytest.raises(BadQuery):
            await anext(archive.search("has:nonsense"))
        with pytest.raises(ConfigError, match="no room or channel 'nowhere'"):
            await anext(archive.messages("nowhere"))
    with pytest.raises(StoreError, match="There is no store"):
        async with open_archive(tmp_path / "none.sqlite3"):
            pass
