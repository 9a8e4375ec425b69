"""The canonical messages behind native ids."""

from __future__ import annotations

from bridge.model import ChannelRef, MessageId, Place, message_id_of
from bridge.model.archive_records import StoredMessage
from bridge.ports.store.messages import MessageStore
from bridge.router.rooms.programs import is_outside


async def canonical_id(
    store: MessageStore, channel: ChannelRef, native_id: str
) -> MessageId | None:
    """The id of the message that this native one shows. Programs name messages by their canonical
    ids."""
    known = await store.resolve(channel, native_id)
    if known is None and is_outside(channel):
        return MessageId(native_id)
    return known


async def canonical_root(store: MessageStore, place: Place) -> MessageId:
    """The message that a thread hangs on: an original of its channel, or the message that a copy
    shows."""
    native_id = place.thread or ""
    known = await canonical_id(store, place.channel, native_id)
    if known is None:
        return message_id_of(place.channel, native_id)
    stored = await store.message(known)
    return stored.root if stored and stored.root else known


async def message_shown(
    store: MessageStore, channel: ChannelRef, native_id: str
) -> StoredMessage | None:
    """The message that this native one is, or shows; None for one that the store does not know."""
    known = await store.resolve(channel, native_id)
    return await store.message(known) if known else None
