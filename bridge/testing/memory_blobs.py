"""A blob store in memory for tests; it passes the contract suite of blob stores."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Container
from contextlib import asynccontextmanager
from dataclasses import dataclass
from hashlib import sha256

from bridge.content.media.types import sniffed_type
from bridge.errors import FileDamaged, FileMissing, FileTooLarge
from bridge.model.blob_ids import file_id_of, sha256_of
from bridge.ports.blobs import BlobRef, BlobTotal
from bridge.ports.clock import Clock

_PIECE = 64 * 1024


@dataclass
class _StoredFile:
    content: bytes
    put_at: float


class MemoryBlobs:
    """Implements `bridge.ports.blobs.Blobs` with a dict."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._kept: dict[str, _StoredFile] = {}

    async def put(self, chunks: AsyncIterable[bytes], *, limit: int) -> BlobRef:
        """Store a stream of at most `limit` bytes.

        Raises:
            FileTooLarge: the stream has more bytes.
        """
        gathered = bytearray()
        async for chunk in chunks:
            gathered += chunk
            if len(gathered) > limit:
                raise FileTooLarge(f"A file has more than {limit} bytes, and was not kept")
        content = bytes(gathered)
        file_id = file_id_of(sha256(content).hexdigest())
        self._kept[file_id] = _StoredFile(content, self._clock.time())
        return _ref(file_id, content)

    @asynccontextmanager
    async def open(
        self, file_id: str, *, start: int = 0, end: int | None = None
    ) -> AsyncGenerator[AsyncIterator[bytes]]:
        """Read the bytes from `start` to before `end`, within a `with` block.

        Raises:
            FileMissing: on entering; nothing is stored under this id.
            FileDamaged: while reading; the bytes do not match the hash.
        """
        blob = self._kept.get(file_id)
        if blob is None:
            raise FileMissing(f"No file {file_id[:40]!r} is kept")
        yield _pieces(file_id, blob.content, start, end)

    async def stat(self, file_id: str) -> BlobRef | None:
        """Return the ref of a stored file; None when nothing is stored under this id."""
        blob = self._kept.get(file_id)
        return None if blob is None else _ref(file_id, blob.content)

    async def remove(self, file_id: str, *, before: float | None = None) -> bool:
        """Delete a file, with `before` only if it was last put before this time. Returns False when
        it deleted none."""
        blob = self._kept.get(file_id)
        if blob is None or (before is not None and blob.put_at >= before):
            return False
        del self._kept[file_id]
        return True

    async def sweep(self, used: Container[str], before: float) -> int:
        """Delete the files that are not in `used` and were last put before `before`."""
        old = [
            name for name, blob in self._kept.items() if blob.put_at < before and name not in used
        ]
        for file_id in old:
            del self._kept[file_id]
        return len(old)

    async def total(self) -> BlobTotal:
        """Return the number of stored files and the sum of their bytes."""
        return BlobTotal(len(self._kept), sum(len(blob.content) for blob in self._kept.values()))

    async def file_ids(self) -> AsyncGenerator[str]:
        """Yield the ids of all stored files, in the order of their hashes."""
        for file_id in sorted(self._kept):
            yield file_id

    async def close(self) -> None:
        """Do nothing: there is nothing to release."""
        return

    def damage(self, file_id: str) -> None:
        """Flip one bit of the last byte, as a failing disk does."""
        blob = self._kept[file_id]
        blob.content = blob.content[:-1] + bytes([blob.content[-1] ^ 1])


async def _pieces(
    file_id: str, content: bytes, start: int, end: int | None
) -> AsyncGenerator[bytes]:
    part = content[start:end]
    whole = start == 0 and end is None
    damaged = whole and sha256(content).hexdigest() != sha256_of(file_id)
    for at in range(0, len(part), _PIECE):
        if damaged and at + _PIECE >= len(part):
            break
        yield part[at : at + _PIECE]
    if damaged:
        raise FileDamaged(f"The file {file_id!r} is damaged")


def _ref(file_id: str, content: bytes) -> BlobRef:
    return BlobRef(file_id, len(content), sniffed_type(content))
