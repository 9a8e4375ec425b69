"""Port: archived messages and their native copies."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from bridge.model import ChannelRef, MessageId, PostMessage, Receipt
from bridge.model.archive_records import Relation, StoredMessage
from bridge.model.store_status import Explanation


class MessageStore(Protocol):
    """Archived messages and their native copies."""

    async def message(self, message: MessageId) -> StoredMessage | None:
        """Return an archived message; None when it is unknown."""
        ...

    async def posts_of(self, message: MessageId) -> Sequence[PostMessage]:
        """Return the posts whose copies exist or may come to exist, in their order.

        Posts that were given up, and those whose copies are all gone, are absent.
        """
        ...

    async def resolve(self, channel: ChannelRef, native_id: str) -> MessageId | None:
        """Return the canonical message of a native id.

        Returns:
            The message that was posted there, or of which it is a copy, or whose thread root it
            stands for; None when the id is unknown.
        """
        ...

    async def removed_by_us(self, message: MessageId, channel: ChannelRef, native_id: str) -> bool:
        """Tell whether the bridge itself has removed a copy.

        True when the copy is known to be gone, or when an operation of ours deletes or deleted the
        message there, or is changing it now.
        """
        ...

    async def copies(self, message: MessageId, channel: ChannelRef) -> Sequence[Receipt]:
        """Return the existing native copies of a message in a channel, by ascending slot."""
        ...

    async def relations(self, messages: Collection[MessageId]) -> Mapping[MessageId, Relation]:
        """Return the thread root and the answered message of each archived message among these."""
        ...

    async def explain(self, message: MessageId) -> Explanation | None:
        """Return everything that is known about a message, for diagnosis; None when it is
        unknown."""
        ...
