"""What programs outside read from the store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from bridge.model import ActorId, MessageId
from bridge.model.api_records import ApiToken
from bridge.model.archive_records import Page, Position, RoomEvent, Search


class ReadingStore(Protocol):
    """Rooms as programs outside read them. `viewer` is who asks: what was said to others alone is
    not there for them."""

    async def position(self, room: UUID) -> Position:
        """Behind the newest; Position() where nothing was said yet."""
        ...

    async def events_after(
        self, room: UUID, after: Position, *, limit: int, viewer: ActorId
    ) -> Sequence[RoomEvent]:
        """The next things after that position, at most `limit`: what was said, and when all of
        that is told, as many changes. A message that was deleted since comes with that state."""
        ...

    async def page(
        self, room: UUID, *, limit: int, viewer: ActorId, before: int | None = None
    ) -> Page:
        """The newest messages, or the newest `before` this number; with the newest the tools of the
        room (`metadata.tools`). Raises StoreError when there is
        no such conversation."""
        ...

    async def rooms_of(self, message: MessageId, *, viewer: ActorId) -> Sequence[UUID]:
        """The rooms in whose Conversations it stands."""
        ...

    async def search(
        self, rooms: Sequence[UUID], words: Sequence[str], *, limit: int, most: int, viewer: ActorId
    ) -> Search:
        """Messages in whose text all these words are found, whatever their case; of each room at
        most the newest `most` messages are read."""
        ...

    async def put_token(self, token: ApiToken) -> None:
        """In place of the one that had the name."""
        ...

    async def token(self, name: str) -> ApiToken | None: ...

    async def tokens(self) -> Sequence[ApiToken]:
        """By name."""
        ...

    async def revoke_token(self, name: str) -> bool:
        """False: there was none."""
        ...
