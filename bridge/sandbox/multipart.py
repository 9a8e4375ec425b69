"""multipart/form-data bodies -> fields and kept files, piece by piece as they come in."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from urllib.parse import unquote

from bridge.sandbox.files import FileStore, StoredFile, TooMuch, Writing

_LONGEST_HEAD = 16 * 1024
_MOST_PARTS = 100
_BOUNDARY = re.compile(r'boundary=(?:"([^"]+)"|([^;\s]+))', re.IGNORECASE)
_PARAMETER = re.compile(r';\s*([\w*]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]*))')


class BadMultipart(Exception):
    """The body is not what its content type says."""


@dataclass(frozen=True, slots=True)
class Part:
    """One part: a `value`, or a `file` under its `filename`."""

    name: str
    filename: str | None
    content_type: str
    value: bytes
    file: StoredFile | None = None


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much is taken: bytes of each file, of all values together, of the whole body."""

    file: int
    values: int
    body: int


def boundary_of(content_type: str) -> bytes:
    match = _BOUNDARY.search(content_type)
    if match is None:
        raise BadMultipart("The content type names no boundary")
    return (match[1] or match[2]).encode()


async def read_multipart(
    content_type: str, chunks: AsyncIterator[bytes], files: FileStore, bounds: Bounds
) -> list[Part]:
    """All parts in their order. Raises `TooMuch` or `BadMultipart`, and then keeps nothing."""
    reader = _Reader(boundary_of(content_type), files, bounds)
    try:
        async for chunk in chunks:
            reader.feed(chunk)
        return reader.done()
    except BaseException:
        reader.abandon()
        raise


class _Reader:
    """Takes the body in pieces of any size."""

    def __init__(self, boundary: bytes, files: FileStore, bounds: Bounds) -> None:
        self._line = b"\r\n--" + boundary
        self._files = files
        self._bounds = bounds
        self._buffer = bytearray(b"\r\n")  # so that the first boundary looks like all others
        self._parts: list[Part] = []
        self._head: tuple[str, str | None, str] | None = None
        self._value = bytearray()
        self._writing: Writing | None = None
        self._taken = self._values = 0
        self._state = "before"  # before -> head -> body -> head ... -> end

    def feed(self, chunk: bytes) -> None:
        self._taken += len(chunk)
        if self._taken > self._bounds.body:
            raise TooMuch(f"A request of more than {self._bounds.body} bytes")
        self._buffer += chunk
        while self._step():
            pass

    def done(self) -> list[Part]:
        if self._state != "end":
            raise BadMultipart("The body ends before its last boundary")
        return self._parts

    def abandon(self) -> None:
        if self._writing is not None:
            self._writing.abandon()
        for part in self._parts:
            if part.file is not None:
                self._files.forget(part.file)

    def _step(self) -> bool:
        """Do what the buffer allows; whether more may follow at once."""
        match self._state:
            case "head":
                return self._read_head()
            case "end":
                self._buffer.clear()
                return False
            case _:
                return self._read_to_boundary()

    def _read_to_boundary(self) -> bool:
        at = self._buffer.find(self._line)
        if at < 0:
            self._take(len(self._buffer) - len(self._line))
            return False
        after = at + len(self._line)
        if len(self._buffer) < after + 2:
            self._take(at)
            return False
        self._take(at)
        self._end_part()
        next_bytes = bytes(self._buffer[len(self._line) : len(self._line) + 2])
        del self._buffer[: len(self._line)]
        if next_bytes == b"--":
            self._state = "end"
        elif next_bytes == b"\r\n":
            self._state = "head"
        else:
            raise BadMultipart("A boundary is followed by something else than a line end")
        return True

    def _read_head(self) -> bool:
        at = self._buffer.find(b"\r\n\r\n")
        if at < 0:
            if len(self._buffer) > _LONGEST_HEAD:
                raise BadMultipart("The head of a part is too long")
            return False
        if len(self._parts) >= _MOST_PARTS:
            raise BadMultipart("Too many parts")
        self._head = _read_head(bytes(self._buffer[2:at]).decode("utf-8", "replace"))
        del self._buffer[: at + 4]
        if self._head[1] is not None:
            self._writing = self._files.begin(self._bounds.file)
        self._value.clear()
        self._state = "body"
        return True

    def _take(self, count: int) -> None:
        """Move so many bytes of the buffer into the part that is being read."""
        if count <= 0:
            return
        data = bytes(self._buffer[:count])
        del self._buffer[:count]
        if self._state != "body":
            return
        if self._writing is not None:
            self._writing.write(data)
            return
        self._values += len(data)
        if self._values > self._bounds.values:
            raise TooMuch(f"Fields of more than {self._bounds.values} bytes")
        self._value += data

    def _end_part(self) -> None:
        if self._head is None:
            return
        name, filename, content_type = self._head
        file = self._writing.done() if self._writing is not None else None
        self._parts.append(Part(name, filename, content_type, bytes(self._value), file))
        self._head = self._writing = None


def _read_head(text: str) -> tuple[str, str | None, str]:
    """A part's header lines -> its name, its file's name, its content type."""
    lines = (line.partition(":") for line in text.split("\r\n"))
    headers = {name.strip().lower(): value.strip() for name, _, value in lines}
    parameters = {
        key.lower(): re.sub(r"\\(.)", r"\1", quoted) if quoted else bare
        for key, quoted, bare in _PARAMETER.findall(headers.get("content-disposition", ""))
    }
    filename = parameters.get("filename")
    if extended := parameters.get("filename*"):
        filename = unquote(extended.rpartition("'")[2])
    elif filename is not None:
        filename = filename.replace("%22", '"').replace("%0D", "\r").replace("%0A", "\n")
    return parameters.get("name", ""), filename, headers.get("content-type", "")
