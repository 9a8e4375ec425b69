"""JSON files of any size, read as a stream: only the value at hand is in memory."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO, cast

import orjson
from pydantic import JsonValue

from bridge.errors import ExportUnreadable

LARGEST_VALUE = 64 << 20  # bytes
_CHUNK = 1 << 20
_MARK = b"\xef\xbb\xbf"  # UTF-8 with a byte order mark
_NEXT_BRACKET = re.compile(rb'(?:[^"{}\[\]]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+([{}\[\]])', re.DOTALL)
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_SEPARATORS = re.compile(rb"[\s,:]*+")
_SCALAR = re.compile(rb"[^\s,:{}\[\]\"]*+")


def array_items(
    file: BinaryIO, name: str, member: str | None = None, *, largest: int = LARGEST_VALUE
) -> Iterator[bytes]:
    """Yield the JSON of each item of the array that is the whole document, or `member` of it.

    Whoever takes an item parses it: one item that is no JSON leaves the others readable, and a
    truncated file gives all items before its end.

    Raises:
        ExportUnreadable: it is no such document, ends too early, or has a larger item.
    """
    stream = JsonStream(file, name, largest=largest)
    if member is None:
        yield from stream.items()
        return
    for key in stream.each_key():
        if key == member:
            yield from stream.items()
            return
        stream.value()
    raise ExportUnreadable(f"{name}: the document has no list of {member}")


class JsonStream:
    """One JSON document. `first`, then `each_key` of an object, or `items` or `each_item` of an
    array.

    It finds the ends of values and leaves their JSON to a parser. Every method raises
    ExportUnreadable if the file ends too early, is no JSON, or has a larger value than `largest`
    bytes; `name` is the file's in such errors.
    """

    def __init__(self, file: BinaryIO, name: str, *, largest: int = LARGEST_VALUE) -> None:
        self._file = file
        self._name = name
        self._largest = largest
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
        for _ in self.each_item():
            yield self.value()

    def each_item(self) -> Iterator[None]:
        """Go through the items of the array at hand; each is to be read before the next."""
        if self.first() != "[":
            raise self._error("has no list where one is expected")
        self._at += 1
        while (first := self._next()) != b"]":
            if first == b"}":
                raise self._error("is no valid JSON")
            yield
        self._at += 1

    def read(self, key: str) -> JsonValue:
        """Return the value at hand, which is that of `key`."""
        return self._parsed(self.value(), repr(key))

    def value(self) -> bytes:
        """Return the JSON of the value at hand."""
        first = self._next()
        if first == b'"':
            return self._matched(_STRING)
        if first not in (b"{", b"["):
            return self._scalar()
        start = scanned = self._at
        depth = 0
        while True:
            match = _NEXT_BRACKET.match(self._buffer, scanned)
            if match is None:
                scanned -= start
                self._more(start)
                start = 0
                continue
            scanned = match.end()
            depth += 1 if self._buffer[scanned - 1] in b"{[" else -1
            if depth == 0:
                self._at = scanned
                return self._buffer[start:scanned]

    # --- private --------------------------------------------------------------------------------

    def _matched(self, pattern: re.Pattern[bytes]) -> bytes:
        while (match := pattern.match(self._buffer, self._at)) is None:
            self._more(self._at)
        self._at = match.end()
        return match[0]

    def _scalar(self) -> bytes:
        start = self._at
        while (end := self._end_of_scalar()) == len(self._buffer):
            self._more(start)
            start = 0
        if end == self._at:
            raise self._error("is no valid JSON")
        self._at = end
        return self._buffer[start:end]

    def _end_of_scalar(self) -> int:
        match = _SCALAR.match(self._buffer, self._at)
        return match.end() if match else self._at

    def _next(self) -> bytes:
        """Return the first byte of what follows, after spaces and separators."""
        while True:
            match = _SEPARATORS.match(self._buffer, self._at)
            self._at = match.end() if match else self._at
            if self._at < len(self._buffer):
                return self._buffer[self._at : self._at + 1]
            self._more(self._at)

    def _more(self, kept: int) -> None:
        """Read on, twice as much each time in one long value; what precedes `kept` is dropped."""
        rest = self._buffer[kept:]
        if len(rest) > self._largest:
            raise self._error(f"has a value of more than {self._largest >> 20} MB")
        chunk = self._file.read(min(max(_CHUNK, len(rest)), self._largest))
        if not chunk:
            raise self._error("ends in the middle: make the export again, or repair the file")
        self._buffer = rest + chunk
        self._at = max(0, self._at - kept)
        self._offset += kept

    def _parsed(self, value: bytes, what: str) -> JsonValue:
        try:
            return cast("JsonValue", orjson.loads(value))
        except orjson.JSONDecodeError:
            raise self._error(f"has no valid JSON in {what}") from None

    def _error(self, what: str) -> ExportUnreadable:
        return ExportUnreadable(f"{self._name}: the file {what} (byte {self._offset + self._at})")


def parsed(raw: bytes) -> Any:
    """Parse JSON as the programs of platforms accept it: also NaN and lone surrogates, which become
    None and question marks.

    Raises:
        ValueError: it is no JSON, or nested too deeply.
    """
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        pass
    try:
        value = json.loads(raw.decode("utf-8", "replace"), parse_constant=_nothing)
        text = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _nothing(_constant: str) -> None:
    """None for NaN and Infinity."""
