"""Adds reactions as our bot."""

from __future__ import annotations

from typing import Protocol


class OwnReactions(Protocol):
    """Adds reactions as our bot."""

    def takes_reaction(self, emoji: str) -> bool:
        """Return whether the platform has this emoji (Unicode, or `:name:` of a custom one), as far
        as that is known without a request."""
        ...
