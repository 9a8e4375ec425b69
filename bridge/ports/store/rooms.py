"""Where decisions about rooms are kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bridge.model import ActorId, RoomId
from bridge.model.room_records import Ban, BanReason, Paused, RoomForm, RoomLink, RoomStanding


class RoomStore(Protocol):
    """What is decided about rooms while the bridge runs."""

    async def put_ban(self, ban: Ban) -> None: ...

    async def remove_ban(self, room: RoomId | None, actor: ActorId, why: BanReason) -> bool:
        """Whether they were barred so."""
        ...

    async def bans(self) -> Sequence[Ban]: ...

    async def pause_room(self, paused: Paused) -> None: ...

    async def resume_room(self, room: RoomId) -> bool:
        """Whether it was paused."""
        ...

    async def paused_rooms(self) -> Sequence[Paused]: ...

    async def link_channel(self, link: RoomLink) -> None:
        """The last word on a channel of a room counts."""
        ...

    async def room_links(self) -> Sequence[RoomLink]:
        """In the order in which they were decided."""
        ...

    async def stand_rooms(self, forms: Sequence[RoomForm]) -> Sequence[RoomStanding]:
        """Each room as it is configured now; a digest other than the last one begins an epoch."""
        ...
