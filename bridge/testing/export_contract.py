"""Contract suite of an export format: subclass `ExportFormatContract` in a test module."""

from __future__ import annotations

import re
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from bridge.archive.importing import Importer
from bridge.errors import ExportUnreadable
from bridge.model import message_id_of
from bridge.model.export_records import (
    ArchivedMessage,
    ArchiveFilter,
    ExportedChannel,
    ExportedMessage,
    ExportedPerson,
    ExportItem,
    NotUnderstood,
)
from bridge.ports.exports import ExportFormat, ReadOptions, WriteOptions
from bridge.runtime.export_tree import is_zip
from bridge.store import SqliteStore
from bridge.testing.clock import ManualClock


def read_all(
    form: ExportFormat, path: Path, options: ReadOptions | None = None
) -> list[ExportItem]:
    """Return all items of an export.

    Raises:
        ExportUnreadable: a part of it cannot be read.
    """
    reader = form.reader(path, options or ReadOptions())
    try:
        return [item for unit in reader.units() for item in reader.read(unit)]
    finally:
        reader.close()


def archived(exported: ExportedMessage, format_name: str) -> ArchivedMessage:
    """Return the message as the archive gives it to an exporter after its import."""
    posted = exported.posted
    channel, thread = posted.place.channel, posted.place.thread
    root, reply_to = exported.relations()
    return ArchivedMessage.of(
        posted.message,
        posted.author,
        time=posted.time.timestamp(),
        place=posted.place,
        native_id=posted.native_id,
        root=root or (message_id_of(channel, thread) if thread else None),
        reply_to=reply_to,
        edited_at=posted.edited_at.timestamp() if posted.edited_at else None,
        editor=exported.editor,
        deleted=exported.deleted,
        pinned=exported.pinned,
        reactions=exported.reactions,
        payload=exported.payload,
        payload_kind=format_name,
    )


def write_all(
    form: ExportFormat, items: Sequence[ExportItem], target: Path, payload_kind: str | None = None
) -> None:
    """Write an export of what was read from one, in the order in which the archive gives it.

    `payload_kind` names the format that the payloads came from, this one by default.
    """
    writer = form.writer(target, WriteOptions())
    assert writer is not None
    for item in items:
        if isinstance(item, ExportedPerson):
            writer.person(item)
    messages = [item for item in items if isinstance(item, ExportedMessage)]
    for channel in (item for item in items if isinstance(item, ExportedChannel)):
        writer.channel(channel)
        of_channel = [m for m in messages if m.posted.place.channel == channel.channel]
        for message in sorted(of_channel, key=lambda m: (m.posted.time, m.posted.native_id)):
            writer.message(archived(message, payload_kind or form.name))
    writer.finish()


def _number(value: bytes) -> Callable[[bytes], bytes]:
    """Put this in place of every number with 9 digits or more: times, ids, sizes."""
    return lambda text: re.sub(rb"(?<![\w.-])\d{9,}(\.\d+)?(?![\w.-])", value, text)


def _date(value: bytes) -> Callable[[bytes], bytes]:
    """Put this in place of every date."""
    return lambda text: re.sub(rb"\d{4}-\d\d-\d\d", value, text)


DAMAGES: Mapping[str, Callable[[bytes], bytes]] = {
    "cut after a third": lambda text: text[: len(text) // 3],
    "cut before the end": lambda text: text[:-3],
    "empty": lambda _text: b"",
    "UTF-16": lambda text: text.decode("utf-8", "replace").encode("utf-16"),
    "Latin-1": lambda text: text.replace(b"a", b"\xe4"),
    "a mark at the beginning": lambda text: b"\xef\xbb\xbf" + text,
    "zero bytes": lambda text: text.replace(b"e", b"\0"),
    "lone surrogates": lambda text: text.replace(b'": "', b'": "\\ud800'),
    "deep nesting": lambda _text: b"[" * 200_000,
    "deep objects": lambda _text: b'{"messages":' * 100_000,
    "another document": lambda _text: b'[1, null, "x", {"messages": 7, "id": []}]',
    "null everywhere": lambda text: re.sub(rb'": "[^"]*"', b'": null', text),
    "numbers everywhere": lambda text: re.sub(rb'": "[^"]*"', b'": 7', text),
    "lists everywhere": lambda text: re.sub(rb'": "[^"]*"', b'": [{}]', text),
    "huge numbers": _number(b"9" * 400),
    "times beyond all calendars": _number(b"99999999999999"),
    "times before the calendar": _number(b"-99999999999999"),
    "times that are no numbers": _number(b"NaN"),
    "exponents": _number(b"1e300"),
    "dates that do not exist": _date(b"9999-99-99"),
    "the last day": _date(b"9999-12-31"),
    "the first day": _date(b"0001-01-01"),
    "twice": lambda text: text + text,
    "one line for ever": lambda text: text.replace(b"\n", b" ") + b"x" * 3_000_000,
}
"""What is done to each file of an export, by name."""


class ExportFormatContract(ABC):
    """Tests of the promises of every export format. A subclass provides a format and a sample."""

    @pytest.fixture
    @abstractmethod
    def form(self) -> ExportFormat:
        """The format under test."""

    @pytest.fixture
    @abstractmethod
    def sample(self, tmp_path: Path) -> Path:
        """A small export with two channels or more, threads where the format has them, and
        reactions."""

    @pytest.fixture
    def options(self) -> ReadOptions:
        """Reading options for facts that the sample lacks."""
        return ReadOptions()

    @abstractmethod
    def messages_in(self, path: Path) -> int:
        """Count the native messages of an export, without the reader."""

    @abstractmethod
    def comparable(self, path: Path) -> object:
        """Return the content of an export as plain values, independent of the order of keys and of
        compression."""

    def test_the_format_recognises_its_own_export(self, form: ExportFormat, sample: Path) -> None:
        assert form.recognises(sample)

    def test_the_format_recognises_no_other_files(self, form: ExportFormat, tmp_path: Path) -> None:
        text, empty = tmp_path / "notes.bin", tmp_path / "empty"
        text.write_bytes(b"\x00\x01 no export of anybody")
        empty.mkdir()

        assert not form.recognises(text)
        assert not form.recognises(empty)
        assert not form.recognises(tmp_path / "missing")

    def test_every_message_is_imported_or_reported(
        self, form: ExportFormat, sample: Path, options: ReadOptions
    ) -> None:
        items = read_all(form, sample, options)
        imported = [item for item in items if isinstance(item, ExportedMessage)]
        reported = [item for item in items if isinstance(item, NotUnderstood)]

        assert imported
        assert len(imported) + len(reported) >= self.messages_in(sample)
        assert len(imported) <= self.messages_in(sample)

    def test_message_ids_are_unique_and_name_their_channel(
        self, form: ExportFormat, sample: Path, options: ReadOptions
    ) -> None:
        messages = [
            item for item in read_all(form, sample, options) if isinstance(item, ExportedMessage)
        ]
        ids = [message.posted.message.message_id for message in messages]

        assert len(set(ids)) == len(ids)
        for message in messages:
            posted = message.posted
            assert posted.message.message_id == message_id_of(
                posted.place.channel, posted.native_id
            )

    def test_channels_and_people_come_before_the_messages_that_need_them(
        self, form: ExportFormat, sample: Path, options: ReadOptions
    ) -> None:
        channels, people = set[str](), set[str]()
        for item in read_all(form, sample, options):
            if isinstance(item, ExportedChannel):
                channels.add(item.channel.key)
            elif isinstance(item, ExportedPerson):
                people.add(item.person.id)
            elif isinstance(item, ExportedMessage):
                assert item.posted.place.channel.key in channels
                assert item.posted.author.id in people

    def test_reading_an_export_twice_gives_the_same_items(
        self, form: ExportFormat, sample: Path, options: ReadOptions
    ) -> None:
        first, again = form.reader(sample, options), form.reader(sample, options)
        try:
            assert list(first.units()) == list(again.units())
            for unit in first.units():
                assert list(first.read(unit)) == list(again.read(unit))
        finally:
            first.close()
            again.close()

    def test_an_exported_import_equals_the_original_export(
        self, form: ExportFormat, sample: Path, options: ReadOptions, tmp_path: Path
    ) -> None:
        target = tmp_path / "written" / sample.name
        target.parent.mkdir()
        writer = form.writer(target, WriteOptions())
        if writer is None:
            pytest.skip(f"{form.title} is only read")
        writer.finish()
        target = tmp_path / "again" / sample.name
        target.parent.mkdir()

        write_all(form, read_all(form, sample, options), target)

        assert self.comparable(target) == self.comparable(sample)

    def test_a_truncated_export_raises_only_export_unreadable(
        self, form: ExportFormat, sample: Path, options: ReadOptions
    ) -> None:
        for file in [sample] if sample.is_file() else sorted(sample.rglob("*")):
            if file.is_file():
                whole = file.read_bytes()
                file.write_bytes(whole[: len(whole) // 2])
                _survives(form, sample, options)
                file.write_bytes(whole)

    @pytest.mark.parametrize("name", sorted(DAMAGES))
    async def test_a_malformed_export_is_imported_as_far_as_it_is_understood(
        self, form: ExportFormat, sample: Path, options: ReadOptions, tmp_path: Path, name: str
    ) -> None:
        """No error but ExportUnreadable, nothing outside of the export, and a whole archive."""
        outside = _files_beside(sample, tmp_path)
        _damage_all(sample, DAMAGES[name])
        store = SqliteStore.in_memory(ManualClock())
        try:
            reader = form.reader(sample, options)
            try:
                report = await Importer(store, None, form.name, "malformed").run(reader)
            finally:
                reader.close()
            assert all(reason for _, reason in report.unreadable)
        except ExportUnreadable as error:
            assert str(error)
        assert (await store.verify_chain({})).faults == []
        for conversation in await store.archived_conversations():
            page = await store.archived_messages(
                conversation.timelines, ArchiveFilter(deleted=True), after=None, limit=1000
            )
            assert all(message.message.message_id for message in page.messages)
        await store.close()
        assert _files_beside(sample, tmp_path) == outside


def _files_beside(sample: Path, folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if sample not in (path, *path.parents)}


def _damage_all(path: Path, damage: Callable[[bytes], bytes]) -> None:
    if path.is_dir():
        for file in sorted(path.rglob("*")):
            if file.is_file():
                file.write_bytes(damage(file.read_bytes()))
    elif is_zip(path):
        with zipfile.ZipFile(path) as before:
            contents = {name: before.read(name) for name in before.namelist()}
        with zipfile.ZipFile(path, "w") as after:
            for name, content in contents.items():
                after.writestr(name, damage(content))
                after.writestr(f"../../outside/{name}", content)
                after.writestr(f"/outside/{name}", content)
    else:
        path.write_bytes(damage(path.read_bytes()))


def _survives(form: ExportFormat, path: Path, options: ReadOptions) -> None:
    try:
        reader = form.reader(path, options)
    except ExportUnreadable:
        return
    try:
        for unit in reader.units():
            try:
                for _ in reader.read(unit):
                    pass
            except ExportUnreadable as error:
                assert str(error)
    finally:
        reader.close()
