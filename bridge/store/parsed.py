"""Parses JSON columns with a cache, so that a body that was just written is not parsed again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")
_MAX_BODIES = 256  # bodies remembered
_LARGEST = 16_384  # bytes of a body worth remembering


class Parsed(Generic[T]):
    """`read` with a cache of the newest bodies.

    The key is the body itself and the objects are frozen, so any number of processes may write.
    """

    def __init__(self, read: Callable[[bytes], T], write: Callable[[T], bytes]) -> None:
        self._read = read
        self._write = write
        self._known: dict[bytes, T] = {}

    def read(self, body: bytes) -> T:
        value = self._known.get(body)
        return self._read(body) if value is None else value

    def write(self, value: T) -> bytes:
        body = self._write(value)
        if len(body) <= _LARGEST:
            if len(self._known) >= _MAX_BODIES:
                self._known.pop(next(iter(self._known)), None)
            self._known[body] = value
        return body
