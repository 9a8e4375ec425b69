"""A set of bounded size, which forgets its oldest values."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

T = TypeVar("T", bound=Hashable)


class Newest(Generic[T]):
    """A set of the values that were added last."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: dict[T, None] = {}

    def __contains__(self, value: T) -> bool:
        return value in self._values

    def add(self, value: T) -> None:
        """Add a value; the oldest one makes way for it."""
        self._values[value] = None
        if len(self._values) > self._most:
            del self._values[next(iter(self._values))]

    def clear(self) -> None:
        self._values.clear()
