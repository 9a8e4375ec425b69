"""Files, kept by their content: a stream of bytes in, an id made of their hash out."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Container
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class BlobRef:
    """One kept file. `media_type` is what its bytes are proof of (`sniffed_type`): the same bytes
    have the same ref, whatever anybody says of them."""

    file_id: str
    size: int
    media_type: str


@dataclass(frozen=True)
class BlobTotal:
    """How many files are kept, and their bytes."""

    files: int
    size: int


class Blobs(Protocol):
    """Content-addressed: the same bytes are kept once. What `put` gave back is durable."""

    async def put(self, chunks: AsyncIterable[bytes], *, limit: int) -> BlobRef:
        """Keep a stream of at most `limit` bytes. Raises FileTooLarge as soon as there are more,
        StoreFull, or what the stream raises; then nothing of it is kept."""
        ...

    def open(
        self, file_id: str, *, start: int = 0, end: int | None = None
    ) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """The bytes from `start` to before `end`, in pieces, while the block lasts.

        Entering raises FileMissing. Of a whole file the last piece is given only when all bytes
        are those that were kept; else FileDamaged: nobody ever takes a damaged file for a whole
        one. A part of a file is given unchecked.
        """
        ...

    async def stat(self, file_id: str) -> BlobRef | None:
        """None: nothing is kept under this id, or it is none of ours."""
        ...

    async def remove(self, file_id: str) -> bool:
        """False: there was nothing."""
        ...

    async def sweep(self, used: Container[str], before: float) -> int:
        """Remove all that were last put `before` this time (seconds since 1970) and are not in
        `used`; how many."""
        ...

    async def total(self) -> BlobTotal: ...

    async def close(self) -> None: ...
