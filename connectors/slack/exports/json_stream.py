"""The items of a JSON array of any length, one by one, as their own bytes.

The scanner knows strings and brackets only: whoever takes an item parses it, so that one item that
is no JSON leaves the others readable, and a truncated file gives all items before its end.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

import orjson

from bridge.errors import ExportUnreadable

LARGEST_ITEM = 64 * 1024 * 1024
_CHUNK = 1 << 20
_NEXT_BRACKET = re.compile(rb'(?:[^"{}\[\]]+|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+([{}\[\]])', re.DOTALL)
_BETWEEN = b" \t\r\n,"
_OPENING = b"{["


def array_items(
    stream: BinaryIO, name: str, member: str | None = None, *, largest: int = LARGEST_ITEM
) -> Iterator[bytes]:
    """Yield the items of the top-level array, or of the array that is this member of the top-level
    object. Scalar items come together with those beside them.

    Args:
        stream: The file.
        name: Its name, for errors.
        member: The key of the array; None if the array is the whole document.
        largest: The largest item, in bytes.

    Raises:
        ExportUnreadable: it is no such document, ends too early, or has a larger item.
    """
    return _Scanner(stream, name, member, largest).items()


class _Scanner:
    def __init__(self, stream: BinaryIO, name: str, member: str | None, largest: int) -> None:
        self._stream = stream
        self._name = name
        self._largest = largest
        self._member = member
        self._buffer = b""
        self._more = _CHUNK

    def items(self) -> Iterator[bytes]:
        start = position = self._begin()
        depth = 0
        while True:
            match = _NEXT_BRACKET.match(self._buffer, position)
            if match is None:
                if not self._fill(start):
                    raise self._incomplete()
                position, start = position - start, 0
                continue
            position = match.end()
            if self._buffer[position - 1] in _OPENING:
                if depth == 0:
                    yield from self._scalars(start, position - 1)
                    start = position - 1
                depth += 1
            elif depth > 1:
                depth -= 1
            elif depth == 1:
                yield self._buffer[start:position]
                start, depth = position, 0
            else:
                yield from self._scalars(start, position - 1)
                return

    def _begin(self) -> int:
        """Find the array and return where its first item may begin."""
        opening = None
        if self._member is not None:
            opening = re.compile(rb'(?<!\\)"%s"\s*:\s*\[\Z' % re.escape(self._member.encode()))
        depth, position = 0, 0
        while True:
            match = _NEXT_BRACKET.match(self._buffer, position)
            if match is None:
                if not self._fill(position):
                    if not self._buffer.strip():
                        raise ExportUnreadable(f"{self._name} is empty")
                    raise self._incomplete()
                position = 0
                continue
            end = match.end()
            bracket = self._buffer[end - 1]
            if opening is None:
                if bracket != _OPENING[1]:
                    raise ExportUnreadable(f"{self._name} is no JSON array")
                return end
            if depth == 1 and opening.search(self._buffer, position, end):
                return end
            depth += 1 if bracket in _OPENING else -1
            if depth <= 0:
                raise ExportUnreadable(f"{self._name} has no list of messages")
            position = end

    def _scalars(self, start: int, end: int) -> Iterator[bytes]:
        """What lies between two items, if it is more than a comma."""
        if between := self._buffer[start:end].strip(_BETWEEN):
            yield between

    def _incomplete(self) -> ExportUnreadable:
        return ExportUnreadable(f"{self._name} ends in the middle: the file is not complete")

    def _fill(self, kept: int) -> bool:
        """Read on, keeping the buffer from `kept`; twice as much each time in one long item."""
        self._more = self._more * 2 if kept == 0 and self._buffer else _CHUNK
        rest = self._buffer[kept:]
        if len(rest) > self._largest:
            raise ExportUnreadable(
                f"{self._name} has an item of more than {self._largest >> 20} MiB"
            )
        chunk = self._stream.read(min(self._more, self._largest))
        self._buffer = rest + chunk
        return bool(chunk)


def parsed(raw: bytes) -> Any:
    """Parse JSON as Slack's own programs accept it: also NaN and lone surrogates, which become
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
