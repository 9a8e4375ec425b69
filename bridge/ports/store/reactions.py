"""Where reactions and pins are kept."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from bridge.model import ActorId, ChannelRef, MessageId
from bridge.model.reaction_records import Reacted


class ReactionStore(Protocol):
    """Reactions and pins."""

    async def reactions(self, message: MessageId) -> Sequence[Reacted]:
        """All that stand, in the order in which they were given."""
        ...

    async def pinned_by(self, message: MessageId) -> ActorId | None:
        """Who pinned it; None where it is not pinned."""
        ...

    async def unshown_emoji(self, message: MessageId, channel: ChannelRef) -> Collection[str]:
        """Emoji that the platform did not take on the message's copy: their last AddReaction there
        ended with a loss, or is a dead letter."""
        ...
