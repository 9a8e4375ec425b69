"""Port: decisions about rooms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bridge.model import ActorId, RoomId
from bridge.model.room_records import Ban, BanReason, RoomForm, RoomLink, RoomPause, RoomStanding


class RoomStore(Protocol):
    """Decisions about rooms that are taken while the bridge runs: bans, pauses, links."""

    async def put_ban(self, ban: Ban) -> None:
        """Save a ban."""
        ...

    async def remove_ban(self, room: RoomId | None, actor: ActorId, reason: BanReason) -> bool:
        """Remove a ban of this kind.

        Args:
            room: the room; None for a ban from all rooms.
            actor: the banned actor.
            reason: the kind of ban.

        Returns:
            False when there was no such ban.
        """
        ...

    async def bans(self) -> Sequence[Ban]:
        """Return all bans."""
        ...

    async def pause_room(self, paused: RoomPause) -> None:
        """Save a pause; replaces the room's former one."""
        ...

    async def resume_room(self, room: RoomId) -> bool:
        """End a pause. Returns False when the room was not paused."""
        ...

    async def paused_rooms(self) -> Sequence[RoomPause]:
        """Return all pauses."""
        ...

    async def link_channel(self, link: RoomLink) -> None:
        """Save that a channel is linked to a room or unlinked; replaces the former decision."""
        ...

    async def room_links(self) -> Sequence[RoomLink]:
        """Return the decisions on channels, oldest first."""
        ...

    async def stand_rooms(self, forms: Sequence[RoomForm]) -> Sequence[RoomStanding]:
        """Compare the configured rooms with the stored ones; a new digest begins an epoch.

        Args:
            forms: each room with the digest of its settings and its members.

        Returns:
            For each form the number of its epoch and when each member joined, in the same order.
        """
        ...
