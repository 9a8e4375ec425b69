"""Port: timelines and their messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol
from uuid import UUID

from bridge.model import ChannelRef, MessageId, RoomId
from bridge.model.archive_records import HistoryPiece, Position, Timeline, View
from bridge.uacs import Conversation


class ConversationStore(Protocol):
    """Timelines: the Conversations in which messages have their places."""

    async def room_ids(self, rooms: Sequence[RoomId]) -> Mapping[RoomId, UUID]:
        """Return the Conversation id of each room; the first call for a room creates it for
        good."""
        ...

    async def conversation(
        self, conversation: UUID, *, newest: int | None = None, view: View | None = None
    ) -> Conversation:
        """Return a timeline as a UACS Conversation, oldest message first.

        Deleted messages are absent, and so are whispers to others than the `readers` of the view.

        Args:
            conversation: id of the Conversation.
            newest: look at this many of its newest messages; None for all.
            view: return only the part of those that this view shows.

        Raises:
            StoreError: there is no such conversation.
        """
        ...

    async def past(
        self, conversation: UUID, *, rows: int, before: int | None = None, view: View | None = None
    ) -> HistoryPiece:
        """Return a piece of a timeline; its cost does not depend on the timeline's length.

        Args:
            conversation: id of the Conversation; an unknown one yields an empty piece.
            rows: how many places to look at.
            before: look before the place with this number; None for the newest places.
            view: return only the part of those that this view shows. Messages that `conversation`
                omits are absent here too.
        """
        ...

    async def number_of(self, conversation: UUID, message: MessageId) -> int | None:
        """Return the place number of a message, from 1; None when it has no place there."""
        ...

    async def changed_since(self, room: UUID, position: Position, author: str) -> bool:
        """Tell whether a message that a reader knows has changed since.

        Args:
            room: id of the room's Conversation.
            known: the reader's position.
            author: actor id whose messages count wherever they stand.

        Returns:
            True when a message up to that position, or one of the author, was edited or deleted
            later.
        """
        ...

    async def was_present(self, room: RoomId, member: str, message: MessageId) -> bool:
        """Tell whether a channel (its key) or an agent was in the room when the message arrived."""
        ...

    async def conversations(self) -> Sequence[tuple[Timeline, int]]:
        """Return all timelines with their numbers of messages."""
        ...

    async def live_threads(self, channel: ChannelRef, since: float) -> Sequence[str]:
        """Return the threads of a channel that may have new messages.

        Args:
            channel: the channel.
            since: threads with a message from this time on, and recent messages that could be
                roots.

        Returns:
            At most 200 native ids, newest first. Deleted roots are included: an answer may have
            arrived just before the deletion.
        """
        ...
