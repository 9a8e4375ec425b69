"""JSON files of any size, read as a stream: only the value at hand is in memory."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO, cast

import orjson
from pydantic import JsonValue

from bridge.errors import ExportUnreadable

_CHUNK = 1 << 20
_LONGEST = 64 << 20  # bytes of one value
_MARK = b"\xef\xbb\xbf"  # UTF-8 with a byte order mark
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}\[\]"]', re.DOTALL)
_SEPARATORS = re.compile(rb"[\s,:]*+")
_SCALAR = re.compile(rb"[^\s,:{}\[\]\"]*+")


class JsonStream:
    """One JSON document. `first`, then `each_key` of an object or `items` of an array.

    It finds the ends of values and leaves their JSON to a parser. Every method raises
    ExportUnreadable if the file ends too early or is no JSON; `name` is the file's in such errors.
    """

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file = file
        self._name = name
        self._buffer = b""
        self._at = 0
        self._offset = 0  # of the buffer in the file

    def first(self) -> str:
        """Return the first character of the value at hand: `{` for an object, `[` for an array."""
        byte = self._next()
        if byte == _MARK[:1] and self._offset + self._at == 0:
            self._at += len(_MARK)
            byte = self._next()
        return byte.decode("ascii", "replace")

    def each_key(self) -> Iterator[str]:
        """Yield the keys of the object at hand; its value is to be read after each."""
        if self.first() != "{":
            raise self._error("has no object where one is expected")
        self._at += 1
        while (first := self._next()) == b'"':
            yield str(self._parsed(self.value(), "a key"))
        if first != b"}":
            raise self._error("is no valid JSON")
        self._at += 1

    def items(self) -> Iterator[bytes]:
        """Yield the JSON of each item of the array at hand."""
        if self.first() != "[":
            raise self._error("has no list where one is expected")
        self._at += 1
        while (first := self._next()) != b"]":
            if first == b"}":
                raise self._error("is no valid JSON")
            yield self.value()
        self._at += 1

    def read(self, key: str) -> JsonValue:
        """Return the value at hand, which is that of `key`."""
        return self._parsed(self.value(), repr(key))

    def value(self) -> bytes:
        """Return the JSON of the value at hand, at most 64 MB."""
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

    # --- private --------------------------------------------------------------------------------

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
            match = _SEPARATORS.match(self._buffer, self._at)
            self._at = match.end() if match else self._at
            if self._at < len(self._buffer):
                return self._buffer[self._at : self._at + 1]
            self._more(self._at)

    def _more(self, kept: int) -> None:
        """Read on; what precedes `kept` is dropped."""
        chunk = self._file.read(_CHUNK)
        if not chunk:
            raise self._error("ends too early: make the export again, or repair the file")
        self._buffer = self._buffer[kept:] + chunk
        self._at = max(0, self._at - kept)
        self._offset += kept

    def _parsed(self, value: bytes, what: str) -> JsonValue:
        try:
            return cast("JsonValue", orjson.loads(value))
        except orjson.JSONDecodeError:
            raise self._error(f"has no valid JSON in {what}") from None

    def _error(self, what: str) -> ExportUnreadable:
        return ExportUnreadable(f"{self._name}: the file {what} (byte {self._offset + self._at})")
