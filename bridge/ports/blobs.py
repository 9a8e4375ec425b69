"""Port: files stored by their content. A stream of bytes in, an id made of their hash out."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Container
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class BlobRef:
    """One stored file.

    `media_type` is what the bytes prove (`sniffed_type`): the same bytes have the same ref,
    whatever type anybody declares.
    """

    file_id: str
    size: int
    media_type: str


@dataclass(frozen=True)
class BlobTotal:
    """The number of stored files and the sum of their bytes."""

    files: int
    size: int


class Blobs(Protocol):
    """Content-addressed storage: equal bytes are stored once. What `put` has returned is
    durable."""

    async def put(self, chunks: AsyncIterable[bytes], *, limit: int) -> BlobRef:
        """Store a stream of at most `limit` bytes.

        When it raises, nothing of the stream is stored; exceptions of the stream pass through.

        Raises:
            FileTooLarge: the stream has more bytes; raised as soon as that is known.
            StoreFull: the disk is full.
            StoreError: the storage failed.
        """
        ...

    def open(
        self, file_id: str, *, start: int = 0, end: int | None = None
    ) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """Read the bytes from `start` to before `end` in pieces, within a `with` block.

        The last piece of a whole file is only returned when all bytes match the hash, so that
        nobody takes a damaged file for a whole one. A part of a file is not verified.

        Raises:
            FileMissing: on entering; nothing is stored under this id.
            FileDamaged: while reading; the bytes do not match the hash.
        """
        ...

    async def stat(self, file_id: str) -> BlobRef | None:
        """Return the ref of a stored file; None when nothing is stored under this id."""
        ...

    async def remove(self, file_id: str, *, before: float | None = None) -> bool:
        """Delete a file, with `before` only if it was last put before this time (seconds since
        1970). Returns False when it deleted none."""
        ...

    async def sweep(self, used: Container[str], before: float) -> int:
        """Delete unused files.

        Args:
            used: ids of the files to keep.
            before: delete only files that were last put before this time (seconds since 1970).

        Returns:
            The number of deleted files.
        """
        ...

    async def total(self) -> BlobTotal:
        """Return the number of stored files and the sum of their bytes."""
        ...

    def file_ids(self) -> AsyncIterator[str]:
        """Yield the ids of all stored files, in the order of their hashes; one that comes or goes
        meanwhile may be left out."""
        ...

    async def close(self) -> None:
        """Finish pending work and release the storage."""
        ...
