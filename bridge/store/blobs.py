"""Files on disk by their content: written to a partial file, synced, then renamed into place.

`bridge.blobs/parts/` holds the partial files, `bridge.blobs/ab/ab34...` the stored ones.
"""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Callable,
    Container,
    Iterator,
)
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path
from stat import S_ISREG
from threading import Lock
from typing import BinaryIO, TypeVar, TypeVarTuple
from uuid import uuid4

from bridge.content.media.types import HEAD, sniffed_type
from bridge.errors import FileDamaged, FileMissing
from bridge.model.blob_ids import file_id_of, sha256_of
from bridge.ports.blobs import BlobRef, BlobTotal
from bridge.ports.clock import Clock
from bridge.store.encrypted_files import Encryptor, is_encrypted, plain
from bridge.store.part_files import PARTS, RESERVE, PartFile, blocks_of, disk_errors
from bridge.store.place import make_folder, sync_folder

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

_PIECE = 256 * 1024  # bytes that are read at once
_THREADS = 4


async def open_blobs(
    folder: Path, *, clock: Clock, reserve: int = RESERVE, key: bytes | None = None
) -> DiskBlobs:
    """Open the files' folder for this process alone (it holds the store's lock); made when it is
    not there. Half files of a process that died are removed. With a key, new files are
    encrypted."""
    await asyncio.to_thread(_prepare, folder)
    return DiskBlobs(folder, clock, reserve, key)


class DiskBlobs:
    """Made by `open_blobs`. The disk is touched in threads of its own; of a file there are never
    more than a few blocks in memory."""

    def __init__(self, folder: Path, clock: Clock, reserve: int, key: bytes | None = None) -> None:
        self.folder = folder
        self._key = key
        self._clock = clock
        self._reserve = reserve
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="blobs")
        self._moving = Lock()  # a file is put in its place, or taken away if it is old

    async def put(self, chunks: AsyncIterable[bytes], *, limit: int) -> BlobRef:
        part = PartFile(self.folder / PARTS / uuid4().hex, self._reserve, self._key)
        try:
            async for block in blocks_of(chunks, limit):
                await self._run(part.write, block)
            return await self._run(self._keep, part)
        finally:
            await self._run(part.discard)

    @asynccontextmanager
    async def open(
        self, file_id: str, *, start: int = 0, end: int | None = None
    ) -> AsyncGenerator[AsyncIterator[bytes]]:
        file = await self._run(_open, self._place(file_id), file_id, self._key)
        try:
            if start == 0 and end is None:
                yield self._whole(file, file_id)
            else:
                yield self._range(file, start, end)
        finally:
            await self._run(file.close)  # waits for a read that was cancelled

    async def stat(self, file_id: str) -> BlobRef | None:
        if sha256_of(file_id) is None:
            return None
        return await self._run(_stat, self._place(file_id), file_id, self._key)

    async def remove(self, file_id: str, *, before: float | None = None) -> bool:
        if sha256_of(file_id) is None:
            return False
        if before is None:
            return await self._run(_unlink, self._place(file_id))
        return await self._run(self._remove_old, self._place(file_id), before)

    async def sweep(self, used: Container[str], before: float) -> int:
        return await self._run(self._sweep, used, before)

    async def total(self) -> BlobTotal:
        return await self._run(self._total)

    async def file_ids(self) -> AsyncGenerator[str]:
        for place in await self._run(lambda: sorted(self._places())):
            yield file_id_of(place.name)

    async def close(self) -> None:
        await asyncio.to_thread(self._threads.shutdown)

    # --- in the threads -----------------------------------------------------------------------

    async def _run(self, work: Callable[[*Ts], T], *args: *Ts) -> T:
        def translated() -> T:
            with disk_errors(self.folder):
                return work(*args)

        return await asyncio.get_running_loop().run_in_executor(self._threads, translated)

    def _place(self, file_id: str) -> Path:
        """The path of a file, whether or not it exists. Raises FileMissing for an invalid id, so
        that no such text becomes a path."""
        digest = sha256_of(file_id)
        if digest is None:
            raise FileMissing(f"{file_id[:40]!r} is no id of a kept file")
        return self.folder / digest[:2] / digest

    def _keep(self, part: PartFile) -> BlobRef:
        """A file that is there already is replaced by itself: damage is mended, it counts as new.
        Readers of the old one read on."""
        ref = part.finish()
        part.sync(self._clock.time())
        place = self._place(ref.file_id)
        with self._moving:
            if not place.parent.exists():
                place.parent.mkdir(mode=0o700, exist_ok=True)
                sync_folder(self.folder)
            part.move(place)
            sync_folder(place.parent)
        return ref

    def _sweep(self, used: Container[str], before: float) -> int:
        return sum(
            self._remove_old(place, before)
            for place in self._places()
            if file_id_of(place.name) not in used
        )

    def _remove_old(self, place: Path, before: float) -> bool:
        with self._moving:
            return _is_older(place, before) and _unlink(place)

    def _total(self) -> BlobTotal:
        sizes = [size for place in self._places() if (size := _size(place)) is not None]
        return BlobTotal(len(sizes), sum(sizes))

    def _places(self) -> Iterator[Path]:
        return _places_in(self.folder)

    # --- reading ------------------------------------------------------------------------------

    async def _whole(self, file: BinaryIO, file_id: str) -> AsyncGenerator[bytes]:
        """One piece behind, so that the last one can be held back."""
        digest = sha256()

        def read() -> bytes:
            piece = file.read(_PIECE)
            digest.update(piece)
            return piece

        held = b""
        while piece := await self._run(read):
            if held:
                yield held
            held = piece
        if digest.hexdigest() != sha256_of(file_id):
            raise FileDamaged(
                f"The file {file_id!r} is damaged: the bytes in {str(self._place(file_id))!r} are "
                "not those that were kept; restore it from a backup, or remove it"
            )
        if held:
            yield held

    async def _range(self, file: BinaryIO, start: int, end: int | None) -> AsyncGenerator[bytes]:
        await self._run(file.seek, start)
        left = None if end is None else end - start
        while left is None or left > 0:
            piece = await self._run(file.read, _PIECE if left is None else min(_PIECE, left))
            if not piece:
                return
            left = None if left is None else left - len(piece)
            yield piece


def _places_in(folder: Path) -> Iterator[Path]:
    for shard in folder.iterdir() if folder.is_dir() else ():
        if shard.name != PARTS and shard.is_dir():
            yield from (place for place in shard.iterdir() if sha256_of(file_id_of(place.name)))


# --- the disk -------------------------------------------------------------------------------------


def open_stored(folder: Path, key: bytes | None, file_id: str) -> BinaryIO | None:
    """Return a stored file of a folder of blobs, open for reading; None when it is not there. `key`
    is that of the files of an encrypted store."""
    digest = sha256_of(file_id)
    if digest is None:
        return None
    try:
        return plain((folder / digest[:2] / digest).open("rb"), key, file_id)
    except FileNotFoundError:
        return None


def stored_files(folder: Path) -> Iterator[tuple[str, int]]:
    """The id of each stored file of a folder, with its bytes on the disk."""
    for place in _places_in(folder) if folder.is_dir() else ():
        if (size := _size(place)) is not None:
            yield file_id_of(place.name), size


def _prepare(folder: Path) -> None:
    with disk_errors(folder):
        make_folder(folder)
        shutil.rmtree(folder / PARTS, ignore_errors=True)
        (folder / PARTS).mkdir(mode=0o700, exist_ok=True)
        sync_folder(folder)


def _open(place: Path, file_id: str, key: bytes | None) -> BinaryIO:
    """Raises FileMissing for a link or a folder, too: we made none."""
    try:
        file = os.open(place, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            raise FileMissing(f"No file {file_id!r} is kept") from None
        raise
    if not S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise FileMissing(f"No file {file_id!r} is kept")
    return plain(os.fdopen(file, "rb", _PIECE), key, file_id)


def _stat(place: Path, file_id: str, key: bytes | None) -> BlobRef | None:
    try:
        with _open(place, file_id, key) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(0)
            return BlobRef(file_id, size, sniffed_type(file.read(HEAD)))
    except FileMissing:
        return None


def recrypt(folder: Path, key: bytes, *, encrypt: bool) -> int:
    """Encrypt the stored files of a folder that nobody uses, or decrypt them, one by one; those
    that are it already stay. Returns how many were changed. Raises FileDamaged, StoreError."""
    changed = 0
    for place in _places_in(folder):
        with place.open("rb") as file:
            if is_encrypted(file) == encrypt:
                continue
            status, part = os.fstat(file.fileno()), folder / PARTS / uuid4().hex
            part.parent.mkdir(mode=0o700, exist_ok=True)
            with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
                _recrypt(plain(file, key, place.name), out, Encryptor(key) if encrypt else None)
                os.utime(out.fileno(), (status.st_atime, status.st_mtime))
                os.fsync(out.fileno())
            part.replace(place)
        changed += 1
    return changed


def _recrypt(file: BinaryIO, out: BinaryIO, encryptor: Encryptor | None) -> None:
    out.write(b"" if encryptor is None else encryptor.head)
    while piece := file.read(_PIECE):
        out.write(piece if encryptor is None else encryptor.update(piece))
    out.write(b"" if encryptor is None else encryptor.finish())
    out.flush()


def _size(place: Path) -> int | None:
    try:
        return place.lstat().st_size
    except FileNotFoundError:
        return None


def _is_older(place: Path, before: float) -> bool:
    try:
        return place.lstat().st_mtime < before
    except FileNotFoundError:
        return False


def _unlink(place: Path) -> bool:
    try:
        place.unlink()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True
