"""Port: rooms as API clients read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from bridge.model import ActorId, MessageId
from bridge.model.api_records import ApiToken
from bridge.model.archive_records import Page, Position, RoomEvent


class ReadingStore(Protocol):
    """Rooms as API clients read them.

    `viewer` is the client's actor; whispers to others are absent.
    """

    async def position(self, room: UUID) -> Position:
        """Return the position behind the room's newest event; Position() for an empty room."""
        ...

    async def events_after(
        self, room: UUID, after: Position, *, limit: int, viewer: ActorId
    ) -> Sequence[RoomEvent]:
        """Return the next events after a position: new messages first, then changes.

        Args:
            room: id of the room's Conversation.
            after: the reader's position.
            limit: maximum number of messages, and of changes.
            viewer: the reading actor.

        Returns:
            Events with the current state of their message; a message that was deleted since has the
            state `deleted`.
        """
        ...

    async def page(
        self, room: UUID, *, limit: int, viewer: ActorId, before: int | None = None
    ) -> Page:
        """Return one page of a room's messages, oldest first.

        Args:
            room: id of the room's Conversation.
            limit: maximum number of messages.
            viewer: the reading actor.
            before: only messages with a lower number; None for the newest page, which also has the
                room's tools (`metadata.tools`).

        Raises:
            StoreError: there is no such conversation.
        """
        ...

    async def rooms_of(self, message: MessageId, *, viewer: ActorId) -> Sequence[UUID]:
        """Return the Conversation ids of the rooms that hold a message."""
        ...

    async def put_token(self, token: ApiToken) -> None:
        """Save an API token; replaces the one of the same name."""
        ...

    async def token(self, name: str) -> ApiToken | None:
        """Return an API token by its name; None when there is none."""
        ...

    async def tokens(self) -> Sequence[ApiToken]:
        """Return all API tokens, by name."""
        ...

    async def revoke_token(self, name: str) -> bool:
        """Delete an API token. Returns False when there was none."""
        ...
