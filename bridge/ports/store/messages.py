"""Where archived messages and their native copies are looked up."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from bridge.model import ChannelRef, MessageId, PostMessage, Receipt
from bridge.model.archive_records import Relation, StoredMessage
from bridge.model.store_status import Explanation


class MessageStore(Protocol):
    """Archived messages and their native copies."""

    async def message(self, message: MessageId) -> StoredMessage | None: ...

    async def posts_of(self, message: MessageId) -> Sequence[PostMessage]:
        """The posts that carry it, or may: all but those that were given up, and those whose copies
        are all gone, in their order."""
        ...

    async def resolve(self, channel: ChannelRef, native_id: str) -> MessageId | None:
        """The canonical message that this native id shows: said there, or our copy, or a post
        that stands for a thread root."""
        ...

    async def removed_by_us(self, message: MessageId, channel: ChannelRef, native_id: str) -> bool:
        """Whether this copy's end is our own doing: it is known to be gone, or an operation of
        ours deletes or deleted the message there, or is just changing it."""
        ...

    async def copies(self, message: MessageId, channel: ChannelRef) -> Sequence[Receipt]:
        """The native copies of the message that stand in the channel, by rising slot."""
        ...

    async def relations(self, messages: Collection[MessageId]) -> Mapping[MessageId, Relation]:
        """Of each message that is kept."""
        ...

    async def explain(self, message: MessageId) -> Explanation | None: ...
