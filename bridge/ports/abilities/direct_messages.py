"""Channels between one person and our bot."""

from __future__ import annotations

from typing import Protocol

from bridge.model import ActorId, ChannelRef


class DirectMessages(Protocol):
    """Our bot and one person can write to each other alone."""

    def is_direct(self, channel: ChannelRef) -> bool:
        """Whether the channel is between one person and our bot alone. Pure."""
        ...

    async def open(self, actor: ActorId) -> ChannelRef:
        """The channel of this person and our bot, opened if they never wrote to each other. Raises
        PlatformError, which says what to do where the bot may not write to them."""
        ...
