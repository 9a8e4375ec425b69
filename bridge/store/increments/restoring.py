"""Puts a backup of a folder together again, each block compared with its digest."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from bridge.errors import StoreError
from bridge.store import maintenance, schema
from bridge.store.encrypted_files import is_encrypted
from bridge.store.faults import translated
from bridge.store.increments.manifest import (
    BLOCK,
    FILES,
    Manifest,
    Stream,
    manifests_in,
    pack_of,
)
from bridge.store.place import make_folder, sync_folder
from bridge.store.vault import data_key_of, vault_of, write_vault


def restore_from(
    folder: Path, path: Path, at: float | None = None
) -> tuple[Manifest, Path | None, int]:
    """Replace a store that nobody uses by the newest backup, or by the newest until `at` (seconds
    since 1970), and put back the files of it that are missing.

    Returns the backup, where the replaced store is now, and how many files were put back. Raises
    StoreError: the store is in use, there is no such backup, or it is damaged; then nothing has
    changed.
    """
    with translated(folder):
        manifest = chosen(manifests_in(folder), folder, at)
    with translated(path):
        make_folder(path.parent)
        with schema.part_of(path) as part:
            _assemble(folder, manifest, part)
            try:
                before = maintenance.restore(part, path)
            finally:
                vault_of(part).unlink(missing_ok=True)
        return manifest, before, _put_back(folder / FILES, manifest, path.with_suffix(".blobs"))


def chosen(manifests: Sequence[Manifest], folder: Path, at: float | None) -> Manifest:
    """The newest backup until that time. Raises StoreError when there is none."""
    fitting = [manifest for manifest in manifests if at is None or manifest.time <= at]
    if not fitting:
        which = "no backup" if not manifests else "no backup that is so old"
        raise StoreError(f"The folder {str(folder)!r} has {which}: uacs-bridge db backups FOLDER")
    return fitting[-1]


def verify(folder: Path, manifest: Manifest) -> list[str]:
    """Read a backup, and compare each block and each file with its digest. Returns what is wrong.
    Of encrypted files only the beginning is compared."""
    wrong: list[str] = []
    with translated(folder):
        for stream in (manifest.database, manifest.log):
            try:
                for _ in _blocks(folder, stream):
                    pass
            except StoreError as error:
                wrong.append(str(error))
        for digest in manifest.files:
            place = folder / FILES / digest[:2] / digest
            if not place.exists():
                wrong.append(f"The file {str(place)!r} is missing")
            elif not _is_whole(place, digest):
                wrong.append(f"The bytes of the file {str(place)!r} are not those that were kept")
    return wrong


def _is_whole(place: Path, digest: str) -> bool:
    with place.open("rb") as file:
        if is_encrypted(file):
            return True
        own = sha256()
        while piece := file.read(1024 * 1024):
            own.update(piece)
    return own.hexdigest() == digest


def _assemble(folder: Path, manifest: Manifest, part: Path) -> None:
    """Write the database, and let SQLite put the log into it."""
    log = part.with_name(f"{part.name}-wal")
    try:
        _write(folder, manifest.database, part)
        if manifest.vault:
            write_vault(vault_of(part), bytes.fromhex(manifest.vault))
        if manifest.log.size:
            _write(folder, manifest.log, log)
        with closing(schema.connect_with(part, "rw", data_key_of(part))) as db:
            db.execute("PRAGMA journal_mode = DELETE").fetchone()
    finally:
        for suffix in ("-wal", "-shm"):
            part.with_name(part.name + suffix).unlink(missing_ok=True)


def _write(folder: Path, stream: Stream, target: Path) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    with os.fdopen(os.open(target, flags, 0o600), "wb") as file:
        for block in _blocks(folder, stream):
            file.write(block)
        file.flush()
        os.fsync(file.fileno())


def _blocks(folder: Path, stream: Stream) -> Iterator[bytes]:
    """The blocks of a stream. Raises StoreError for one that is not what was written."""
    whole, left = sha256(), stream.size
    with ExitStack() as ends:
        packs: dict[int, BinaryIO] = {}
        for digest, number, at in zip(stream.digests, stream.packs, stream.places, strict=True):
            path = pack_of(folder, number)
            if number not in packs:
                try:
                    packs[number] = ends.enter_context(path.open("rb"))
                except FileNotFoundError:
                    raise _damaged(path, "it is missing") from None
            packs[number].seek(at)
            block = packs[number].read(min(BLOCK, left))
            left -= len(block)
            if sha256(block).hexdigest() != digest:
                raise _damaged(path, f"its block at {at:,} is not what was written")
            whole.update(block)
            yield block
    if whole.hexdigest() != stream.sha256:
        raise StoreError(f"A backup in {str(folder)!r} is not whole; choose another with --at")


def _damaged(path: Path, what: str) -> StoreError:
    return StoreError(
        f"The backup {str(path)!r} is damaged ({what}): put a copy of it there; a backup that does "
        "not need it can be chosen with --at"
    )


def _put_back(source: Path, manifest: Manifest, target: Path) -> int:
    """Copy the files that are missing. Returns how many."""
    copied = 0
    for digest in manifest.files:
        place, kept = target / digest[:2] / digest, source / digest[:2] / digest
        if place.exists() or not kept.exists():
            continue
        make_folder(place.parent)
        part = place.with_name(f"{place.name}.part")
        with suppress(FileNotFoundError):
            part.unlink()
        shutil.copyfile(kept, part)
        part.chmod(0o600)
        part.replace(place)
        copied += 1
    if target.is_dir():
        sync_folder(target)
    return copied
