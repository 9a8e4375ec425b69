"""The archive for programs in Python: opens a store, also while a bridge uses it, and searches and
reads it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from bridge.app.opening import open_to_read
from bridge.app.settings.store import StoreSettings
from bridge.archive.search_names import names_in
from bridge.archive.search_query import read_query
from bridge.errors import ConfigError
from bridge.model import ActorId
from bridge.model.export_records import ArchivedConversation, ArchivedMessage, ArchiveFilter
from bridge.model.search_records import FoundMessage
from bridge.ports.store.whole import Store
from bridge.runtime.clock import SystemClock

_PAGE = 200  # messages that are read at once


@asynccontextmanager
async def open_archive(place: str | Path) -> AsyncGenerator[OpenArchive]:
    """Open a store to read, until the block ends.

    Args:
        place: the file of the store, or postgresql://USER@HOST/DATABASE; PGPASSWORD, or a password
            file, has the password.

    Raises:
        StoreError: there is none, or it is encrypted and its key is not in the environment.
    """
    if str(place).startswith(("postgresql://", "postgres://")):
        settings = StoreSettings(url=str(place))
    else:
        settings = StoreSettings(path=Path(place))
    store = await open_to_read(settings, SystemClock())
    try:
        yield OpenArchive(store)
    finally:
        await store.close()


class OpenArchive:
    """What `open_archive` gives. Whoever may read the file may read all of it: private and deleted
    messages are left out unless they are asked for."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def search(
        self, query: str, *, reader: ActorId | None = None, deleted: bool = False
    ) -> AsyncGenerator[FoundMessage]:
        """Yield the messages that a query finds, newest first; the query is that of `archive
        search`.

        Args:
            query: words, "phrases", prefixes (dep*), `from:`, `in:`, `has:`, `before:` ...
            reader: whose private messages are found, too.
            deleted: whether deleted messages are found, too.

        Raises:
            BadQuery: the query cannot be understood.
            StoreError: the store cannot be read.
        """
        search = await read_query(query, names_in(self._store))
        readers = () if reader is None else (reader,)
        search = replace(search, readers=readers, deleted=deleted)
        before: int | None = None
        while True:
            page = await self._store.find(search, limit=_PAGE, before=before)
            for found in page.found:
                yield found
            if (before := page.more) is None:
                return

    async def channels(self) -> Sequence[ArchivedConversation]:
        """Return the rooms, by name, then the channels that are in no room, by key. Raises
        StoreError."""
        return await self._store.archived_conversations()

    async def messages(
        self, channel: str, *, since: float | None = None, until: float | None = None
    ) -> AsyncGenerator[ArchivedMessage]:
        """Yield the messages of a room or channel, oldest first.

        Args:
            channel: its name or key.
            since, until: seconds since 1970, from and before.

        Raises:
            ConfigError: there is no such room or channel.
            StoreError: the store cannot be read.
        """
        found = [
            one for one in await self.channels()
            if channel in (one.channel.name, one.channel.channel.key)
        ]  # fmt: skip
        if not found:
            raise ConfigError(f"The archive has no room or channel {channel!r}")
        selection, after = ArchiveFilter(since, until), None
        while True:
            page = await self._store.archived_messages(
                found[0].timelines, selection, after=after, limit=_PAGE
            )
            for message in page.messages:
                yield message
            if (after := page.last) is None:
                return
