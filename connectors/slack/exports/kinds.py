"""Which of the formats a file or folder is of: one answer, so that no two formats claim a path."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path

from bridge.errors import ExportUnreadable
from bridge.runtime.export_tree import BROKEN, ZipTree, is_zip, starts_with
from connectors.slack.exports.channels import INDICES

SLACK_ZIP = "slack-zip"
SLACKDUMP_SQLITE = "slackdump-sqlite"
SLACKDUMP_DUMP = "slackdump-dump"
SLACKDUMP_CHUNK = "slackdump-chunk"

DAY_FILE = re.compile(r"(?:teams/[^/]+/)?[^/]+/\d{4}-\d\d-\d\d\.json")
DUMP_FILE = re.compile(r"[CDG][A-Z0-9]+(?:-\d+\.\d+)?\.json")
CHUNK_ENDING = ".json.gz"
DATABASE = "slackdump.sqlite"
USER_LISTS = ("users.json", "org_users.json")
_ID = re.compile(rb'"id"\s*:\s*"[CDGUW][A-Z0-9]+"')
_OF_A_DUMP = re.compile(rb'"channel_id"\s*:\s*"[CDG][A-Z0-9]+"')
_CHUNKS = re.compile(r"(?:users|channels|workspace|search|[CDG][A-Z0-9]+(?:-.+)?)\.json\.gz")
_HEAD = 65_536
_GZIP = b"\x1f\x8b"
_UNREADABLE = (ExportUnreadable, *BROKEN)

Head = Callable[[str], bytes]


def kind_of(path: Path) -> str:
    """Return the name of the format; "" if it is none of these."""
    try:
        return _kind_of_folder(path) if path.is_dir() else _kind_of_file(path)
    except BROKEN:
        return ""


def _kind_of_file(path: Path) -> str:
    if starts_with(path, b"SQLite format 3\x00"):
        return SLACKDUMP_SQLITE if is_archive(path) else ""
    if is_zip(path):
        return _kind_of_zip(path)
    return SLACKDUMP_DUMP if path.suffix == ".json" and _is_dump(_head_of(path)) else ""


def _kind_of_folder(path: Path) -> str:
    names = [entry.name for entry in os.scandir(path)]
    if DATABASE in names and is_archive(path / DATABASE):
        return SLACKDUMP_SQLITE
    if any(_CHUNKS.fullmatch(name) and starts_with(path / name, _GZIP) for name in names):
        return SLACKDUMP_CHUNK
    below = (
        f"{name}/{entry.name}"
        for name in names
        if (path / name).is_dir() and not name.startswith((".", "__"))
        for entry in os.scandir(path / name)
    )
    return _kind_of_names(names, below, lambda name: _head_of(path / name))


def _kind_of_zip(path: Path) -> str:
    try:
        tree = ZipTree(path)
    except _UNREADABLE:
        return ""
    try:
        names = tree.names()

        def head(name: str) -> bytes:
            try:
                with tree.open(name) as file:
                    return file.read(_HEAD)
            except _UNREADABLE:
                return b""

        return _kind_of_names([name for name in names if "/" not in name], names, head)
    finally:
        tree.close()


def _kind_of_names(top: Iterable[str], below: Iterable[str], head: Head) -> str:
    at_top = sorted(top)
    if any(_is_list(head(name)) for name in at_top if name in INDICES):
        return SLACK_ZIP
    has_people = any(_is_list(head(name)) for name in at_top if name in USER_LISTS)
    if has_people and any(DAY_FILE.fullmatch(name) or name.startswith("teams/") for name in below):
        return SLACK_ZIP
    dumps = (name for name in at_top if DUMP_FILE.fullmatch(name))
    return SLACKDUMP_DUMP if any(_is_dump(head(name)) for name in dumps) else ""


def is_archive(path: Path) -> bool:
    """Whether an SQLite file has the tables of slackdump."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
            rows = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            return {"MESSAGE", "CHUNK", "goose_db_version"} <= {name for (name,) in rows}
    except sqlite3.Error:
        return False


def _is_list(head: bytes) -> bool:
    text = head.removeprefix(b"\xef\xbb\xbf").strip()
    return text.startswith(b"[") and (text[1:].strip() == b"]" or bool(_ID.search(text)))


def _is_dump(head: bytes) -> bool:
    begins = head.lstrip().startswith(b"{")
    return begins and b'"messages"' in head and bool(_OF_A_DUMP.search(head))


def _head_of(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_HEAD)
    except OSError:
        return b""
