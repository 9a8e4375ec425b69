"""Where it is kept who wants direct messages from other platforms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bridge.model import ActorId
from bridge.model.room_records import DirectEnd


class DirectStore(Protocol):
    """Direct messages: who wants them, and who writes to whom."""

    async def put_direct_end(self, end: DirectEnd) -> None:
        """In place of the actor's end in this room."""
        ...

    async def remove_direct_ends(self, actor: ActorId) -> bool:
        """In all rooms. False: there was none."""
        ...

    async def direct_ends(self) -> Sequence[DirectEnd]:
        """All of them, the first one first."""
        ...

    async def put_direct_pair(self, first: ActorId, second: ActorId) -> None:
        """They have written to one another."""
        ...

    async def direct_pairs(self) -> Sequence[tuple[ActorId, ActorId]]:
        """Each pair once, the lesser id first."""
        ...
