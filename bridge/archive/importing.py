"""An export -> the store: unit after unit, in batches, so that an import goes on where it was
stopped."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import BinaryIO

from bridge.content.media.types import agreed_type
from bridge.content.messages.metadata import KeptFile
from bridge.content.messages.stored_files import with_kept
from bridge.errors import ExportUnreadable, FileTooLarge
from bridge.model.export_records import (
    ExportedChannel,
    ExportedMessage,
    ExportedPerson,
    ExportUnit,
    ImportBatch,
    ImportCounts,
    NotUnderstood,
)
from bridge.ports.blobs import Blobs
from bridge.ports.exports import ExportReader
from bridge.ports.store.archive import ArchiveStore

_BATCH = 500  # messages of one transaction
_EXAMPLES = 3  # of each kind of thing that was not understood
_PIECE = 256 * 1024  # bytes
LARGEST_FILE = 1024 * 1024 * 1024  # bytes of one file of an export


@dataclass
class ImportReport:
    """What an import did.

    - `units_before`: parts that an earlier import had finished.
    - `not_understood`: how many of each kind, and the first places of each.
    - `unreadable`: parts that could not be read at all, with the reason.
    """

    counts: ImportCounts = field(default_factory=ImportCounts)
    units: int = 0
    units_before: int = 0
    files: int = 0
    not_understood: Counter[str] = field(default_factory=Counter[str])
    examples: dict[str, list[NotUnderstood]] = field(default_factory=dict[str, list[NotUnderstood]])
    unreadable: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def note(self, item: NotUnderstood) -> None:
        """Count something that was not understood."""
        self.not_understood[item.what] += 1
        examples = self.examples.setdefault(item.what, [])
        if len(examples) < _EXAMPLES:
            examples.append(item)


@dataclass(frozen=True)
class Progress:
    """How far an import is: bytes of all units, bytes of the finished ones, messages so far."""

    size: int
    done: int
    messages: int


class Importer:
    """Imports one export.

    Args:
        store: where the messages go.
        blobs: where the files of the export go; None: they stay links.
        format_name: the format of the payloads.
        export: names the imports that share their progress.
    """

    def __init__(
        self, store: ArchiveStore, blobs: Blobs | None, format_name: str, export: str
    ) -> None:
        self._store = store
        self._blobs = blobs
        self._format = format_name
        self._export = export
        self._report = ImportReport()
        self._writing: asyncio.Task[ImportCounts] | None = None

    async def run(
        self, reader: ExportReader, on_progress: Callable[[Progress], None] = lambda _: None
    ) -> ImportReport:
        """Import all units that are not finished. What cannot be read is in the report.

        Raises:
            StoreError: the store cannot be written.
        """
        finished = await self._store.imported_units(self._export)
        units = reader.units()
        size, done = sum(unit.size for unit in units), 0
        try:
            for unit in units:
                self._report.units += 1
                if finished.get(unit.key) == unit.fingerprint:
                    self._report.units_before += 1
                else:
                    await self._import(reader, unit)
                done += unit.size
                on_progress(Progress(size, done, self._report.counts.added))
            await self._written()
        finally:
            if self._writing is not None:
                await asyncio.gather(self._writing, return_exceptions=True)
        return self._report

    async def _import(self, reader: ExportReader, unit: ExportUnit) -> None:
        items = reader.read(unit)
        try:
            for batch in self._batches(items, unit):
                messages = await self._with_files(batch.messages)
                await self._write(replace(batch, messages=messages))
        except ExportUnreadable as error:
            self._report.unreadable.append((unit.key, str(error)))

    def _batches(self, items: Iterator[object], unit: ExportUnit) -> Iterator[ImportBatch]:
        """The last one finishes the unit."""
        people: list[ExportedPerson] = []
        channels: list[ExportedChannel] = []
        messages: list[ExportedMessage] = []
        empty = ImportBatch(self._export, self._format)
        for item in items:
            if isinstance(item, ExportedMessage):
                messages.append(item)
            elif isinstance(item, ExportedPerson):
                people.append(item)
            elif isinstance(item, ExportedChannel):
                channels.append(item)
            elif isinstance(item, NotUnderstood):
                self._report.note(item)
            if len(messages) == _BATCH or len(people) == _BATCH:
                yield replace(
                    empty, people=tuple(people), channels=tuple(channels), messages=tuple(messages)
                )
                people, channels, messages = [], [], []
        yield replace(
            empty, people=tuple(people), channels=tuple(channels), messages=tuple(messages),
            finished=unit,
        )  # fmt: skip

    async def _write(self, batch: ImportBatch) -> None:
        """Hand a batch to the writer, and read on while it is written."""
        await self._written()
        self._writing = asyncio.create_task(self._store.add_imported(batch))
        await asyncio.sleep(0)

    async def _written(self) -> None:
        if self._writing is not None:
            writing, self._writing = self._writing, None
            self._report.counts += await writing

    # --- files ----------------------------------------------------------------------------------

    async def _with_files(
        self, messages: tuple[ExportedMessage, ...]
    ) -> tuple[ExportedMessage, ...]:
        blobs = self._blobs
        if blobs is None or not any(message.files for message in messages):
            return messages
        return tuple([await self._with_its_files(message, blobs) for message in messages])

    async def _with_its_files(self, message: ExportedMessage, blobs: Blobs) -> ExportedMessage:
        kept: dict[str, KeptFile] = {}
        for address, file in message.files.items():
            where = message.posted.message.message_id
            try:
                with closing(file.open()) as stream:
                    kept[address] = await _stored(stream, blobs)
            except (OSError, FileTooLarge, ExportUnreadable) as error:
                reason = type(error).__name__
                self._report.note(NotUnderstood(where, "file that cannot be read", reason))
        if not kept:
            return message
        self._report.files += len(kept)
        posted = message.posted
        changed = posted.model_copy(update={"message": with_kept(posted.message, kept)})
        return replace(message, posted=changed)


async def _stored(stream: BinaryIO, blobs: Blobs) -> KeptFile:
    blob = await blobs.put(_pieces(stream), limit=LARGEST_FILE)
    media_type = agreed_type("", blob.media_type)
    return KeptFile(file_id=blob.file_id, media_type=media_type, size=blob.size)


async def _pieces(stream: BinaryIO) -> AsyncIterator[bytes]:
    while piece := await asyncio.to_thread(stream.read, _PIECE):
        yield piece
