"""Bytes that were uploaded to the local platforms: in memory or temporary files, within a bound."""

from __future__ import annotations

import secrets
import weakref
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile
from typing import IO

from starlette.responses import Response, StreamingResponse

MAX_BYTES = 1 << 30  # of all files together; then the oldest are forgotten
_IN_MEMORY = 1 << 20  # of one file; larger ones go to the disk
_HEAD = 256 * 1024
_CHUNK = 64 * 1024


class TooMuch(Exception):
    """More bytes than the platform takes."""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """One uploaded file; `head` are its first bytes, enough to see what it is."""

    id: str
    size: int
    head: bytes


class Writing:
    """A file that is being uploaded; it counts from its first byte on."""

    def __init__(self, files: FileStore, max_bytes: int) -> None:
        self._files = files
        self._max_bytes = max_bytes
        self._spool: IO[bytes] = SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115  # closed by the store
        self.size = 0
        self.head = b""

    def write(self, data: bytes) -> None:
        self.size += len(data)
        if self.size > self._max_bytes:
            self.abandon()
            raise TooMuch(f"A file of more than {self._max_bytes} bytes")
        if len(self.head) < _HEAD:
            self.head += data[: _HEAD - len(self.head)]
        self._spool.write(data)

    def done(self) -> StoredFile:
        return self._files.admit(self._spool, self.size, self.head)

    def abandon(self) -> None:
        self._spool.close()


class FileStore:
    """What all local platforms keep of uploads. When there is too much, the oldest files go."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._spools: dict[str, tuple[StoredFile, IO[bytes]]] = {}
        self.bytes = 0
        weakref.finalize(self, _close_all, self._spools)

    def __len__(self) -> int:
        return len(self._spools)

    def begin(self, max_bytes: int | None = None) -> Writing:
        """Begin an upload of at most so many bytes; `write` to it, then `done` or `abandon`."""
        return Writing(
            self, self._max_bytes if max_bytes is None else min(max_bytes, self._max_bytes)
        )

    def keep(self, data: bytes) -> StoredFile:
        writing = self.begin()
        writing.write(data)
        return writing.done()

    async def take(self, chunks: AsyncIterator[bytes], max_bytes: int | None = None) -> StoredFile:
        """Keep a stream; raises `TooMuch` beyond the bound and leaves nothing behind."""
        writing = self.begin(max_bytes)
        try:
            async for chunk in chunks:
                writing.write(chunk)
        except BaseException:
            writing.abandon()
            raise
        return writing.done()

    def read(self, file: StoredFile) -> bytes | None:
        """The bytes, None when they were forgotten."""
        chunks = self.chunks(file)
        return None if chunks is None else b"".join(chunks)

    def chunks(self, file: StoredFile) -> Iterator[bytes] | None:
        stored = self._spools.get(file.id)
        return None if stored is None else _chunks(stored[1], file.size)

    def forget(self, file: StoredFile) -> None:
        stored = self._spools.pop(file.id, None)
        if stored is not None:
            self.bytes -= stored[0].size
            stored[1].close()

    def close(self) -> None:
        _close_all(self._spools)
        self.bytes = 0

    def admit(self, spool: IO[bytes], size: int, head: bytes) -> StoredFile:
        """Take a written file over; `Writing` does it."""
        while self._spools and self.bytes + size > self._max_bytes:
            self.forget(next(iter(self._spools.values()))[0])
        file = StoredFile(secrets.token_hex(16), size, head)
        self._spools[file.id] = file, spool
        self.bytes += size
        return file


def file_response(
    files: FileStore, file: StoredFile, media_type: str, headers: Mapping[str, str] | None = None
) -> Response | None:
    """The file as an answer, in pieces; None when it was forgotten."""
    chunks = files.chunks(file)
    if chunks is None:
        return None
    more = {"Content-Length": str(file.size), "X-Content-Type-Options": "nosniff"}
    return StreamingResponse(
        _one_by_one(chunks), headers={**more, **(headers or {})}, media_type=media_type
    )


async def _one_by_one(chunks: Iterator[bytes]) -> AsyncGenerator[bytes]:
    for chunk in chunks:
        yield chunk


def _chunks(spool: IO[bytes], size: int) -> Iterator[bytes]:
    """Each reader keeps its own place: several may read at once."""
    place = 0
    while place < size:
        spool.seek(place)
        chunk = spool.read(_CHUNK)
        if not chunk:
            return
        place += len(chunk)
        yield chunk


def _close_all(files: dict[str, tuple[StoredFile, IO[bytes]]]) -> None:
    for _file, spool in files.values():
        spool.close()
    files.clear()
