"""Port: who accepts direct messages from other platforms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bridge.model import ActorId
from bridge.model.room_records import DirectEnd


class DirectStore(Protocol):
    """Direct messages: who accepts them, and who has written to whom."""

    async def put_direct_end(self, end: DirectEnd) -> None:
        """Save where an actor receives direct messages of a room; replaces the former place."""
        ...

    async def remove_direct_ends(self, actor: ActorId) -> bool:
        """Remove an actor's places in all rooms. Returns False when there were none."""
        ...

    async def direct_ends(self) -> Sequence[DirectEnd]:
        """Return all places, oldest first."""
        ...

    async def put_direct_pair(self, first: ActorId, second: ActorId) -> None:
        """Note that two actors have written to one another."""
        ...

    async def direct_pairs(self) -> Sequence[tuple[ActorId, ActorId]]:
        """Return each pair once, the lesser id first."""
        ...
