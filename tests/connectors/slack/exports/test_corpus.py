"""Real exports of the corpus; `UACS_CORPUS` names its folder."""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from bridge.model.export_records import ExportedMessage, NotUnderstood
from bridge.ports.exports import ReadOptions
from bridge.testing.export_contract import read_all, write_all
from connectors.slack.exports import FORMATS
from tests.connectors.slack.exports import samples

CORPUS = Path(os.environ.get("UACS_CORPUS", "/nowhere"))
_MISSING = pytest.mark.skipif(not CORPUS.is_dir(), reason="UACS_CORPUS names no folder of exports")


def _in_export(path: Path) -> int:
    return sum(map(len, samples.contents(path)["posts"].values()))


def _in_dump(path: Path) -> int:
    found = json.loads(path.read_bytes())["messages"]
    replies = [reply for item in found for reply in item.get("slackdump_thread_replies") or ()]
    return len({item["ts"] for item in (*found, *replies)})


def _in_chunks(path: Path) -> int:
    chunks = [
        json.loads(line)
        for file in path.glob("*.json.gz")
        for line in gzip.decompress(file.read_bytes()).splitlines()
    ]
    return len({item["ts"] for chunk in chunks for item in chunk.get("m", ())})


def _in_database(path: Path) -> int:
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as database:
        query = "SELECT COUNT(*) FROM (SELECT DISTINCT CHANNEL_ID, ID FROM MESSAGE)"
        return database.execute(query).fetchone()[0]


SAMPLES: list[tuple[str, str, Callable[[Path], int]]] = [
    ("slack/exports/slack-export-viewer_2016", "slack-zip", _in_export),
    ("exports/slackdump/source_export.zip", "slack-zip", _in_export),
    ("exports/slackdump/export_meta", "slack-zip", _in_export),
    ("exports/slackdump/dump_CHY5HUESG.json", "slackdump-dump", _in_dump),
    ("exports/slackdump/chunk_dir", "slackdump-chunk", _in_chunks),
    ("exports/slackdump/derived_small.sqlite", "slackdump-sqlite", _in_database),
    ("exports/slackdump/empty_schema_v20260328.sqlite", "slackdump-sqlite", _in_database),
]


@_MISSING
@pytest.mark.parametrize(("name", "form_name", "count"), SAMPLES)
def test_every_message_of_the_corpus_is_imported_or_reported(
    name: str, form_name: str, count: Callable[[Path], int]
) -> None:
    path = CORPUS / name
    (form,) = (form for form in FORMATS if form.recognises(path))
    assert form.name == form_name

    items = read_all(form, path, ReadOptions(workspace="T0CORPUS1"))

    ids = {item.posted.message.message_id for item in items if isinstance(item, ExportedMessage)}
    failed = [
        item
        for item in items
        if isinstance(item, NotUnderstood) and item.what.startswith("message")
    ]
    assert len(ids) + len(failed) == count(path)
    assert not failed


@_MISSING
@pytest.mark.parametrize("name", [name for name, form, _ in SAMPLES if form == "slack-zip"])
def test_an_export_of_the_corpus_is_the_same_after_import_and_export(
    name: str, tmp_path: Path
) -> None:
    path = CORPUS / name
    (form,) = (form for form in FORMATS if form.recognises(path))

    write_all(form, read_all(form, path, ReadOptions(workspace="T0CORPUS1")), tmp_path / "out.zip")

    before, after = samples.contents(path), samples.contents(tmp_path / "out.zip")
    before["lists"].pop("integration_logs.json", None)
    assert after == before


@_MISSING
def test_no_other_file_of_the_corpus_is_taken_for_an_export_of_slack() -> None:
    ours = {CORPUS / name for name, _, _ in SAMPLES}
    others = [
        path
        for path in (CORPUS / "exports").rglob("*")
        if path not in ours and not any(parent in ours for parent in path.parents)
    ]

    assert others
    assert not [path for path in others for form in FORMATS if form.recognises(path)]
