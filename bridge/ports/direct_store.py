"""What the store keeps of direct messages between platforms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from bridge.model import AccountId, ActorId, ChannelRef, RoomId


@dataclass(frozen=True)
class DirectEnd:
    """Somebody who wants to be written to by people of a room, and the channel in which they and
    our bot are alone; `at` is seconds since 1970."""

    actor: ActorId
    account: AccountId
    channel: ChannelRef
    room: RoomId
    at: float


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

    async def put_direct_pair(self, one: ActorId, other: ActorId) -> None:
        """They have written to one another."""
        ...

    async def direct_pairs(self) -> Sequence[tuple[ActorId, ActorId]]:
        """Each pair once, the lesser id first."""
        ...
