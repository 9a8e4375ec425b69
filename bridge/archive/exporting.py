"""The store -> an export: people, then channel after channel, messages by their time."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from bridge.errors import ConfigError
from bridge.model.export_records import (
    ArchivedConversation,
    ArchiveFilter,
    ArchivePage,
    NotWritten,
)
from bridge.ports.exports import ExportWriter
from bridge.ports.store.archive import ArchiveStore

_PAGE = 1000  # messages that are read at once


@dataclass
class ExportReport:
    """What an export contains, and how many things of each kind the format could not say."""

    channels: int = 0
    messages: int = 0
    not_written: Counter[str] = field(default_factory=Counter[str])

    def note(self, item: NotWritten) -> None:
        """Count something that the format cannot say."""
        self.not_written[item.what] += 1


async def export(
    store: ArchiveStore,
    writer: ExportWriter,
    selection: ArchiveFilter,
    *,
    names: Collection[str] | None = None,
    on_progress: Callable[[int], None] = lambda _: None,
) -> ExportReport:
    """Write all rooms and channels, or those of these names or keys; `on_progress` gets the number
    of messages so far.

    Raises:
        ConfigError: a name is that of no room or channel.
        StoreError: the store cannot be read.
        OSError: the export cannot be written.
    """
    report = ExportReport()
    for person in await store.archived_people():
        writer.person(person)
    for conversation in _named(await store.archived_conversations(), names):
        channel = conversation.channel
        report.channels += 1
        writer.channel(channel)
        async with aclosing(_pages(store, conversation, selection)) as pages:
            async for page in pages:
                for message in page.messages:
                    writer.message(message)
                report.messages += len(page.messages)
                on_progress(report.messages)
    for item in writer.finish():
        report.note(item)
    return report


async def _pages(
    store: ArchiveStore, conversation: ArchivedConversation, selection: ArchiveFilter
) -> AsyncGenerator[ArchivePage]:
    """The messages of a conversation; while one page is written, the store reads the next."""

    def read(after: int | None) -> asyncio.Future[ArchivePage]:
        reading = store.archived_messages(
            conversation.timelines, selection, after=after, limit=_PAGE
        )
        return asyncio.ensure_future(reading)

    coming = read(None)
    try:
        while True:
            page = await coming
            if page.last is not None:
                coming = read(page.last)
                await asyncio.sleep(0)  # the store's thread begins
            yield page
            if page.last is None:
                return
    finally:
        coming.cancel()
        await asyncio.gather(coming, return_exceptions=True)


def _named(
    conversations: Sequence[ArchivedConversation], names: Collection[str] | None
) -> Sequence[ArchivedConversation]:
    """The conversations of these names or keys, all if there are none."""
    if names is None:
        return conversations
    names_of = [{c.channel.name, c.channel.channel.key} for c in conversations]
    for name in names:
        if not any(name in own for own in names_of):
            known = ", ".join(sorted({c.channel.name for c in conversations})) or "none"
            raise ConfigError(f"The archive has no room or channel {name!r}; it has: {known}")
    return [c for c, own in zip(conversations, names_of, strict=True) if own & set(names)]
