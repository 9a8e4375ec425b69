"""What a lane gives to the step that attempts an operation, what the step returns, and how the end
of an operation is written."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

import structlog

from bridge.errors import BridgeError, NotOpen, StoreError
from bridge.model import (
    AddReaction,
    Call,
    EditMessage,
    Loss,
    MessageId,
    NoteReactions,
    Operation,
    OperationId,
    PostMessage,
    Receipt,
    RemoveReaction,
)
from bridge.model.outbox_records import DeadLetter, OutboxItem, Settlement
from bridge.ports.clock import Clock
from bridge.ports.connector import Connector
from bridge.ports.store.outbox import OutboxStore
from bridge.ports.traces import Tracer
from bridge.router.runtime import metrics
from bridge.router.runtime.timeouts import Timeouts
from bridge.router.runtime.traces import operation_span
from bridge.router.signals import OperationEnded, Signal

log = structlog.get_logger()


@dataclass(frozen=True)
class Attempt:
    """One attempt at the oldest open operation of a lane.

    - `item`: the operation as the lane read it from the store.
    - `wake`: set when something in the lane has changed since.
    - `head`: reads the oldest open operation of the lane again.
    - `closing`: set when the router stops; no call begins then.
    """

    item: OutboxItem
    connector: Connector
    wake: asyncio.Event
    head: Callable[[], Awaitable[OutboxItem | None]]
    closing: asyncio.Event

    @property
    def operation(self) -> Operation:
        return self.item.delivery.operation

    async def read_again(self) -> OutboxItem | None:
        """The operation as it is in the store now; None when another one is the oldest."""
        head = await self.head()
        return head if head and head.delivery.operation.id == self.operation.id else None


# --- what a step returns ----------------------------------------------------------------------


@dataclass(frozen=True)
class Done:
    """All calls of the operation were made. `item` is the operation as it was sent; `accepted`:
    the platform accepted at least one call; `patient`: after a crash the platform can be asked for
    it, so that its end need not be written at once."""

    item: OutboxItem
    receipts: tuple[Receipt, ...] = ()
    losses: tuple[Loss, ...] = ()
    accepted: bool = False
    patient: bool = False


@dataclass(frozen=True)
class Failed:
    """A call raised an error; the lane decides what the error means for the operation."""

    item: OutboxItem
    call: Call
    error: BridgeError


@dataclass(frozen=True)
class Retry:
    """The operation is to be tried again after a pause. `reason` labels the metric; `attempts`
    counts those before the failed one; `pause` is in seconds, None for the usual backoff."""

    error: BridgeError
    reason: str
    attempts: int
    pause: float | None = None


@dataclass(frozen=True)
class Delivered:
    """A post whose answer was lost stands on the platform, with this receipt."""

    receipt: Receipt


@dataclass(frozen=True)
class Again:
    """The operation is to be tried again at once; `reason` is kept as its last error."""

    reason: str


@dataclass(frozen=True)
class Wait:
    """Nothing can be done for `seconds`. News of the lane end the wait, or, where it is `urged`,
    an operator alone."""

    seconds: float
    urged: bool = False


# None: the step stopped before it called the platform, and nothing is to be written.
Outcome = Done | Failed | Retry | Delivered | Again | Wait | Settlement | None


# --- how operations end -----------------------------------------------------------------------


def dead(item: OutboxItem, error: str) -> Settlement:
    """The end of an operation that is given up."""
    operation = item.delivery.operation
    log.error("operation_dead", lane=operation.lane, operation=operation.id, error=error)
    return Settlement(operation.id, "dead", error=error)


def cancelled(item: OutboxItem, error: str) -> Settlement:
    """The end of an operation that nobody wants any more."""
    return Settlement(item.delivery.operation.id, "cancelled", error=error)


def unproved(item: OutboxItem) -> Settlement:
    """The end of a post whose answer was lost and that nobody can look for."""
    error = (
        "the answer was lost, and this platform cannot be asked whether the post arrived; "
        "look there; if it is missing, replay it with: uacs-bridge dead-letters replay"
    )
    operation = item.delivery.operation
    log.warning("operation_unproved", lane=operation.lane, operation=operation.id)
    return Settlement(operation.id, "unproved", error=error)


def skipped(letter: DeadLetter) -> Settlement:
    """The end of an operation that an operator gives up."""
    last_error = f": {letter.error}" if letter.error else ""
    return Settlement(letter.operation.id, "dead", error=f"skipped by an operator{last_error}")


def public_fault(error: Exception) -> str:
    """What people in the room are told. The bridge's own errors are written for people; others may
    show addresses, paths or keys, which belong in the log alone."""
    return (
        error.public if isinstance(error, BridgeError) else f"{type(error).__name__}; see the log"
    )


class OperationEnds:
    """Writes what a platform did to the store: the receipts of an operation, and its end, which it
    counts and reports.

    A write that the store refuses is made again until the store takes it. The operation cannot be
    attempted again instead: its post may stand on a platform that nobody can ask for it.
    """

    def __init__(
        self,
        store: OutboxStore,
        clock: Clock,
        timeouts: Timeouts,
        ended: Signal[OperationEnded],
        tracer: Tracer | None = None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._timeouts = timeouts
        self._ended = ended
        self._tracer = tracer

    async def record(self, operation: OperationId, receipt: Receipt) -> None:
        """Keep the receipt of a call of an operation that has not ended. Raises NotOpen."""
        await self._until_stored(partial(self._store.record, operation, [receipt]))

    async def write(
        self,
        operation: Operation,
        settlement: Settlement,
        item: OutboxItem | None = None,
        error: Exception | None = None,
        *,
        patient: bool = False,
    ) -> None:
        """End the operation. `item`: it as it was attempted; `error`: why it is given up;
        `patient`: as for `OutboxStore.settle`. Raises NotOpen, and what a listener raises."""
        await self._until_stored(partial(self._store.settle, settlement, patient=patient))
        metrics.SETTLED.labels(operation.account, settlement.state).inc()
        if self._tracer is not None and item is not None:
            self._tracer.record(operation_span(item, settlement, error, self._clock.time()))
        await self._ended.emit(OperationEnded(operation, settlement.state))

    async def write_done(self, done: Done) -> None:
        """End an operation that reached the platform, and count what was lost on the way."""
        operation, losses = done.item.delivery.operation, done.losses
        thread_of = _root_of_new_thread(done.item)
        if thread_of is not None:
            missing = Loss(
                path="", kind="thread_root_missing", what="the thread's first message",
                shown_as="this message begins the thread here",
            )  # fmt: skip
            losses = (*losses, missing)
        settlement = Settlement(
            operation.id, "done", receipts=done.receipts, losses=losses,
            thread_of=thread_of, then=_note_after(operation) if losses else (),
        )  # fmt: skip
        await self.write(operation, settlement, done.item, patient=done.patient)
        for loss in losses:
            metrics.LOST.labels(operation.account, loss.kind).inc()
        age = self._clock.time() - done.item.created
        metrics.LATENCY.labels(operation.account).observe(age)

    async def _until_stored(self, write: Callable[[], Awaitable[object]]) -> None:
        attempts = 0
        while True:
            try:
                await write()
            except NotOpen:
                raise
            except StoreError as error:
                log.exception("outcome_write_delayed", error=str(error))
                await self._clock.sleep(self._timeouts.backoff(attempts))
                attempts += 1
            else:
                return


def _root_of_new_thread(item: OutboxItem) -> MessageId | None:
    """The root in whose place this message begins the thread here: it is a post, or an edit whose
    copy does not stand any more."""
    operation = item.delivery.operation
    if not item.thread_missing or not isinstance(operation, PostMessage | EditMessage):
        return None
    if isinstance(operation, EditMessage) and item.delivery.copies:
        return None
    return operation.root


def _note_after(operation: Operation) -> tuple[Operation, ...]:
    """The operation that notes a reaction in words after the platform refused it."""
    if not isinstance(operation, AddReaction | RemoveReaction):
        return ()
    shared = operation.model_dump(exclude={"type", "emoji", "id"})
    return (NoteReactions(id=OperationId(f"{operation.id} note"), **shared),)
