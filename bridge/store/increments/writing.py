"""Writes a backup into a folder: what changed since the last one, and files that are not there."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import closing, suppress
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from bridge.errors import StoreError
from bridge.model.blob_ids import sha256_of
from bridge.store.blobs import stored_files
from bridge.store.encrypted_files import is_encrypted
from bridge.store.faults import translated
from bridge.store.increments.manifest import (
    BLOCK,
    FILES,
    Manifest,
    Stream,
    numbers_in,
    pack_of,
    read_manifest,
    write_manifest,
)
from bridge.store.increments.pruning import prune
from bridge.store.increments.snapshot import snapshot
from bridge.store.lock import StoreLock
from bridge.store.place import make_folder, must_not_be_gone, standing, sync_folder

_PART = ".part"
_PIECE = 1024 * 1024


def back_up(path: Path, folder: Path, now: float, *, keep: int | None = None) -> Manifest:
    """Add a backup of a store, which may be in use, to a folder. Returns it.

    A backup that is killed leaves the earlier ones as they were. With `keep`, only so many of the
    newest ones stay.

    Raises:
        StoreError: there is no store, the folder is another program's or in use, or the disk is
            full.
    """
    with translated(path):
        if standing(path) != "store":
            must_not_be_gone(path)
            raise StoreError(f"There is no store {str(path)!r}; check the path")
    with translated(folder):
        _check_folder(folder)
        make_folder(folder / FILES)
        with closing(StoreLock(folder / "backups")) as lock:
            lock.opened = True
            for left in (*folder.glob(f"*{_PART}"), *(folder / FILES).glob(f"*/*{_PART}")):
                left.unlink()  # of a backup that was killed
            manifest = _write(path, folder, now)
            if keep is not None:
                prune(folder, keep)
            return manifest


def _check_folder(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise StoreError(f"{str(folder)!r} is no folder; name one for the backups")
    ours = (".manifest", ".pack", ".lock", _PART)
    strange = [
        file.name
        for file in (folder.iterdir() if folder.is_dir() else ())
        if file.name != FILES and not file.name.endswith(ours)
    ]
    if strange:
        raise StoreError(
            f"The folder {str(folder)!r} has {strange[0]!r}, which is of no backup; name a folder "
            "that is empty, or one of earlier backups"
        )


def _write(path: Path, folder: Path, now: float) -> Manifest:
    numbers = numbers_in(folder)
    number = numbers[-1] + 1 if numbers else 1
    pack = _Pack(folder, number, read_manifest(folder, number - 1) if numbers else None)
    try:
        with snapshot(path) as whole:
            database = pack.add(whole.database(BLOCK))
            log = whole.log()
        stream = pack.add(log[at : at + BLOCK] for at in range(0, len(log), BLOCK))
        files = _Files(path.with_suffix(".blobs"), folder / FILES)
        files.copy()
        pack.keep()
    finally:
        pack.close()
    manifest = Manifest(
        number, now, database, stream, files.copied, files.damaged, whole.vault.hex(),
        pack.written + files.written,
    )  # fmt: skip
    write_manifest(folder, manifest)
    return manifest


class _Pack:
    """The blocks that are new; others are found where the backup before has them."""

    def __init__(self, folder: Path, number: int, before: Manifest | None) -> None:
        self.written = 0
        self._number = number
        self._path = pack_of(folder, number)
        self._part = self._path.with_name(self._path.name + _PART)
        handle = os.open(self._part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        self._file: BinaryIO = os.fdopen(handle, "wb")
        self._known: dict[str, tuple[int, int]] = {}
        for stream in () if before is None else (before.database, before.log):
            places = zip(stream.packs, stream.places, strict=True)
            self._known.update(zip(stream.digests, places, strict=True))

    def add(self, blocks: Iterable[bytes]) -> Stream:
        """Write those blocks of a stream that are not known."""
        whole, size = sha256(), 0
        digests: list[str] = []
        places: list[tuple[int, int]] = []
        for block in blocks:
            whole.update(block)
            size += len(block)
            digest = sha256(block).hexdigest()
            place = self._known.get(digest)
            if place is None:
                place = self._known[digest] = (self._number, self.written)
                self._file.write(block)
                self.written += len(block)
            digests.append(digest)
            places.append(place)
        return Stream(
            size, whole.hexdigest(), digests, [pack for pack, _ in places], [at for _, at in places]
        )

    def keep(self) -> None:
        """Wait until all of it is on the disk, under its name."""
        self._file.flush()
        os.fsync(self._file.fileno())
        self._part.replace(self._path)
        sync_folder(self._path.parent)

    def close(self) -> None:
        """Remove what was not kept."""
        with suppress(OSError):  # what could not be written is of no use
            self._file.close()
        self._part.unlink(missing_ok=True)


class _Files:
    """The stored files, of which those are copied that are not there yet: a file never changes."""

    def __init__(self, source: Path, target: Path) -> None:
        self.copied: list[str] = []
        self.damaged: list[str] = []
        self.written = 0
        self._source = source
        self._target = target

    def copy(self) -> None:
        """Copy what is missing."""
        for file_id, size in stored_files(self._source):
            digest = sha256_of(file_id) or ""
            place = self._target / digest[:2] / digest
            if not place.exists():
                try:
                    whole = _copy(self._source / digest[:2] / digest, place, digest)
                except FileNotFoundError:  # erased just now
                    continue
                if not whole:
                    self.damaged.append(digest)
                    continue
                self.written += size
            self.copied.append(digest)


def _copy(source: Path, place: Path, digest: str) -> bool:
    """Copy a file. False if its bytes are not those that were kept; then there is no copy."""
    part = place.with_name(place.name + _PART)
    own = sha256()
    with source.open("rb") as file:
        sealed = is_encrypted(file)  # its digest is that of the plain bytes
        make_folder(place.parent)
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as out:
            while piece := file.read(_PIECE):
                own.update(piece)
                out.write(piece)
            out.flush()
            os.fsync(out.fileno())
    if not sealed and own.hexdigest() != digest:
        part.unlink()
        return False
    part.replace(place)
    sync_folder(place.parent)
    return True
