"""Port: reactions and pins."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from bridge.model import ActorId, ChannelRef, MessageId
from bridge.model.reaction_records import CurrentReaction


class ReactionStore(Protocol):
    """Reactions and pins of archived messages."""

    async def reactions(self, message: MessageId) -> Sequence[CurrentReaction]:
        """Return the current reactions to a message, in the order in which people added them."""
        ...

    async def pinned_by(self, message: MessageId) -> ActorId | None:
        """Return who pinned a message; None when it is not pinned."""
        ...

    async def unshown_emoji(self, message: MessageId, channel: ChannelRef) -> Collection[str]:
        """Return the emoji that the platform does not show on its copy of a message.

        For these, the last AddReaction in the channel ended with a loss or is a dead letter.
        """
        ...
