"""Finds out whether a call arrived whose answer was lost, and removes the copies of posts that were
sent again and arrived twice after all."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import structlog

from bridge.errors import BridgeError, NoHistory, NotFound, Refused, StoreError, Unsettled
from bridge.model import (
    FIRST_SLOT_OF_FILES,
    AccountId,
    Call,
    DeleteMessage,
    Delivery,
    EditMessage,
    Operation,
    OperationId,
    PostMessage,
    Receipt,
)
from bridge.model.outbox_records import OutboxItem
from bridge.ports.abilities.sending import Deliveries
from bridge.ports.clock import Clock
from bridge.ports.connector import Connector
from bridge.ports.store.messages import MessageStore
from bridge.router.outbound.encoding import Encoding
from bridge.router.outbound.outcomes import (
    Again,
    Attempt,
    Delivered,
    Done,
    Outcome,
    Retry,
    Wait,
    unproved,
)
from bridge.router.outbound.rate_limits import Priority, RateLimits
from bridge.router.outbound.send import InFlightCalls
from bridge.router.runtime.timeouts import Timeouts

log = structlog.get_logger()

_LOOK_AGAIN = 10.0  # seconds between two lookups of a post that may still arrive
_REMEMBERED = 4096  # operations that were sent again
_LOOKS = 30  # for the answer to the second request, which tells which copy to keep

Echoes = dict[tuple[OperationId, int], Receipt]


@dataclass(frozen=True)
class Doubt:
    """A call whose outcome is unknown, as it was made; why, and since when (seconds since 1970)."""

    call: Call
    error: Unsettled
    since: float


class Settler:
    """Settles operations that are `sending` and whose last call had no answer."""

    def __init__(
        self,
        store: MessageStore,
        encoding: Encoding,
        duplicates: DuplicateRemover,
        clock: Clock,
        timeouts: Timeouts,
    ) -> None:
        self._store = store
        self._encoding = encoding
        self._duplicates = duplicates
        self._clock = clock
        self._timeouts = timeouts

    async def settle(self, attempt: Attempt, doubt: Doubt | None, echoes: Echoes) -> Outcome:
        """Find out what became of the operation's last call.

        `doubt` is that call; None after a crash, when nobody knows it. `echoes` are our own posts
        that came back while the lane ran, by operation and slot. Raises StoreError, and
        NotEncodable.
        """
        item = attempt.item
        calls = (await self._encoding.encode(item.delivery, attempt.connector)).calls
        if calls:
            post = _post_in_doubt(calls, doubt, attempt.connector)
        elif (post := await self._part_no_longer_needed(attempt, doubt)) is None:
            self._encoding.forget_edits(item.delivery)
            return Done(item)
        if post is None and doubt is None:
            return Again("said again: it changes nothing twice")
        if post is None and doubt is not None:
            return Retry(doubt.error, "unsettled", item.attempts - 1)
        deliveries = attempt.connector.abilities.deliveries
        if post is None or deliveries is None:
            return unproved(item)
        if echo := echoes.pop((attempt.operation.id, post.slot), None):
            return Delivered(echo)
        return await self._look_for(item, deliveries, post, doubt)

    async def _part_no_longer_needed(self, attempt: Attempt, doubt: Doubt | None) -> Call | None:
        """The next part of a post whose message became shorter since. It may have arrived: the edit
        that follows deletes what is known."""
        item, copies = attempt.item, attempt.item.delivery.copies
        slots = {copy.slot for copy in copies}
        if attempt.connector.abilities.deliveries is None:
            return None
        if doubt is not None:
            is_open = doubt.call.kind == "post" and doubt.call.slot not in slots
            return doubt.call if is_open else None
        if not isinstance(attempt.operation, PostMessage) or item.message_state != "edited":
            return None
        if not slots or max(slots) >= FIRST_SLOT_OF_FILES:
            return None
        anew = item.delivery.model_copy(update={"copies": ()})
        calls = (await self._encoding.encode(anew, attempt.connector)).calls
        first = next((call for call in calls if call.kind == "post"), None)
        return first and first.model_copy(update={"slot": max(slots) + 1, "files": ()})

    async def _look_for(
        self, item: OutboxItem, deliveries: Deliveries, post: Call, doubt: Doubt | None
    ) -> Outcome:
        operation = item.delivery.operation
        grace = (item.began or 0.0) + self._timeouts.settle_grace - self._clock.time()
        if grace > 0:
            return Wait(grace)
        try:
            async with asyncio.timeout(self._timeouts.send_deadline):
                receipt = await _find_post(self._store, item, deliveries, post, doubt)
        except StoreError:
            raise
        except (BridgeError, TimeoutError) as error:
            return self._look_again_later(item, error)
        if receipt is None and doubt is not None and doubt.error.late:
            left = doubt.since + self._timeouts.settle_late - self._clock.time()
            if left > 0:  # the platform may take it yet
                return Wait(min(left, max(_LOOK_AGAIN, self._timeouts.settle_grace)))
        log.info("operation_lookup_finished", operation=operation.id, found=receipt is not None)
        if receipt is not None:
            return Delivered(receipt)
        self._duplicates.sent_again(operation)
        if doubt is None:
            return Again("it never arrived")
        earlier_attempts = item.attempts - 1
        pause = None if earlier_attempts > 0 else 0.0
        return Retry(doubt.error, "never_arrived", earlier_attempts, pause)

    def _look_again_later(self, item: OutboxItem, error: BridgeError | TimeoutError) -> Outcome:
        """The platform cannot tell now whether the post arrived, or never will."""
        operation = item.delivery.operation
        log.warning("settle_failed", lane=operation.lane, operation=operation.id, error=str(error))
        if isinstance(error, NoHistory):
            return unproved(item)
        refused = isinstance(error, Refused)
        limit = self._timeouts.retry_alone_for if refused else self._timeouts.retry_for
        if self._clock.time() - (item.began or item.created) >= limit:
            return unproved(item)
        pause = getattr(error, "retry_after", self._timeouts.backoff(item.attempts))
        return Wait(pause, urged=True)


def _post_in_doubt(calls: Sequence[Call], doubt: Doubt | None, connector: Connector) -> Call | None:
    """The post that may have arrived unseen; the posts before it left their receipts. None: the
    call in doubt can be made twice, and so can the rest. After a crash nobody knows that call; then
    calls that begin with a change are looked for, or made again where nobody can look."""
    if doubt is not None and doubt.call.operation == calls[0].operation:
        at_stake = doubt.call.kind == "post"
    else:
        at_stake = calls[0].kind == "post" or connector.abilities.deliveries is not None
    return next((call for call in calls if call.kind == "post"), None) if at_stake else None


# --- the lookup -------------------------------------------------------------------------------


async def _find_post(
    store: MessageStore, item: OutboxItem, deliveries: Deliveries, post: Call, doubt: Doubt | None
) -> Receipt | None:
    """Look for the post as it was sent. After a crash nobody knows that, and its words may have
    changed since. None: it never arrived. Raises what the platform's answer raises."""
    call_sent = doubt.call if doubt else None
    if call_sent is not None and (call_sent.operation, call_sent.slot) == (
        post.operation,
        post.slot,
    ):
        return await _find_in_thread_or_channel(store, item, deliveries, call_sent)
    receipt = await _find_in_thread_or_channel(store, item, deliveries, post)
    if receipt is None and item.message_state == "edited":
        receipt = await _find_in_thread_or_channel(store, item, deliveries, post, changed=True)
    return receipt


async def _find_in_thread_or_channel(
    store: MessageStore,
    item: OutboxItem,
    deliveries: Deliveries,
    post: Call,
    *,
    changed: bool = False,
) -> Receipt | None:
    """Look in the post's thread, then in the channel: the post went there if its thread is gone."""
    receipt = None
    try:
        receipt = await _find_in_place(store, item, deliveries, post, changed=changed)
    except NotFound:
        if post.thread is None:
            raise
    if receipt is None and post.thread is not None:
        bare = post.model_copy(update={"thread": None})
        receipt = await _find_in_place(store, item, deliveries, bare, changed=changed)
    return receipt


async def _find_in_place(
    store: MessageStore, item: OutboxItem, deliveries: Deliveries, post: Call, *, changed: bool
) -> Receipt | None:
    """Look in one place, past the posts that are known to show another message, or another part of
    this one, however alike they are."""
    operation = item.delivery.operation
    parts = {copy.native_id for copy in item.delivery.copies}
    after = item.delivery.copies[-1].native_id if item.delivery.copies else item.after
    if isinstance(operation, EditMessage):
        after = None  # its copies may be old, and other posts have come since
    while True:
        receipt = await deliveries.find(post, after, since=item.created, changed=changed)
        if receipt is None:
            return None
        shown_id = await store.resolve(operation.channel, receipt.native_id)
        if shown_id is None or (shown_id == operation.message and receipt.native_id not in parts):
            return receipt
        after = receipt.native_id


# --- duplicates -------------------------------------------------------------------------------


@dataclass
class _Resent:
    operation: Operation
    native_ids: dict[int, set[str]] = field(default_factory=dict[int, set[str]])


class DuplicateRemover:
    """Remembers the operations that were sent again because they were not found, and deletes the
    later copy where both arrive.

    Only posts that come back with their operation's id are certain: elsewhere two equal posts may
    be two messages, and nothing is deleted.
    """

    def __init__(
        self,
        store: MessageStore,
        connectors: Mapping[AccountId, Connector],
        rate_limits: RateLimits,
        in_flight: InFlightCalls,
        clock: Clock,
        timeouts: Timeouts,
    ) -> None:
        self._store = store
        self._connectors = connectors
        self._rate_limits = rate_limits
        self._in_flight = in_flight
        self._clock = clock
        self._timeouts = timeouts
        self._resent: OrderedDict[OperationId, _Resent] = OrderedDict()
        self._tasks: set[asyncio.Task[None]] = set()

    def sent_again(self, operation: Operation) -> None:
        """The operation was looked for and not found; it may arrive twice from now on."""
        self._resent.setdefault(operation.id, _Resent(operation))
        if len(self._resent) > _REMEMBERED:
            self._resent.popitem(last=False)

    def echo_received(self, operation: OperationId, receipt: Receipt) -> None:
        """A post of this operation came back from the platform."""
        resent = self._resent.get(operation)
        if resent is None:
            return
        native_ids = resent.native_ids.setdefault(receipt.slot, set())
        native_ids.add(receipt.native_id)
        if len(native_ids) > 1:
            task = asyncio.create_task(self._delete_surplus(resent, receipt.slot), name="double")
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Stop; surplus copies that stand stay."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _delete_surplus(self, resent: _Resent, slot: int) -> None:
        operation = resent.operation
        connector = self._connectors.get(operation.account)
        copies_by_id: dict[str, Receipt] = {}
        for _ in range(_LOOKS):
            await self._clock.sleep(self._timeouts.settle_grace)
            copies = await self._store.copies(operation.message, operation.channel)
            if copies_by_id := {copy.native_id: copy for copy in copies if copy.slot == slot}:
                break
        stored = await self._store.message(operation.message)
        if connector is None or stored is None or not copies_by_id:
            return
        for native_id in sorted(resent.native_ids[slot] - set(copies_by_id)):
            if await self._store.resolve(operation.channel, native_id) is not None:
                continue
            resent.native_ids[slot].discard(native_id)
            copy = next(iter(copies_by_id.values())).model_copy(update={"native_id": native_id})
            deletion = DeleteMessage(
                id=OperationId(f"{operation.id} double"), account=operation.account,
                channel=operation.channel, room=operation.room, message=operation.message,
            )  # fmt: skip
            delivery = Delivery(operation=deletion, message=stored.message, copies=(copy,))
            try:
                await self._send(connector, delivery)
            except BridgeError as error:
                log.warning(
                    "duplicate_removal_failed", account=operation.account,
                    channel=operation.channel.key, operation=operation.id, error=str(error),
                )  # fmt: skip
            else:
                log.warning(
                    "duplicate_removed", account=operation.account,
                    channel=operation.channel.key, operation=operation.id, native_id=native_id,
                )  # fmt: skip

    async def _send(self, connector: Connector, delivery: Delivery) -> None:
        for call in connector.encode(delivery).calls:
            async with self._rate_limits.permission(
                connector.account, call.rate_limits, Priority.FINAL_EDIT
            ):
                await self._in_flight.make(connector, call, self._timeouts)
