"""Locks by key: what has the same key is done in the order in which it came, the rest side by
side."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)


@dataclass(slots=True)
class _Lock:
    """`users`: who holds it and those that wait for it."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    users: int = 0


class KeyedLocks(Generic[K]):
    """A lock for each key that somebody holds or waits for; `in` tells whether there is one."""

    def __init__(self) -> None:
        self._locks: dict[K, _Lock] = {}

    def __contains__(self, key: K) -> bool:
        return key in self._locks

    @asynccontextmanager
    async def hold(self, key: K) -> AsyncGenerator[None]:
        """Hold the key's lock; who asks first has it first."""
        keyed = self._locks.setdefault(key, _Lock())
        keyed.users += 1
        try:
            async with keyed.lock:  # asyncio's locks are first come, first served
                yield
        finally:
            keyed.users -= 1
            if not keyed.users:
                del self._locks[key]
