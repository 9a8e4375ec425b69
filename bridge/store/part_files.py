"""Files that are being written to a disk, under names of their own until they are whole."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import AsyncGenerator, AsyncIterable, Generator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from threading import Lock

from bridge.content.media.types import HEAD, sniffed_type
from bridge.errors import FileTooLarge, StoreError, StoreFull
from bridge.model.blob_ids import file_id_of
from bridge.ports.blobs import BlobRef
from bridge.store.encrypted_files import Encryptor

RESERVE = 64 * 1024 * 1024  # bytes of the disk that files never take: messages need them more
PARTS = "parts"  # the folder of unfinished files, in that of the stored ones
_BLOCK = 1024 * 1024  # bytes that are written at once: a hop to a thread costs 100 us
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class PartFile:
    """A file that is being written. Its methods run in threads, of which one may still be at it
    when its caller is cancelled: hence the lock."""

    def __init__(self, path: Path, reserve: int, key: bytes | None) -> None:
        self.path = path
        self._encryptor = None if key is None else Encryptor(key)
        self._reserve = reserve
        self._lock = Lock()
        self._file: int | None = None
        self._over = False
        self._digest = sha256()
        self._size = 0
        self._head = b""

    def write(self, block: Sequence[bytes]) -> None:
        """Append the chunks of a block."""
        with self._lock:
            if self._over:
                return
            file = self._opened()
            length = sum(map(len, block))
            _check_room(file, self.path, length + self._reserve)
            for chunk in block:
                self._head += chunk[: HEAD - len(self._head)]
                self._digest.update(chunk)
                _write(file, chunk if self._encryptor is None else self._encryptor.update(chunk))
            self._size += length

    def finish(self) -> BlobRef:
        """Write what was held back; returns the ref of the whole file."""
        with self._lock:
            file = self._opened()
            if self._encryptor is not None:
                _write(file, self._encryptor.finish())
            file_id = file_id_of(self._digest.hexdigest())
            return BlobRef(file_id, self._size, sniffed_type(self._head))

    def sync(self, now: float) -> None:
        """Wait until all of it is on the disk, under the name of a half file."""
        with self._lock:
            file = self._opened()
            os.utime(file, (now, now))
            os.fsync(file)

    def move(self, place: Path) -> None:
        """Give the whole file its final name."""
        with self._lock:
            self.path.replace(place)

    def discard(self) -> None:
        """Remove whatever is left of it. Never fails: the next start removes what could not be."""
        with self._lock, contextlib.suppress(OSError):
            self._over = True
            if self._file is not None:
                os.close(self._file)
                self._file = None
                self.path.unlink(missing_ok=True)

    def _opened(self) -> int:
        if self._file is None:
            self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            if self._encryptor is not None:
                _write(self._file, self._encryptor.head)
        return self._file


async def blocks_of(chunks: AsyncIterable[bytes], limit: int) -> AsyncGenerator[Sequence[bytes]]:
    """Yield the same chunks, about a block of them together.

    Raises:
        FileTooLarge: there are more than `limit` bytes.
    """
    block: list[bytes] = []
    gathered = total = 0
    async for chunk in chunks:
        total += len(chunk)
        if total > limit:
            raise FileTooLarge(f"A file has more than {limit} bytes, and was not kept")
        block.append(chunk)
        gathered += len(chunk)
        if gathered >= _BLOCK:
            yield block
            block, gathered = [], 0
    if block:
        yield block


@contextmanager
def disk_errors(folder: Path) -> Generator[None]:
    """Turn errors of the disk into StoreError and StoreFull."""
    try:
        yield
    except OSError as error:
        if error.errno in _NO_ROOM:
            raise StoreFull(
                f"No room left for files in {str(folder)!r}; make room on its disk: the bridge "
                "goes on by itself"
            ) from error
        raise StoreError(
            f"The files in {str(folder)!r} failed: {error.strerror or type(error).__name__}"
        ) from error


def _check_room(file: int, path: Path, needed: int) -> None:
    disk = os.fstatvfs(file)
    if disk.f_bavail * disk.f_frsize < needed:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))


def _write(file: int, chunk: bytes) -> None:
    view = memoryview(chunk)
    while view:
        view = view[os.write(file, view) :]
