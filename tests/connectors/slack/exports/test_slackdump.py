"""The formats of slackdump: the same conversation gives the same messages in each."""

from __future__ import annotations

import gzip
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from bridge.errors import ExportUnreadable
from bridge.model.export_records import ExportedChannel, ExportedMessage, ExportItem, NotUnderstood
from bridge.ports.exports import ExportFormat, ReadOptions
from bridge.testing.export_contract import ExportFormatContract, read_all
from connectors.slack.exports import FORMATS
from connectors.slack.exports.slackdump_formats import (
    SlackdumpChunk,
    SlackdumpDump,
    SlackdumpSqlite,
)
from tests.connectors.slack.exports import samples
from tests.connectors.slack.exports.samples import GENERAL, SECRET, TEAM

_GENERAL, _SECRET = len(samples.general_posts()), len(samples.DAYS["secret/2024-01-01.json"])


def dump_files() -> samples.Files:
    secret = {
        "channel_id": SECRET,
        "name": "secret",
        "messages": samples.DAYS["secret/2024-01-01.json"],
    }
    return {
        f"{GENERAL}.json": samples.encoded(samples.dump()),
        f"{SECRET}.json": samples.encoded(secret),
        f"{GENERAL}/F0FILE001-notes.txt": b"12345",
    }  # fmt: skip


class TestDump(ExportFormatContract):
    @pytest.fixture
    def form(self) -> ExportFormat:
        return SlackdumpDump()

    @pytest.fixture
    def sample(self, tmp_path: Path) -> Path:
        return samples.written(tmp_path / "dump", dump_files())

    def messages_in(self, path: Path) -> int:
        return _GENERAL + _SECRET

    def comparable(self, path: Path) -> object:
        return None


class TestDumpInAZip(TestDump):
    @pytest.fixture
    def sample(self, tmp_path: Path) -> Path:
        return samples.written(tmp_path / "dump.zip", dump_files())


class TestChunks(TestDump):
    @pytest.fixture
    def form(self) -> ExportFormat:
        return SlackdumpChunk()

    @pytest.fixture
    def sample(self, tmp_path: Path) -> Path:
        return samples.written(tmp_path / "chunks", samples.chunk_files())


class TestSqlite(TestDump):
    @pytest.fixture
    def form(self) -> ExportFormat:
        return SlackdumpSqlite()

    @pytest.fixture
    def sample(self, tmp_path: Path) -> Path:
        return samples.write_database(tmp_path / "slackdump.sqlite")


def written(tmp_path: Path) -> dict[str, Path]:
    """The sample in each format."""
    folder = tmp_path / "archive"
    samples.written(folder, {"__uploads/F0FILE001/notes.txt": b"12345"})
    samples.write_database(folder / "slackdump.sqlite")
    return {
        "slackdump-sqlite": folder,
        "slackdump-chunk": samples.written(tmp_path / "chunks", samples.chunk_files()),
        "slackdump-dump": samples.written(tmp_path / "dump", dump_files()),
        "slack-zip": samples.written(tmp_path / "export.zip", samples.export_files()),
    }


def messages(items: list[ExportItem]) -> dict[str, ExportedMessage]:
    return {
        item.posted.native_id: item
        for item in items
        if isinstance(item, ExportedMessage) and item.posted.place.channel.channel == GENERAL
    }


def test_each_path_is_of_one_format(tmp_path: Path) -> None:
    paths = written(tmp_path)
    paths |= {
        "slackdump-dump": paths["slackdump-dump"] / f"{GENERAL}.json",
        "slackdump-sqlite": paths["slackdump-sqlite"] / "slackdump.sqlite",
    }
    for path in (*written(tmp_path / "more").values(), *paths.values()):
        assert len([form for form in FORMATS if form.recognises(path)]) == 1
    for name, path in paths.items():
        assert [form.name for form in FORMATS if form.recognises(path)] == [name]


def test_all_formats_give_the_same_messages(tmp_path: Path) -> None:
    by_form = {form.name: form for form in FORMATS}
    read = {
        name: messages(read_all(by_form[name], path)) for name, path in written(tmp_path).items()
    }

    whole = read.pop("slack-zip")
    for name, found in read.items():
        assert found.keys() == whole.keys(), name
        for native, message in found.items():
            if native == samples.ROOT:
                continue  # the database has a later edit of it
            assert message.posted.message.content == whole[native].posted.message.content
            assert message.posted.place == whole[native].posted.place
            assert message.reactions == whole[native].reactions


@pytest.mark.parametrize("name", ["slackdump-sqlite", "slackdump-dump"])
def test_bytes_of_files_beside_the_messages_belong_to_them(tmp_path: Path, name: str) -> None:
    form = next(form for form in FORMATS if form.name == name)
    reader = form.reader(written(tmp_path)[name], ReadOptions())

    items = [item for unit in reader.units() for item in reader.read(unit)]
    with messages(items)[samples.REPLY].files["slack:F0FILE001"].open() as stream:
        assert stream.read() == b"12345"
    reader.close()


def test_the_root_of_a_dump_is_kept_without_its_replies(tmp_path: Path) -> None:
    items = read_all(SlackdumpDump(), written(tmp_path)["slackdump-dump"])

    root = json.loads(messages(items)[samples.ROOT].payload)
    assert root == samples.FIRST_DAY[0]


def test_a_dump_alone_is_named_by_its_file(tmp_path: Path) -> None:
    path = tmp_path / f"{GENERAL}.json"
    path.write_bytes(samples.encoded({"messages": [samples.post("1.000001", "x")]}))

    items = read_all(SlackdumpDump(), path)

    channels = [item.channel.channel for item in items if isinstance(item, ExportedChannel)]
    assert channels == [GENERAL]


def test_the_latest_row_of_a_message_counts(tmp_path: Path) -> None:
    items = read_all(SlackdumpSqlite(), written(tmp_path)["slackdump-sqlite"])

    assert "Hello, edited" in str(messages(items)[samples.ROOT].posted.message.content)


def test_an_unfinished_session_is_reported(tmp_path: Path) -> None:
    items = read_all(SlackdumpSqlite(), written(tmp_path)["slackdump-sqlite"])

    reports = [item for item in items if isinstance(item, NotUnderstood)]
    assert ("SESSION 2", "session of slackdump that is not finished", "resume") in [
        (report.where, report.what, report.detail) for report in reports
    ]


def test_a_channel_of_a_database_keeps_its_fingerprint_until_it_grows(tmp_path: Path) -> None:
    path = samples.write_database(tmp_path / "archive.sqlite")

    def fingerprints() -> dict[str, str]:
        reader = SlackdumpSqlite().reader(path, ReadOptions())
        found = {unit.key: unit.fingerprint for unit in reader.units()}
        reader.close()
        return found

    before = fingerprints()
    assert before == fingerprints()
    with closing(sqlite3.connect(path)) as database, database:
        new = json.dumps(samples.post("1704300000.000100", "new")).encode()
        row = (1704300000000100, 9, GENERAL, "1704300000.000100", new)
        database.execute("INSERT INTO MESSAGE VALUES (?, ?, ?, ?, ?)", row)
    after = fingerprints()

    assert {key for key in before if before[key] != after[key]} == {GENERAL}


def test_a_broken_chunk_leaves_the_others(tmp_path: Path) -> None:
    files = samples.chunk_files()
    name = f"{GENERAL}.json.gz"
    files[name] = gzip.compress(b'{"t":0,"ts":1,"id":broken\n' + gzip.decompress(files[name]))

    items = read_all(SlackdumpChunk(), samples.written(tmp_path / "chunks", files))

    assert len(messages(items)) == _GENERAL
    reports = [(item.where, item.what) for item in items if isinstance(item, NotUnderstood)]
    assert (f"{name}#1", "chunk that is no JSON object") in reports


def test_the_workspace_of_a_database_is_the_one_it_names(tmp_path: Path) -> None:
    items = read_all(SlackdumpSqlite(), written(tmp_path)["slackdump-sqlite"])

    assert {item.posted.place.channel.workspace for item in messages(items).values()} == {TEAM}


def test_a_dump_without_any_workspace_asks_for_it(tmp_path: Path) -> None:
    path = tmp_path / f"{GENERAL}.json"
    path.write_bytes(samples.encoded({"channel_id": GENERAL, "messages": [{"ts": "1.000001"}]}))

    with pytest.raises(ExportUnreadable, match="--workspace"):
        read_all(SlackdumpDump(), path)
