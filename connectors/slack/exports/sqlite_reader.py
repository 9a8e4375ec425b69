"""slackdump's SQLite archives -> people, channels and messages.

Source: rusq/slackdump v3, `internal/chunk/backend/dbase` (schemas 20250207 to 20260328). `DATA` is
the object of the API. A message that was read several times has a row for each; the row of the
latest chunk counts.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from bridge.errors import ExportUnreadable
from bridge.model.export_records import (
    ExportedChannel,
    ExportedPerson,
    ExportItem,
    ExportUnit,
    NotUnderstood,
)
from bridge.ports.exports import ReadOptions
from bridge.runtime.export_tree import FolderTree
from bridge.runtime.json_stream import parsed
from connectors.slack.exports.channels import exported_channel
from connectors.slack.exports.kinds import DATABASE
from connectors.slack.exports.people import People, is_workspace, most_frequent, teams_in
from connectors.slack.exports.posts import ChannelPosts
from connectors.slack.exports.zip_reader import INDEX, missing_workspace
from connectors.slack.json_values import Json, text_at

_UPLOADS = "__uploads"
_SAMPLED = 200
_LATEST = "SELECT DATA, MAX(CHUNK_ID) FROM {table} GROUP BY ID ORDER BY ID"
_ROWS = """SELECT rowid, MAX(CHUNK_ID) FROM MESSAGE
           WHERE CHANNEL_ID = ? GROUP BY ID ORDER BY ID"""


class SqliteReader:
    """An open archive: the database, or the folder that contains it."""

    def __init__(self, path: Path, options: ReadOptions) -> None:
        self._database = path / DATABASE if path.is_dir() else path
        self._name = self._database.name
        with self._readable():
            self._connection = _connected(self._database)
        try:
            with self._readable():
                self._open(options)
        except BaseException:
            self._connection.close()
            raise

    def _open(self, options: ReadOptions) -> None:
        self._people = People()
        for user in self._latest("S_USER"):
            self._people.add(user)
        self._workspace = options.workspace or self._stated_workspace()
        if not self._workspace and self._has_content():
            raise missing_workspace(self._name)
        self._counts = {
            channel: (newest, count)
            for channel, newest, count in self._connection.execute(
                "SELECT CHANNEL_ID, MAX(CHUNK_ID), COUNT(*) FROM MESSAGE"
                " GROUP BY CHANNEL_ID ORDER BY CHANNEL_ID"
            )
        }
        members: dict[str, dict[str, None]] = {}
        for channel, user in self._connection.execute(
            "SELECT CHANNEL_ID, USER_ID FROM CHANNEL_USER ORDER BY CHANNEL_ID, IDX"
        ):
            members.setdefault(channel, {})[user] = None
        natives = {text_at(native, "id"): native for native in self._latest("CHANNEL")}
        for channel in self._counts:
            natives.setdefault(channel, {"id": channel})
        self._channels = {
            channel: self._channel(native, members.get(channel, {}))
            for channel, native in sorted(natives.items())
            if channel
        }
        uploads = self._database.parent / _UPLOADS
        self._uploads = FolderTree(uploads) if uploads.is_dir() else None
        names = self._uploads.names() if self._uploads else []
        self._files = {name.partition("/")[0]: name for name in names if name.count("/") == 1}

    def units(self) -> Sequence[ExportUnit]:
        with self._readable():
            row = self._connection.execute("SELECT MAX(ID), COUNT(*) FROM CHUNK").fetchone()
        return (
            ExportUnit(INDEX, f"{self._workspace}-{row[0]}-{row[1]}"),
            *(
                ExportUnit(channel, f"{self._workspace}-{newest}-{count}")
                for channel, (newest, count) in self._counts.items()
            ),
        )

    def read(self, unit: ExportUnit) -> Iterator[ExportItem]:
        return self._index() if unit.key == INDEX else self._conversation(unit.key)

    def close(self) -> None:
        self._connection.close()

    # --- opening --------------------------------------------------------------------------

    def _stated_workspace(self) -> str:
        row = self._connection.execute(
            "SELECT TEAM_ID FROM WORKSPACE ORDER BY CHUNK_ID DESC LIMIT 1"
        ).fetchone()
        if row and isinstance(row[0], str) and is_workspace(row[0]):
            return row[0]
        if found := self._people.workspace():
            return found
        rows = self._connection.execute("SELECT DATA FROM MESSAGE LIMIT ?", (_SAMPLED,))
        counted: Counter[str] = teams_in(filter(None, (_object(data) for (data,) in rows)))
        return most_frequent(counted)

    def _has_content(self) -> bool:
        tables = ("MESSAGE", "CHANNEL", "S_USER")
        return any(
            self._connection.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone()  # noqa: S608
            for table in tables
        )

    def _channel(self, native: Json, members: dict[str, None]) -> ExportedChannel:
        if members and not native.get("members"):
            native = {**native, "members": list(members)}
        return exported_channel(native, self._workspace, self._people)

    def _latest(self, table: str) -> Iterator[Json]:
        for data, _ in self._connection.execute(_LATEST.format(table=table)):
            if (value := _object(data)) is not None and text_at(value, "id"):
                yield value

    # --- reading --------------------------------------------------------------------------

    def _index(self) -> Iterator[ExportItem]:
        with self._readable():
            for user in self._latest("S_USER"):
                person = self._people.person(self._workspace, text_at(user, "id"))
                if person is not None:
                    yield ExportedPerson(person, user)
            yield from self._channels.values()
            for table in ("S_USER", "CHANNEL"):
                for (data,) in self._connection.execute(f"SELECT DATA FROM {table}"):  # noqa: S608
                    if not text_at(_object(data), "id"):
                        yield NotUnderstood(table, "entry that is no object with an id")
            for session, mode in self._connection.execute(
                "SELECT ID, MODE FROM SESSION WHERE NOT FINISHED ORDER BY ID"
            ):
                where = f"SESSION {session}"
                yield NotUnderstood(where, "session of slackdump that is not finished", str(mode))
            yield from self._search_results()

    def _search_results(self) -> Iterator[NotUnderstood]:
        (found,) = self._connection.execute("SELECT COUNT(*) FROM SEARCH_MESSAGE").fetchone()
        if found:
            what = "search results, which are not imported"
            yield NotUnderstood("SEARCH_MESSAGE", what, str(found))

    def _conversation(self, channel: str) -> Iterator[ExportItem]:
        posts = ChannelPosts(
            self._channels[channel].channel, self._people, self._people.is_listed, file=self._file
        )
        with self._readable():
            rows = self._connection.execute(_ROWS, (channel,))
            while batch := list(islice(rows, 1000)):
                for rowid, _ in batch:
                    where = f"MESSAGE {channel} row {rowid}"
                    row = self._connection.execute(
                        "SELECT DATA FROM MESSAGE WHERE rowid = ?", (rowid,)
                    ).fetchone()
                    if row is None:
                        yield NotUnderstood(where, "message of a damaged database")
                    else:
                        yield from posts.read(_bytes(row[0]), where)

    def _file(self, native: str) -> tuple[int, Callable[[], BinaryIO]] | None:
        name = self._files.get(native)
        if name is None or self._uploads is None:
            return None
        return self._uploads.size(name), partial(self._uploads.open, name)

    @contextmanager
    def _readable(self) -> Generator[None]:
        try:
            yield
        except (sqlite3.Error, ValueError, OverflowError, OSError) as error:
            raise ExportUnreadable(f"{self._name} cannot be read: {error}") from error


def _connected(path: Path) -> sqlite3.Connection:
    """The database, opened for reading; also where its folder cannot be written."""
    address = f"{path.absolute().as_uri()}?mode=ro"
    connection = sqlite3.connect(address, uri=True, check_same_thread=False)
    try:
        connection.execute("SELECT 1 FROM MESSAGE LIMIT 1").fetchone()
    except (sqlite3.Error, UnicodeDecodeError):
        connection.close()
        address = f"{address}&immutable=1"
        connection = sqlite3.connect(address, uri=True, check_same_thread=False)
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    return connection


def _bytes(data: Any) -> bytes:
    return data if isinstance(data, bytes) else str(data).encode("utf-8", "replace")


def _object(data: Any) -> Json | None:
    try:
        value = parsed(_bytes(data))
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
