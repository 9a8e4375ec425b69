"""Files and stores of imports, exports and conversions: opens them, runs the work, closes them."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Callable, Collection, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from bridge.app.archive.formats import all_cards
from bridge.app.archive.stored_files import StoredFiles
from bridge.app.files.blob_store import open_blob_store, read_blob_store
from bridge.app.opening import open_to_read, open_to_write
from bridge.app.settings.store import StoreSettings
from bridge.archive.exporting import ExportReport, export
from bridge.archive.importing import Importer, ImportReport, Progress
from bridge.archive.redaction import RedactedExport
from bridge.content.safety.personal_data import Kind
from bridge.errors import ConfigError
from bridge.model.export_records import ArchiveFilter
from bridge.ports.exports import ExportFormat, NamesPayloads, ReadOptions, WriteOptions
from bridge.runtime.clock import SystemClock
from bridge.store.sql_store import SqlStore

_EVERYTHING = ArchiveFilter(deleted=True)


@dataclass(frozen=True)
class Archive:
    """The store, and whether its files are in a folder beside it or in a bucket."""

    store: StoreSettings


async def import_file(
    path: Path,
    form: ExportFormat,
    options: ReadOptions,
    archive: Archive,
    *,
    files: bool = True,
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> ImportReport:
    """Import an export into a store that no bridge uses.

    Raises:
        ExportUnreadable: the export cannot be opened.
        StoreError: the store cannot be opened or written.
    """
    store = await open_to_write(archive.store, SystemClock(), make_key=False)
    try:
        return await _import(path, form, options, store, archive if files else None, on_progress)
    finally:
        await store.close()


async def _import(
    path: Path,
    form: ExportFormat,
    options: ReadOptions,
    store: SqlStore,
    archive: Archive | None,
    on_progress: Callable[[Progress], None],
) -> ImportReport:
    reader = form.reader(path, options)
    blobs = None
    if archive is not None:
        blobs = await open_blob_store(archive.store.path, archive.store.blobs, clock=SystemClock())
    try:
        # Only what the options say makes the same file another import.
        import_name = f"{form.name}:{options.workspace or ''}:{options.timezone or ''}"
        return await Importer(store, blobs, form.name, import_name).run(reader, on_progress)
    finally:
        reader.close()
        if blobs is not None:
            await blobs.close()


async def export_file(
    target: Path,
    form: ExportFormat,
    archive: Archive,
    selection: ArchiveFilter,
    *,
    names: Collection[str] | None = None,
    files: bool = True,
    redact: Collection[Kind] = (),
    on_progress: Callable[[int], None] = lambda _: None,
) -> ExportReport:
    """Write an export of a store, also while a bridge uses it, and beside it a list of SHA-256
    digests that `sha256sum --check` reads.

    Raises:
        ConfigError: the format cannot be written, or the target exists.
        StoreError: the store cannot be read.
    """
    store = await open_to_read(archive.store, SystemClock())
    try:
        return await _export(target, form, store, archive if files else None, selection,
                             names, redact, on_progress)  # fmt: skip
    finally:
        await store.close()


async def _export(
    target: Path,
    form: ExportFormat,
    store: SqlStore,
    archive: Archive | None,
    selection: ArchiveFilter,
    names: Collection[str] | None,
    redact: Collection[Kind],
    on_progress: Callable[[int], None],
) -> ExportReport:
    """The target appears whole or not at all."""
    sums = target.with_name(f"{target.name}.sha256")
    for path in (target, sums):
        if path.exists():
            raise ConfigError(f"{str(path)!r} exists already: choose another name, or remove it")
    part = target.with_name(f".{target.name}.part{target.suffix}")
    _remove(part)
    with _stored_files(archive, target.parent) as files:
        report = await _write(part, form, files, store, selection, names, redact, on_progress)
        part.rename(target)
    sums.write_text("".join(f"{digest}  {name}\n" for digest, name in digests(target)))
    return report


async def _write(
    part: Path,
    form: ExportFormat,
    files: Callable[[str], BinaryIO | None],
    store: SqlStore,
    selection: ArchiveFilter,
    names: Collection[str] | None,
    redact: Collection[Kind],
    on_progress: Callable[[int], None],
) -> ExportReport:
    """What fails leaves nothing."""
    writer = form.writer(part, WriteOptions(files, all_cards()))
    if writer is None:
        raise ConfigError(f"{form.title} ({form.name}) can only be read")
    if redact:
        writer, selection = RedactedExport(writer, redact), replace(selection, payloads=frozenset())
    elif isinstance(form, NamesPayloads):
        selection = replace(selection, payloads=form.payloads)
    try:
        return await export(store, writer, selection, names=names, on_progress=on_progress)
    except BaseException:
        writer.close()
        _remove(part)
        raise


@contextmanager
def _stored_files(
    archive: Archive | None, folder: Path
) -> Generator[Callable[[str], BinaryIO | None]]:
    if archive is None:
        yield _no_file
        return
    files = StoredFiles(
        lambda: read_blob_store(archive.store.path, archive.store.blobs, clock=SystemClock()),
        folder,
    )
    try:
        yield files.open
    finally:
        files.close()


async def convert_file(
    source: Path,
    read: ExportFormat,
    options: ReadOptions,
    target: Path,
    written: ExportFormat,
    *,
    files: bool = True,
    redact: Collection[Kind] = (),
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> tuple[ImportReport, ExportReport]:
    """Convert an export into another format by a store of its own, which is removed.

    Raises:
        ExportUnreadable: the export cannot be opened.
        ConfigError: the format cannot be written, or the target exists.
    """
    with _own_archive(target.parent) as archive:
        imported = await import_file(
            source, read, options, archive, files=files, on_progress=on_progress
        )
        exported = await export_file(
            target, written, archive, _EVERYTHING, files=files, redact=redact
        )
    return imported, exported


@contextmanager
def _own_archive(folder: Path) -> Generator[Archive]:
    """Beside the target, where there is room for it."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".uacs-convert-", dir=folder) as own:
        yield Archive(StoreSettings(path=Path(own) / "archive.sqlite3"))


def digests(target: Path) -> Iterator[tuple[str, str]]:
    """Yield the SHA-256 digest and the name of each file of an export, by name; names are relative
    to the folder of the target."""
    files = [target] if target.is_file() else sorted(p for p in target.rglob("*") if p.is_file())
    for file in files:
        with file.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        yield digest, file.relative_to(target.parent).as_posix()


def _no_file(_file_id: str) -> None:
    """An export without files."""


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
