"""Port: the archive as a whole, for imports and exports."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol
from uuid import UUID

from bridge.model import MessageId
from bridge.model.export_records import (
    ArchivedConversation,
    ArchivedMessage,
    ArchiveFilter,
    ArchivePage,
    ExportedPerson,
    ImportBatch,
    ImportCounts,
)


class ArchiveStore(Protocol):
    """Adds messages of exports, and reads all messages of a channel by their time."""

    async def imported_units(self, export: str) -> Mapping[str, str]:
        """Return the fingerprints of the finished units of an export, by their keys."""
        ...

    async def add_imported(self, batch: ImportBatch) -> ImportCounts:
        """Add the messages of a batch to the conversations of their channels and threads, in one
        transaction.

        A message that is known, from the platform or from an import, stays one: a later edit, a
        deletion and, of a message that came by import, its reactions are taken over. The same batch
        again changes nothing. Nothing is sent to any platform or agent.
        """
        ...

    async def archived_people(self) -> Sequence[ExportedPerson]:
        """Return all authors, by id, as their platform or an export described them."""
        ...

    async def archived_conversations(self) -> Sequence[ArchivedConversation]:
        """Return the rooms, by name, then the channels that are in no room, by key; none of them
        without messages."""
        ...

    async def archived(
        self, messages: Collection[MessageId]
    ) -> Mapping[MessageId, ArchivedMessage]:
        """Return what the archive knows of these messages, without native payloads; unknown ids are
        absent. Whoever calls this has checked that the reader may see them."""
        ...

    async def archived_messages(
        self,
        timelines: Sequence[UUID],
        selection: ArchiveFilter,
        *,
        after: int | None,
        limit: int,
    ) -> ArchivePage:
        """Return the next messages of some timelines, oldest first, each message once.

        Args:
            timelines: ids of Conversations.
            selection: which of their messages.
            after: the `last` of the page before; None for the first page.
            limit: maximum number of messages.
        """
        ...
