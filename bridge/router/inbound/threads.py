"""The message that a native id shows, and the root of a native thread."""

from __future__ import annotations

from bridge.model import ChannelRef, MessageId, Place, message_id_of
from bridge.model.archive_records import StoredMessage
from bridge.ports.store.messages import MessageStore
from bridge.router.rooms.programs import is_outside


async def canonical_id(
    store: MessageStore, channel: ChannelRef, native_id: str
) -> MessageId | None:
    """Return the id of the message that a native message shows; None where the store does not know
    it. Programs name messages by their canonical ids. Raises StoreError."""
    message_id = await store.resolve(channel, native_id)
    if message_id is None and is_outside(channel):
        return MessageId(native_id)
    return message_id


async def canonical_root(store: MessageStore, place: Place) -> MessageId:
    """Return the message that a thread hangs on: an original of its channel, or the message that a
    copy shows. Raises StoreError."""
    native_id = place.thread or ""
    message_id = await canonical_id(store, place.channel, native_id)
    if message_id is None:
        return message_id_of(place.channel, native_id)
    stored = await store.message(message_id)
    return stored.root if stored and stored.root else message_id


async def shown_message(
    store: MessageStore, channel: ChannelRef, native_id: str
) -> StoredMessage | None:
    """Return the message that a native message is, or shows; None where the store does not know it.
    Raises StoreError."""
    message_id = await store.resolve(channel, native_id)
    return await store.message(message_id) if message_id else None
