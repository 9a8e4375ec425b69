"""Opens channels between one person and our bot."""

from __future__ import annotations

from typing import Protocol

from bridge.model import ActorId, ChannelRef


class DirectMessages(Protocol):
    """Opens and recognises channels between one person and our bot."""

    def is_direct(self, channel: ChannelRef) -> bool:
        """Return whether the channel is between one person and our bot. Makes no request."""
        ...

    async def open(self, actor: ActorId) -> ChannelRef:
        """Return the channel of this person and our bot; open it if they never wrote to each other.

        Raises:
            PlatformError: the bot may not write to this person; the text says what to do.
        """
        ...
