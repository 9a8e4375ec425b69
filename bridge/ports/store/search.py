"""Port: full-text search over the archive."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from bridge.model.search_records import FoundMessage, Search, SearchPage, Surroundings


class SearchStore(Protocol):
    """Finds messages by their words and facts."""

    async def find(self, search: Search, *, limit: int, before: int | None = None) -> SearchPage:
        """Return the newest messages that a search finds.

        Words are compared without case and accents; in scripts without spaces, each character is a
        word. The cost depends on what is found, hardly on the size of the archive.

        Args:
            search: what to find, and who reads.
            limit: maximum number of messages.
            before: the `more` of the page before; None for the first page.
        """
        ...

    async def around(
        self, found: FoundMessage, conversation: UUID, search: Search, *, count: int
    ) -> Surroundings:
        """Return the messages around a found one.

        Args:
            found: the message.
            conversation: in which of its conversations.
            search: who reads, and whether deleted messages are shown.
            count: maximum number on each side.
        """
        ...

    async def conversations_named(self, name: str) -> Sequence[str]:
        """Return the ids of the rooms and channels of a name or key, in any case."""
        ...
