"""Parquet: a folder with tables of messages, reactions and people, for analysis.

Rows are written in groups, so that memory stays flat. `uacs` is the whole message as JSON; the
other columns are what queries need most. Needs pyarrow: the extra `parquet`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from bridge.archive.additions import message_json
from bridge.archive.formats.uacs_objects import person_json
from bridge.content.messages.parts import message_text
from bridge.errors import ExportUnreadable
from bridge.model.export_records import (
    ArchivedMessage,
    ExportedChannel,
    ExportedPerson,
    NotWritten,
)
from bridge.ports.exports import ExportReader, ExportWriter, ReadOptions, WriteOptions
from bridge.runtime.extras import how_to_install

if TYPE_CHECKING:
    from types import ModuleType

_GROUP = 20_000  # rows of a row group

Row = dict[str, Any]


class Parquet:
    """The format; it can only be written."""

    name = "parquet"
    title = "Parquet tables"
    platform = ""
    reads = False

    writes = True
    payloads = frozenset[str]()

    def recognises(self, path: Path) -> bool:
        """Nothing: it is not read."""
        return False

    def reader(self, path: Path, options: ReadOptions) -> ExportReader:
        """Raises ExportUnreadable."""
        raise ExportUnreadable(f"{path}: Parquet can only be written")

    def writer(self, path: Path, options: WriteOptions) -> ExportWriter:
        """Begin a folder. Raises ExportUnreadable without pyarrow."""
        try:
            import pyarrow
            from pyarrow import parquet
        except ImportError:
            raise ExportUnreadable(
                f"Parquet needs the package pyarrow: {how_to_install('parquet')}"
            ) from None
        path.mkdir(parents=True)
        return _Writer(path, pyarrow, parquet)


class _Table:
    """One file, written group by group."""

    def __init__(self, path: Path, schema: Any, arrow: ModuleType, parquet: ModuleType) -> None:
        self._arrow = arrow
        self._schema = schema
        self._writer = parquet.ParquetWriter(path, schema, compression="zstd")
        self._rows: list[Row] = []

    def add(self, row: Row) -> None:
        self._rows.append(row)
        if len(self._rows) == _GROUP:
            self._write()

    def close(self) -> None:
        """Write the rest; closing twice does nothing."""
        if self._rows:
            self._write()
        self._writer.close()

    def _write(self) -> None:
        self._writer.write_table(self._arrow.Table.from_pylist(self._rows, self._schema))
        self._rows = []


class _Writer:
    def __init__(self, path: Path, arrow: ModuleType, parquet: ModuleType) -> None:
        def table(name: str, schema: Callable[[ModuleType], Any]) -> _Table:
            return _Table(path / f"{name}.parquet", schema(arrow), arrow, parquet)

        self._people = table("people", _people)
        self._messages = table("messages", _messages)
        self._reactions = table("reactions", _reactions)
        self._conversation = ""

    def person(self, person: ExportedPerson) -> None:
        own = person.person
        self._people.add(
            {"id": own.id, "name": own.name, "bot": own.bot, "uacs": _json(person_json(person))}
        )

    def channel(self, channel: ExportedChannel) -> None:
        self._conversation = channel.name

    def message(self, message: ArchivedMessage) -> None:
        own = message.message
        channel = None if message.place is None else message.place.channel
        self._messages.add(
            {
                "id": own.message_id,
                "conversation": self._conversation,
                "platform": None if channel is None else channel.platform,
                "channel": None if channel is None else channel.key,
                "time": _time(message.time),
                "author": message.author.id,
                "author_name": message.author.name,
                "role": own.actor.role,
                "text": message_text(own)[0],
                "thread_root": message.root,
                "reply_to": message.reply_to,
                "edited_at": None if message.edited_at is None else _time(message.edited_at),
                "deleted": message.deleted,
                "pinned": message.pinned,
                "reactions": len(message.reactions),
                "uacs": _json(message_json(message)),
            }
        )
        for reaction in message.reactions:
            at = None if reaction.at is None else _time(reaction.at)
            row = {"message": own.message_id, "emoji": reaction.emoji, "actor": reaction.actor}
            self._reactions.add({**row, "at": at})

    def finish(self) -> Sequence[NotWritten]:
        self.close()
        return []

    def close(self) -> None:
        for table in (self._people, self._messages, self._reactions):
            table.close()


def _time(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _json(value: Row) -> str:
    return orjson.dumps(value).decode()


def _people(arrow: ModuleType) -> Any:
    text = arrow.string()
    return arrow.schema(
        [
            arrow.field("id", text, nullable=False), ("name", text), ("bot", arrow.bool_()),
            ("uacs", text),
        ]
    )  # fmt: skip


def _messages(arrow: ModuleType) -> Any:
    text, time = arrow.string(), arrow.timestamp("us", tz="UTC")
    common = arrow.dictionary(arrow.int32(), text)  # few values, many rows
    return arrow.schema(
        [
            arrow.field("id", text, nullable=False), ("conversation", common),
            ("platform", common), ("channel", common), arrow.field("time", time, nullable=False),
            ("author", common), ("author_name", common), ("role", common), ("text", text),
            ("thread_root", text), ("reply_to", text), ("edited_at", time),
            ("deleted", arrow.bool_()), ("pinned", arrow.bool_()), ("reactions", arrow.int32()),
            ("uacs", text),
        ]
    )  # fmt: skip


def _reactions(arrow: ModuleType) -> Any:
    text = arrow.string()
    return arrow.schema(
        [
            arrow.field("message", text, nullable=False), ("emoji", text), ("actor", text),
            ("at", arrow.timestamp("us", tz="UTC")),
        ]
    )  # fmt: skip
