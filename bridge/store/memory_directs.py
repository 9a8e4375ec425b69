"""The in-memory twin's part on direct messages. For tests."""

from __future__ import annotations

from collections.abc import Sequence

from bridge.model import ActorId, RoomId
from bridge.ports.direct_store import DirectEnd


class MemoryDirects:
    """What `bridge.store.directs` does, in dicts."""

    def __init__(self) -> None:
        self._ends: dict[tuple[ActorId, RoomId], DirectEnd] = {}
        self._pairs: set[tuple[ActorId, ActorId]] = set()

    def _must_be_open(self) -> None:
        raise NotImplementedError

    async def put_direct_end(self, end: DirectEnd) -> None:
        self._must_be_open()
        self._ends[end.actor, end.room] = end

    async def remove_direct_ends(self, actor: ActorId) -> bool:
        self._must_be_open()
        theirs = [key for key in self._ends if key[0] == actor]
        for key in theirs:
            del self._ends[key]
        return bool(theirs)

    async def direct_ends(self) -> Sequence[DirectEnd]:
        return sorted(self._ends.values(), key=lambda one: (one.at, one.actor, one.room))

    async def put_direct_pair(self, one: ActorId, other: ActorId) -> None:
        self._must_be_open()
        first, second = sorted((one, other))
        self._pairs.add((first, second))

    async def direct_pairs(self) -> Sequence[tuple[ActorId, ActorId]]:
        return sorted(self._pairs)
