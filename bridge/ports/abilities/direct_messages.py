"""Channels between one person and our bot."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from bridge.model import ActorId, ChannelRef


@runtime_checkable
class KnowsDirect(Protocol):
    """Some of its channels are between one person and our bot alone."""

    def is_direct(self, channel: ChannelRef) -> bool:
        """Pure."""
        ...


@runtime_checkable
class OpensDirect(Protocol):
    """Our bot can write to a person alone."""

    async def direct_channel(self, actor: ActorId) -> ChannelRef:
        """Where it does, opened if they never wrote to one another. Raises PlatformError, which
        says what to do where the bot may not."""
        ...
