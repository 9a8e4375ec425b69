"""Our bot can react to messages."""

from __future__ import annotations

from typing import Protocol


class OwnReactions(Protocol):
    """Our bot can react to messages."""

    def takes_reaction(self, emoji: str) -> bool:
        """Whether the platform has this one (Unicode, or `:name:` of a custom one), as far as can
        be known without asking. Pure."""
        ...
