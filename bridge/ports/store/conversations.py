"""Where timelines are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol
from uuid import UUID

from bridge.model import ChannelRef, MessageId, RoomId
from bridge.model.archive_records import Past, Position, Timeline, View
from bridge.uacs import Conversation


class ConversationStore(Protocol):
    """Timelines: the Conversations that messages are placed in."""

    async def room_ids(self, rooms: Sequence[RoomId]) -> Mapping[RoomId, UUID]:
        """The Conversation id of each room, made at its first use and kept for ever."""
        ...

    async def conversation(
        self, conversation: UUID, *, newest: int | None = None, view: View | None = None
    ) -> Conversation:
        """The timeline as a UACS Conversation, oldest first; at most the `newest` messages, and of
        these only what is in the `view`.
        Deleted messages are absent, and so is what was said to others than its `readers` alone.
        Raises StoreError when there is no such conversation."""
        ...

    async def past(
        self, conversation: UUID, *, rows: int, before: int | None = None, view: View | None = None
    ) -> Past:
        """What stands in the `rows` places before this number, or in the newest, as far as it is in
        the `view`; absent is what is absent from `conversation`. It costs the same however long the
        conversation is. Nothing where there is no such conversation."""
        ...

    async def number_of(self, conversation: UUID, message: MessageId) -> int | None:
        """The number of the message's place in the conversation, from 1."""
        ...

    async def changed_since(self, room: UUID, known: Position, author: str) -> bool:
        """Whether anything up to that position, or anything of this author (an actor's id), was
        edited or deleted after it."""
        ...

    async def was_present(self, room: RoomId, member: str, message: MessageId) -> bool:
        """Whether the message came into the room while this channel or agent was in it."""
        ...

    async def conversations(self) -> Sequence[tuple[Timeline, int]]:
        """All timelines with their number of messages."""
        ...

    async def live_threads(self, channel: ChannelRef, since: float) -> Sequence[str]:
        """Native ids of threads of the channel in which something was said since then, and of
        recent messages that could have become roots, newest first, at most 200. Those that are
        gone are among them: somebody may have answered just before."""
        ...
