"""One lane: the ordered queue of one destination channel, and the steps that its oldest operation
passes until the platform has it or it is given up."""

from __future__ import annotations

import asyncio
from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Protocol

import structlog

from bridge.errors import (
    AuthFailed,
    BridgeError,
    NotOpen,
    RateLimited,
    Refused,
    TokenRefused,
    Unsettled,
)
from bridge.model import (
    AccountId,
    DeleteMessage,
    EditMessage,
    LaneId,
    MessageId,
    Operation,
    OperationId,
    PostMessage,
    ReactionOrPin,
    Receipt,
)
from bridge.model.outbox_records import OutboxItem, Settlement
from bridge.model.refs import is_notice
from bridge.ports.clock import Clock
from bridge.ports.connector import Connector
from bridge.ports.store.messages import MessageStore
from bridge.ports.store.outbox import OutboxStore
from bridge.router.outbound.encoding import NotEncodable
from bridge.router.outbound.outcomes import (
    Again,
    Attempt,
    Delivered,
    Done,
    Failed,
    OperationEnds,
    Outcome,
    Retry,
    Wait,
    cancelled,
    dead,
    public_fault,
)
from bridge.router.outbound.send import Sender
from bridge.router.outbound.settle import Doubt, Echoes, Settler
from bridge.router.rooms.rooms import Rooms
from bridge.router.runtime import metrics
from bridge.router.runtime.timeouts import Timeouts

log = structlog.get_logger()

_MOST_ASIDE = 3  # failing operations that let others go first in one round


class LanesStore(MessageStore, OutboxStore, Protocol):
    """What the lanes need of the store."""


@dataclass(frozen=True)
class LaneParts:
    """What all lanes share: each part does one kind of step; a lane decides which is next."""

    store: LanesStore
    connectors: Mapping[AccountId, Connector]
    checks: SendingChecks
    sender: Sender
    settler: Settler
    ends: OperationEnds
    clock: Clock
    timeouts: Timeouts


@dataclass(frozen=True)
class _Aside:
    """A failing operation that lets others go first, and its last error."""

    operation: OperationId
    error: str


@dataclass(frozen=True)
class SendingChecks:
    """Whether operations may be sent. `stopped` are the accounts through which nothing is sent now
    but the bridge's own notices."""

    rooms: Rooms
    stopped: Container[AccountId]
    clock: Clock

    def is_stopped(self, operation: Operation) -> bool:
        """Whether the operation's account is stopped, and the operation shows no notice."""
        return operation.account in self.stopped and not is_notice(operation.message)

    def accepts(self, operation: Operation) -> bool:
        """Whether the operation's channel, if it is a direct one, still takes messages; deletions
        reach it always."""
        if isinstance(operation, DeleteMessage):
            return True
        return self.rooms.accepts_direct(operation.room, operation.account, operation.channel)

    def reason_to_give_up(self, item: OutboxItem) -> str:
        """Return why an operation that waited is not sent any more; empty where it is. It waited
        for too long, or its channel left the room, whose options would not apply. The bridge's own
        notices are sent."""
        operation = item.delivery.operation
        has_words = isinstance(operation, PostMessage | EditMessage)
        is_relayed = has_words and not is_notice(operation.message)
        if is_relayed and (left := self.rooms.left(operation.room, operation.channel)):
            return left
        options = self.rooms.altering(operation.room, operation.channel)
        if options is None or not isinstance(operation, PostMessage) or item.delivery.copies:
            return ""
        return options.lateness_error(self.clock.time() - item.created)


class Lane:
    """Sends the operations of one channel, one after the other, and ends when none is open.

    - `_echoes`: our own posts that came back while the lane ran, by operation and slot.
    - `_doubt`: the last call, while nobody knows whether it arrived.
    - `_has_more`: something was queued, or changed, since the lane looked.
    - `_urged`: set when an operator wants the next attempt now.
    - `_failing`: when each failing operation first failed.
    - `_aside`: the failing operations that let those behind them go first in this round.
    - `_proved`: those among them behind which the platform accepted another one.
    """

    def __init__(self, lane: LaneId, parts: LaneParts) -> None:
        self._lane = lane
        self._with = parts
        self._closing = asyncio.Event()
        self._wake = asyncio.Event()
        self._has_more = False
        self._urged = asyncio.Event()
        self._echoes: Echoes = {}
        self._doubt: Doubt | None = None
        self._failing: dict[OperationId, float] = {}
        self._aside: dict[MessageId, _Aside] = {}
        self._proved: set[OperationId] = set()

    # --- what others tell the lane ------------------------------------------------------------

    def wake(self) -> None:
        """Look at the store again: something in the lane is new."""
        self._has_more = True
        self._wake.set()

    def queued(self) -> None:
        """An operation was queued behind all others. It changes none of them: the one that is under
        way goes on, and one that waits need not be looked at again."""
        self._has_more = True

    def close(self) -> None:
        """End after the call that is under way."""
        self._closing.set()
        self._wake.set()

    def echo_received(self, operation: OperationId, receipt: Receipt) -> None:
        """A post of this operation came back from the platform: it arrived."""
        self._echoes[operation, receipt.slot] = receipt
        self._wake.set()

    def unknown_echo_received(self) -> None:
        """A post of ours came back, and nobody knows which: a lookup that waits happens now."""
        if self._doubt is not None:
            self._wake.set()

    def hasten(self, operation: OperationId) -> None:
        """An operator wants the next attempt now; earlier failures of the operation do not count
        any more."""
        self._failing.pop(operation, None)
        self._urged.set()

    def was_skipped(self, operation: OperationId) -> None:
        """An operator gave the operation up: nobody needs to know any more what became of it."""
        if self._doubt is not None and self._doubt.call.operation == operation:
            self._doubt = None

    # --- the loop -----------------------------------------------------------------------------

    async def run(self, first: OutboxItem | None) -> None:
        """Work until nothing is open; `wake` tells of what is queued while the lane looks. `first`
        is the only operation, where the caller knows it."""
        failures = 0
        while not self._closing.is_set():
            item = None if self._wake.is_set() else first
            is_alone = item is not None and not self._has_more
            first = None
            self._wake.clear()
            self._has_more = False
            try:
                item = item or await self._head()
                if item is None:
                    if self._aside or self._has_more:
                        self._aside.clear()
                        continue
                    return
                ended = await self._advance(item)
                failures = 0
                if ended and is_alone and not self._has_more:
                    return
            except NotOpen as error:  # it was cancelled while we looked at it
                log.info("operation_cancelled", lane=self._lane, error=str(error))
            except Exception as error:
                failures += 1
                log.exception("lane_failed", lane=self._lane, error=str(error))
                if item is None or not await self._gave_up(item, error):
                    await self._with.clock.sleep(self._with.timeouts.backoff(failures))

    async def _head(self) -> OutboxItem | None:
        return await self._with.store.head(self._lane, besides=tuple(self._aside))

    async def _gave_up(self, item: OutboxItem, error: Exception) -> bool:
        """Give up an operation that keeps failing in ways that no connector should have. False
        where it may be tried again, and where the store did not take the end."""
        if not self._is_hopeless(item, error):
            return False
        try:
            await self._end(item, dead(item, public_fault(error)), error)
        except NotOpen as over:  # it was cancelled meanwhile
            log.info("operation_cancelled", lane=self._lane, error=str(over))
        except Exception as failed:
            log.exception("lane_failed", lane=self._lane, error=str(failed))
            return False
        return True

    def _is_hopeless(self, item: OutboxItem, error: Exception) -> bool:
        tried_often = item.attempts + 1 >= self._with.timeouts.odd_failures
        return tried_often and not isinstance(error, BridgeError)

    async def _pause(self, wake: asyncio.Event, seconds: float) -> None:
        """Sleep, but not through a wake-up."""
        sleeping = asyncio.ensure_future(self._with.clock.sleep(seconds))
        woken = asyncio.ensure_future(wake.wait())
        try:
            await asyncio.wait({sleeping, woken}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleeping.cancel()
            woken.cancel()

    # --- the steps of one operation -------------------------------------------------------------

    async def _advance(self, item: OutboxItem) -> bool:
        """Take one step with the operation, and write what came of it. Returns whether it is over
        with that."""
        try:
            outcome = await self._step(item)
        except NotEncodable as error:  # it is given up, so that the lane goes on
            outcome = dead(item, f"it cannot be encoded: {public_fault(error.reason)}")
        await self._apply(outcome, item)
        return isinstance(outcome, Done | Settlement)

    async def _step(self, item: OutboxItem) -> Outcome:
        """The first of these steps that applies."""
        operation, parts = item.delivery.operation, self._with
        connector = parts.connectors.get(operation.account)
        if connector is None:
            return dead(item, f"account {operation.account!r} is no longer configured")
        if parts.checks.is_stopped(operation) and not self._is_in_doubt(item):
            return await self._send_a_notice(item)
        attempt = Attempt(item, connector, self._wake, self._head, self._closing)
        wait = self._seconds_until_due(item)
        if isinstance(operation, ReactionOrPin):
            if item.post_open:  # the end of the post wakes the lane, too
                wait = max(wait, parts.timeouts.reaction_wait)
            return Wait(wait) if wait > 0 else await parts.sender.send_reaction(attempt, operation)
        if self._is_in_doubt(item):
            return await self._settle(attempt)
        if wait > 0:
            return Wait(wait)
        if not parts.checks.accepts(operation):
            return cancelled(item, "the recipient accepts no direct messages any more")
        if reason := parts.checks.reason_to_give_up(item):
            return dead(item, reason)
        if item.message_state == "deleted" and isinstance(operation, PostMessage):
            # It was thought to be on its way when it was deleted, and never arrived.
            return cancelled(item, "deleted before it was sent")
        return await parts.sender.send(attempt)

    async def _apply(self, outcome: Outcome, item: OutboxItem) -> None:
        """Write what came of a step."""
        operation, store = item.delivery.operation, self._with.store
        match outcome:
            case Done():
                if outcome.accepted:
                    await self._accepted(operation)
                self._forget(operation)
                await self._with.ends.write_done(outcome)
            case Settlement():
                await self._end(item, outcome)
            case Failed():
                await self._failed(outcome)
            case Retry():
                await self._retry(item, outcome)
            case Delivered():
                await self._accepted(operation)
                await self._with.ends.record(operation.id, outcome.receipt)
                await store.postpone(operation.id, 0.0, "")
            case Again():
                await store.postpone(operation.id, 0.0, outcome.reason)
            case Wait(urged=True):
                self._urged.clear()
                await self._pause(self._urged, outcome.seconds)
            case Wait():
                await self._pause(self._wake, outcome.seconds)
            case None:
                pass

    async def _settle(self, attempt: Attempt) -> Outcome:
        """Nobody knows whether the last call arrived: find out before the lane goes on."""
        outcome = await self._with.settler.settle(attempt, self._doubt, self._echoes)
        if not isinstance(outcome, Wait):
            self._doubt = None
        return outcome

    async def _send_a_notice(self, item: OutboxItem) -> Outcome:
        """The account is stopped: only the bridge's own notices are sent."""
        await self._with.sender.give_back(item.delivery.operation.id)
        notice = await self._with.store.notice(self._lane)
        if notice is None:
            return Wait(self._with.timeouts.stopped_look)
        await self._advance(notice)
        return None

    async def _end(
        self, item: OutboxItem, settlement: Settlement, error: Exception | None = None
    ) -> None:
        self._forget(item.delivery.operation)
        await self._with.ends.write(item.delivery.operation, settlement, item, error)

    def _forget(self, operation: Operation) -> None:
        self._failing.pop(operation.id, None)
        self._proved.discard(operation.id)

    def _seconds_until_due(self, item: OutboxItem) -> float:
        """What is tried in place of a failing operation is tried now."""
        return 0.0 if self._aside else item.due - self._with.clock.time()

    def _is_in_doubt(self, item: OutboxItem) -> bool:
        began = item.state == "sending"
        return began and not self._with.sender.is_queued_as_begun(item.delivery.operation.id)

    # --- failures -------------------------------------------------------------------------------

    async def _failed(self, failed: Failed) -> None:
        """Decide what an error means: try the operation again, settle it first, or give it up."""
        item, call, error = failed.item, failed.call, failed.error
        operation, timeouts = item.delivery.operation, self._with.timeouts
        auth_pause = min(timeouts.auth_pause, timeouts.backoff(item.attempts))
        match error:
            case RateLimited():
                self._with.sender.block_limits(operation.account, call, error)
                await self._retry_in_order(item, error, 0.0, "rate_limited")
            case TokenRefused():
                self._aside.clear()
                await self._retry_in_order(item, error, auth_pause, "token_refused")
            case AuthFailed():
                await self._retry(item, Retry(error, "auth_failed", item.attempts, auth_pause))
            case Unsettled():
                log.warning(
                    "operation_unsettled",
                    lane=operation.lane,
                    operation=operation.id,
                    error=str(error),
                )
                self._doubt = Doubt(call, error, self._with.clock.time())
                metrics.RETRIED.labels(operation.account, "unsettled").inc()
            case Refused():
                await self._end(item, dead(item, str(error)), error)
            case _:
                await self._retry(item, Retry(error, "unavailable", item.attempts))

    async def _retry(self, item: OutboxItem, retry: Retry) -> None:
        """Try the operation again after a pause, or give it up: after `retry_for` in any case,
        earlier where the lane's other operations show that the platform refuses this one alone."""
        operation, timeouts, error = item.delivery.operation, self._with.timeouts, retry.error
        now = self._with.clock.time()
        since = self._failing.setdefault(operation.id, now)
        if operation.id in self._proved:
            reason = f"{error}; given up: the platform took what was sent after it"
            await self._end(item, dead(item, reason), error)
        elif self._is_too_old(item, retry.attempts):
            reason = f"{error}; given up after {retry.attempts + 1} attempts"
            await self._end(item, dead(item, reason), error)
        else:
            pause = timeouts.backoff(retry.attempts) if retry.pause is None else retry.pause
            await self._postpone(operation, error, pause, retry.reason)
            if self._aside or now - since >= timeouts.retry_alone_for:
                self._let_others_go_first(operation, str(error))

    async def _retry_in_order(
        self, item: OutboxItem, error: BridgeError, pause: float, reason: str
    ) -> None:
        """Try the operation again before those behind it, which would fail as well; after
        `retry_for` it is given up."""
        operation = item.delivery.operation
        if self._is_too_old(item, item.attempts):
            given_up = f"{error}; given up after {item.attempts + 1} attempts"
            await self._end(item, dead(item, given_up), error)
        else:
            await self._postpone(operation, error, pause, reason)

    async def _postpone(
        self, operation: Operation, error: BridgeError, pause: float, reason: str
    ) -> None:
        log.warning(
            "operation_postponed",
            lane=operation.lane,
            operation=operation.id,
            why=reason,
            error=str(error),
        )
        metrics.RETRIED.labels(operation.account, reason).inc()
        until = self._with.clock.time() + pause if pause else 0.0
        await self._with.store.postpone(operation.id, until, str(error))

    def _is_too_old(self, item: OutboxItem, attempts: int) -> bool:
        """Whether it has been tried often and for long enough; `attempts` before this failure."""
        timeouts = self._with.timeouts
        is_reaction = isinstance(item.delivery.operation, ReactionOrPin)
        limit = timeouts.retry_reactions_for if is_reaction else timeouts.retry_for
        age = self._with.clock.time() - item.created
        return attempts + 1 >= timeouts.odd_failures and age >= limit

    def _let_others_go_first(self, operation: Operation, error: str) -> None:
        """The operations behind a failing one tell whether its request or its channel is at fault:
        a few of them are tried once in each round, after it has failed once more. Where all of
        them fail, the channel waits for its platform, in order."""
        if len(self._aside) >= _MOST_ASIDE:
            self._aside.clear()
        else:
            self._aside[operation.message] = _Aside(operation.id, error)

    async def _accepted(self, operation: Operation) -> None:
        """The platform accepted this operation while those before it failed: each of them is tried
        a last time."""
        failing = [aside for aside in self._aside.values() if aside.operation != operation.id]
        self._aside.clear()
        for aside in failing:
            self._proved.add(aside.operation)
            await self._with.store.postpone(aside.operation, 0.0, aside.error)
