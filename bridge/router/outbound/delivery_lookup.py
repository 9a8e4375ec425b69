"""Whether a post whose answer was lost arrived all the same: it is looked for where it would be."""

from __future__ import annotations

from bridge.errors import NotFound
from bridge.model import Call, EditMessage, Receipt
from bridge.model.outbox_records import OutboxItem
from bridge.ports.connector import FindsSent
from bridge.ports.store.messages import MessageStore


async def find_post(
    store: MessageStore, item: OutboxItem, connector: FindsSent, call: Call, sent: Call | None
) -> Receipt | None:
    """The post of `call`, as it was `sent`; after a crash nobody knows that, and its words may have
    changed since. None: it never arrived. Raises what the platform's answer does."""
    if sent is not None and (sent.operation, sent.slot) == (call.operation, call.slot):
        return await _somewhere(store, item, connector, sent)
    receipt = await _somewhere(store, item, connector, call)
    if receipt is None and item.message_state == "edited":
        receipt = await _somewhere(store, item, connector, call, changed=True)
    return receipt


async def _somewhere(
    store: MessageStore,
    item: OutboxItem,
    connector: FindsSent,
    call: Call,
    *,
    changed: bool = False,
) -> Receipt | None:
    """Where its thread stands, else in the channel: there it went if its thread was gone."""
    receipt = None
    try:
        receipt = await _here(store, item, connector, call, changed=changed)
    except NotFound:
        if call.thread is None:
            raise
    if receipt is None and call.thread is not None:
        bare = call.model_copy(update={"thread": None})
        receipt = await _here(store, item, connector, bare, changed=changed)
    return receipt


async def _here(
    store: MessageStore, item: OutboxItem, connector: FindsSent, call: Call, *, changed: bool
) -> Receipt | None:
    """A post that is known to show another message, or another part of this one, is not the one,
    however alike they are."""
    operation = item.delivery.operation
    parts = {copy.native_id for copy in item.delivery.copies}
    after = item.delivery.copies[-1].native_id if item.delivery.copies else item.after
    if isinstance(operation, EditMessage):
        after = None  # its copies may be old, and others have come since: what is new is looked at
    while True:
        receipt = await connector.find_sent(call, after, since=item.created, changed=changed)
        if receipt is None:
            return None
        shows = await store.resolve(operation.channel, receipt.native_id)
        if shows is None or (shows == operation.message and receipt.native_id not in parts):
            return receipt
        after = receipt.native_id
