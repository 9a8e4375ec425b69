"""Makes the calls of one operation, in order: permission, begin, call, record, the next call.

`InFlightCalls` makes each with a deadline, and knows which are under way: a connector is closed
when its last call has its answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import structlog

from bridge.errors import (
    BridgeError,
    FormRefused,
    NotFound,
    RateLimited,
    Refused,
    StoreError,
    Unavailable,
    Unsettled,
)
from bridge.model import (
    AccountId,
    Call,
    EditMessage,
    Loss,
    NoteReactions,
    OperationId,
    PinMessage,
    PostMessage,
    ReactionOrPin,
    Receipt,
    UnpinMessage,
)
from bridge.model.outbox_records import OutboxItem
from bridge.ports.cluster import Cluster
from bridge.ports.connector import Connector
from bridge.ports.store.outbox import OutboxStore
from bridge.router.outbound.encoding import Encoding
from bridge.router.outbound.fallback import fallbacks, in_new_thread, out_of_thread
from bridge.router.outbound.outcomes import (
    Attempt,
    Done,
    Failed,
    OperationEnds,
    Outcome,
    Retry,
    cancelled,
)
from bridge.router.outbound.own_posts import OwnPosts
from bridge.router.outbound.rate_limits import Priority, RateLimits, Withdrawn
from bridge.router.runtime.timeouts import Timeouts
from bridge.router.signals import Signal

log = structlog.get_logger()


class InFlightCalls:
    """`connectors` are those that send now; they change when the configuration does."""

    def __init__(
        self, connectors: Mapping[AccountId, Connector], cluster: Cluster, own_posts: OwnPosts
    ) -> None:
        self._connectors = connectors
        self._cluster = cluster
        self._own_posts = own_posts
        self._calls: dict[Connector, set[asyncio.Future[None]]] = {}

    async def make(self, connector: Connector, call: Call, timeouts: Timeouts) -> Receipt:
        """Make one call; files lengthen its deadline. Raises Unsettled when the deadline passes,
        Unavailable for a replaced connector, and what the connector raises."""
        size = sum(file.size for file in call.files)
        deadline = timeouts.send_deadline + size / timeouts.upload_pace
        try:
            with self.call(connector):
                self._own_posts.note_call(call)
                async with asyncio.timeout(deadline):
                    receipt = await connector.send(call)
        except TimeoutError:
            raise Unsettled(
                f"{call.method} to {call.channel} had no answer within {deadline:g} s", late=True
            ) from None
        self._own_posts.note_answer(call, receipt)
        return receipt

    @contextmanager
    def call(self, connector: Connector) -> Generator[None]:
        """One call is under way inside this context. Raises Unavailable for a connector that was
        replaced, and for a process that others may hold for dead: their successors send what is
        left."""
        if not self._cluster.is_alive:
            raise Unavailable("this process was stopped for too long, so that others work for it")
        if self._connectors.get(connector.account) is not connector:
            raise Unavailable(f"account {connector.account!r} has just changed")
        over = asyncio.get_running_loop().create_future()
        calls = self._calls.setdefault(connector, set())
        calls.add(over)
        try:
            yield
        finally:
            over.set_result(None)
            calls.discard(over)
            if not calls:
                self._calls.pop(connector, None)

    async def until_answered(self, connector: Connector, seconds: float) -> None:
        """Wait until the connector's calls have their answers, `seconds` at most."""
        if calls := self._calls.get(connector):
            await asyncio.wait(calls, timeout=seconds)


@dataclass
class _Progress:
    """The calls of one operation, what they could not carry, and the receipts so far."""

    calls: Sequence[Call]
    losses: list[Loss]
    receipts: list[Receipt] = field(default_factory=list[Receipt])

    @property
    def next_call(self) -> Call:
        return self.calls[len(self.receipts)]

    def replace_next_call(self, call: Call) -> None:
        index = len(self.receipts)
        self.calls = (*self.calls[:index], call, *self.calls[index + 1 :])


class Sender:
    """Sends posts, edits, deletions, reactions and pins.

    `reaction_not_shown` is emitted for a reaction or a pin that the platform does not show.
    """

    def __init__(
        self,
        store: OutboxStore,
        ends: OperationEnds,
        encoding: Encoding,
        rate_limits: RateLimits,
        in_flight: InFlightCalls,
        timeouts: Timeouts,
        reaction_not_shown: Signal[ReactionOrPin],
    ) -> None:
        self._store = store
        self._ends = ends
        self._encoding = encoding
        self._rate_limits = rate_limits
        self._in_flight = in_flight
        self._timeouts = timeouts
        self._queued_as_begun: set[OperationId] = set()
        self._reaction_not_shown = reaction_not_shown

    def queue_as_begun(self, operation: OperationId) -> None:
        """Note that the store holds this operation as `sending` from the start, which saves a
        COMMIT."""
        self._queued_as_begun.add(operation)

    def is_queued_as_begun(self, operation: OperationId) -> bool:
        """Whether no call was made yet for an operation that the store holds as `sending`."""
        return operation in self._queued_as_begun

    def forget(self, operation: OperationId) -> None:
        """Forget an operation that was queued as begun, and is not in the store."""
        self._queued_as_begun.discard(operation)

    def block_limits(self, account: AccountId, call: Call, error: RateLimited) -> None:
        """Give no permission under the limits that the platform named; where it named none, under
        the call's narrowest."""
        keys = [key for key in call.rate_limits if key.rule in error.scope] or call.rate_limits[:1]
        self._rate_limits.block(account, keys, error.retry_after)

    # --- posts, edits and deletions ---------------------------------------------------------------

    async def send(self, attempt: Attempt) -> Outcome:
        """Make the calls of the operation. Raises StoreError, and NotEncodable."""
        item = attempt.item
        if item.state == "sending" and attempt.operation.id in self._queued_as_begun:
            item = replace(item, state="waiting", attempts=item.attempts - 1)
            attempt = replace(attempt, item=item)
        try:
            return await self._attempt(attempt)
        finally:
            await self.give_back(attempt.operation.id)

    async def give_back(self, operation: OperationId) -> None:
        """Mark an operation that was queued as begun as waiting, if no call was made for it: after
        a crash, nobody needs to look for it then."""
        if operation in self._queued_as_begun:
            self._queued_as_begun.discard(operation)
            await self._store.postpone(operation, 0.0, "")

    async def _attempt(self, attempt: Attempt) -> Outcome:
        item = attempt.item
        encoded = await self._encoding.encode(item.delivery, attempt.connector)
        progress = _Progress(encoded.calls, [*encoded.losses])
        try:
            if not await self._make_calls(attempt, progress):
                return None
        except Withdrawn:
            return None
        except StoreError:
            raise
        except BridgeError as error:
            call = progress.next_call
            if isinstance(error, NotFound) and (anew := await in_new_thread(attempt, call)):
                return await self._attempt(replace(attempt, item=anew))
            return Failed(item, call, error)
        self._encoding.forget_edits(item.delivery)
        receipts, losses = tuple(progress.receipts), tuple(progress.losses)
        findable = attempt.connector.abilities.deliveries is not None
        return Done(item, receipts, losses, accepted=bool(receipts), patient=findable)

    async def _make_calls(self, attempt: Attempt, progress: _Progress) -> bool:
        """Make one call after the other, each with permission; False when the lane is to end before
        the first. Raises Withdrawn when it is to end while the first waits for permission."""
        operation, urgency = attempt.operation, _urgency(attempt.item)
        keys = progress.calls[0].rate_limits if progress.calls else ()
        async with self._rate_limits.permission(
            operation.account, keys, urgency, unless=attempt.closing
        ):
            if attempt.closing.is_set():
                return False
            await self._begin(operation.id)
            if attempt.wake.is_set():
                await self._bring_up_to_date(attempt, progress)
            if progress.calls:
                await self._make_next_call(attempt, progress)
        while len(progress.receipts) < len(progress.calls):
            await self._ends.record(operation.id, progress.receipts[-1])
            keys = progress.next_call.rate_limits
            async with self._rate_limits.permission(operation.account, keys, urgency):
                await self._make_next_call(attempt, progress)
        return True

    async def _begin(self, operation: OperationId) -> None:
        if operation in self._queued_as_begun:
            self._queued_as_begun.discard(operation)
        else:
            await self._store.begin(operation)

    async def _bring_up_to_date(self, attempt: Attempt, progress: _Progress) -> None:
        """Encode the message again if it changed while the sender waited for permission: a change
        after `begin` is queued as an operation of its own."""
        item, now = attempt.item, await attempt.read_again()
        if now is None:
            return
        # A message that grows may be whole by now; a thread that is gone does not come back.
        if now.delivery.message != item.delivery.message or attempt.operation.grows:
            delivery = out_of_thread(now.delivery) if item.thread_missing else now.delivery
            encoded = await self._encoding.to_send(delivery, attempt.connector)
            progress.calls, progress.losses = encoded.calls, [*encoded.losses]

    async def _make_next_call(self, attempt: Attempt, progress: _Progress) -> None:
        call = progress.next_call
        try:
            receipt = await self._in_flight.make(attempt.connector, call, self._timeouts)
        except Refused as error:
            receipt = await self._fall_back(attempt, progress, error)
        progress.receipts.append(receipt)
        if attempt.operation.grows:
            self._encoding.edits.note(attempt.connector.account, call)

    async def _fall_back(self, attempt: Attempt, progress: _Progress, error: Refused) -> Receipt:
        """Send what the platform refused in another way, so that the rest of the message is not
        lost with it. Raises the last refusal where no way is accepted."""
        operation, connector = attempt.operation, attempt.connector
        for fallback in fallbacks(self._encoding, attempt.item.delivery, connector, error):
            call = await fallback.rewrite(progress.next_call)
            if call is None:
                continue
            log.warning(
                "fallback_used",
                lane=operation.lane,
                operation=operation.id,
                why=fallback.kind,
                error=str(error),
            )
            progress.losses.append(fallback.loss(error))
            progress.replace_next_call(call)
            urgency = _urgency(attempt.item)
            try:
                async with self._rate_limits.permission(
                    operation.account, call.rate_limits, urgency
                ):
                    return await self._in_flight.make(connector, call, self._timeouts)
            except Refused as refused_again:
                error = refused_again
        raise error

    # --- reactions and pins -----------------------------------------------------------------------

    async def send_reaction(self, attempt: Attempt, operation: ReactionOrPin) -> Outcome:
        """Add a reaction or a pin to the copy in its channel, or remove it. To do that twice
        changes nothing, so the lane repeats an operation whose outcome is unknown. Raises
        StoreError, and NotEncodable."""
        if isinstance(operation, NoteReactions):
            await self._store.begin(operation.id)  # a later reaction belongs to the next note
            await self._reaction_not_shown.emit(operation)
            return Done(attempt.item)
        if not attempt.item.delivery.copies:
            return cancelled(attempt.item, "the message does not stand there")
        encoded = await self._encoding.encode(attempt.item.delivery, attempt.connector)
        losses = [*encoded.losses]
        for call in encoded.calls:
            try:
                async with self._rate_limits.permission(
                    operation.account, call.rate_limits, Priority.REACTION, unless=attempt.closing
                ):
                    if attempt.closing.is_set() or await self._is_taken_back(attempt):
                        return None
                    await self._store.begin(operation.id)
                    await self._in_flight.make(attempt.connector, call, self._timeouts)
            except Withdrawn:
                return None
            except FormRefused as error:
                losses.append(
                    Loss(path="", kind="mark_refused", what=str(error), shown_as="a note")
                )
            except StoreError:
                raise
            except Unsettled as error:
                return Retry(error, "unsettled", attempt.item.attempts)
            except BridgeError as error:
                return Failed(attempt.item, call, error)
        if losses and isinstance(operation, PinMessage | UnpinMessage):
            await self._reaction_not_shown.emit(operation)
        return Done(attempt.item, losses=tuple(losses), accepted=bool(encoded.calls))

    async def _is_taken_back(self, attempt: Attempt) -> bool:
        """Whether the reaction was withdrawn while the sender waited for permission."""
        return attempt.wake.is_set() and await attempt.read_again() is None


def _urgency(item: OutboxItem) -> Priority:
    operation = item.delivery.operation
    if isinstance(operation, PostMessage):
        return Priority.POST
    return Priority.FINAL_EDIT if isinstance(operation, EditMessage) else Priority.REACTION
