"""Documents of DiscordChatExporter, read as a stream: a document may have GBs of messages."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO, cast

import orjson
from pydantic import JsonValue

from bridge.errors import ExportUnreadable

Json = dict[str, JsonValue]

ASSETS = "_Files"  # the end of the name of a folder with pictures and files
_CHUNK = 1 << 20
_LONGEST = 64 << 20  # bytes of one message, or of another value
_HEAD = 64 << 10  # bytes in which a document's first keys are
_HEADER = ("guild", "channel")
_MARK = b"\xef\xbb\xbf"  # UTF-8 with a byte order mark
_PART = re.compile(r" \[part ([0-9]{1,9})\]$")
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}\[\]"]', re.DOTALL)
_SPACE = re.compile(rb"[\s,:]*+")
_SCALAR = re.compile(rb"[^\s,:{}\[\]\"]*+")


def documents_in(folder: Path) -> Iterator[Path]:
    """Yield the JSON files of a folder tree in order, without the folders of assets.

    Links are not followed, so that nothing outside of the folder is read.
    """
    for where, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.endswith(ASSETS))
        for name in sorted(names, key=_in_order):
            path = Path(where, name)
            if name.lower().endswith(".json") and not path.is_symlink():
                yield path


def _in_order(name: str) -> tuple[str, int]:
    """Return a key that sorts the parts of a channel by their numbers."""
    stem = name.removesuffix(".json")
    part = _PART.search(stem)
    return (stem[: part.start()], int(part[1])) if part else (stem, 1)


def is_document(path: Path) -> bool:
    """Return whether the file begins as a document does."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD).removeprefix(_MARK).lstrip()
    except OSError:
        return False
    keys = (b'"guild"', b'"channel"', b'"messages"')
    return head.startswith(b"{") and all(key in head for key in keys)


def fingerprint_of(path: Path) -> str:
    """Return the size, and a hash of the first and the last bytes: of the header, the time of the
    export, the last messages and their count."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
        digest = blake2b(file.read(_HEAD), digest_size=12)
        file.seek(max(0, size - _HEAD))
        digest.update(file.read(_HEAD))
    return f"{size}:{digest.hexdigest()}"


def header_of(path: Path) -> Json:
    """Return the values of a document that are not its messages, as far as the file has `guild`
    and `channel`.

    Raises:
        ExportUnreadable: the file is no document, or it ends before its channel.
    """
    header: Json = {}
    with path.open("rb") as file:
        stream = _Stream(file, path.name)
        for key in stream.each_key():
            if key != "messages":
                header[key] = stream.read(key)
            elif all(name in header for name in _HEADER):
                break
            else:
                for _ in stream.items():
                    pass
    for name in _HEADER:
        if not isinstance(header.get(name), dict):
            raise ExportUnreadable(f"{path.name}: the document has no object {name!r}")
    return header


def messages_of(path: Path) -> Iterator[bytes]:
    """Yield the JSON of each message.

    Raises:
        ExportUnreadable: the file ends within its messages, or is no JSON.
    """
    with path.open("rb") as file:
        stream = _Stream(file, path.name)
        for key in stream.each_key():
            if key == "messages":
                yield from stream.items()
                return
            stream.value()
    raise ExportUnreadable(f"{path.name}: the document has no messages")


class _Stream:
    """One JSON object, of which only the value at hand is in memory."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file = file
        self._name = name
        self._buffer = b""
        self._at = 0
        self._offset = 0  # of the buffer in the file

    def each_key(self) -> Iterator[str]:
        """Yield the keys of the object; read its value after each. Ends with the object."""
        if self._next() == _MARK[:1] and self._buffer.startswith(_MARK):
            self._at += len(_MARK)
        if self._next() != b"{":
            raise self._error("is no JSON object")
        self._at += 1
        while (first := self._next()) == b'"':
            yield str(orjson.loads(self.value()))
        if first != b"}":
            raise self._error("is no valid JSON")

    def read(self, key: str) -> JsonValue:
        try:
            return cast("JsonValue", orjson.loads(self.value()))
        except orjson.JSONDecodeError:
            raise self._error(f"has no valid JSON in {key!r}") from None

    def items(self) -> Iterator[bytes]:
        """Yield the JSON of each item of the array at hand."""
        if self._next() != b"[":
            raise self._error("has no list of messages")
        self._at += 1
        while (first := self._next()) != b"]":
            if first == b"}":
                raise self._error("is no valid JSON")
            yield self.value()
        self._at += 1

    def value(self) -> bytes:
        """Return the JSON of the value at hand."""
        if self._next() not in (b"{", b"[", b'"'):
            return self._scalar()
        start = scanned = self._at
        depth = 0
        while True:
            for match in _TOKEN.finditer(self._buffer, scanned):
                token = match[0]
                if token in (b"{", b"["):
                    depth += 1
                elif token in (b"}", b"]"):
                    depth -= 1
                elif token == b'"':
                    scanned = match.start()
                    break  # the string goes on after the buffer
                scanned = match.end()
                if depth == 0:
                    self._at = scanned
                    return self._buffer[start:scanned]
            else:
                scanned = len(self._buffer)
            if len(self._buffer) - start > _LONGEST:
                raise self._error(f"has a value of more than {_LONGEST >> 20} MB")
            scanned -= start
            self._more(start)
            start = 0

    def _scalar(self) -> bytes:
        while True:
            match = _SCALAR.match(self._buffer, self._at)
            end = match.end() if match else self._at
            if end < len(self._buffer) or len(self._buffer) - self._at > _LONGEST:
                break
            self._more(self._at)
        if end == self._at:
            raise self._error("is no valid JSON")
        start, self._at = self._at, end
        return self._buffer[start:end]

    def _next(self) -> bytes:
        """Return the first byte of what follows, after spaces and separators."""
        while True:
            match = _SPACE.match(self._buffer, self._at)
            self._at = match.end() if match else self._at
            if self._at < len(self._buffer):
                return self._buffer[self._at : self._at + 1]
            self._more(self._at)

    def _more(self, kept: int) -> None:
        """Read on; what precedes `kept` is dropped."""
        chunk = self._file.read(_CHUNK)
        if not chunk:
            raise self._error("ends too early: export the channel again, or repair the file")
        self._buffer = self._buffer[kept:] + chunk
        self._at = max(0, self._at - kept)
        self._offset += kept

    def _error(self, what: str) -> ExportUnreadable:
        return ExportUnreadable(f"{self._name}: the file {what} (byte {self._offset + self._at})")
