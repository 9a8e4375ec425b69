"""What becomes of each row of the inbox: decoded, through the stages, committed and acted on."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import structlog

from bridge.content.messages.stored_files import NO_FILES
from bridge.errors import BridgeError, InvalidData, StoreError, UndecodableEvent
from bridge.model import AccountId, Event, Raw, ReactionAdded, ReactionRemoved
from bridge.model.admission import Admission, AdmittedRow
from bridge.model.inbox_records import InboxRow
from bridge.ports.clock import Clock
from bridge.ports.connector import Connector
from bridge.ports.store.admissions import AdmissionStore
from bridge.ports.store.inbox import InboxStore
from bridge.ports.traces import Tracer
from bridge.router.inbound.attachments import AttachmentFetcher
from bridge.router.inbound.context import Planned, Received, ended
from bridge.router.inbound.feedback import FeedbackDelivery
from bridge.router.inbound.orphans import Orphans
from bridge.router.inbound.pipeline import Pipeline
from bridge.router.inbound.refusal_reasons import refusal_reason
from bridge.router.outbound.lanes import Lanes
from bridge.router.rooms.feed import Feed
from bridge.router.rooms.programs import ACCOUNT, decode
from bridge.router.runtime import metrics
from bridge.router.runtime.timeouts import Timeouts
from bridge.router.runtime.traces import event_span, failed_event_span
from bridge.router.signals import ReactionsCameLate, Signal
from bridge.router.turns.queue import TurnQueue

log = structlog.get_logger()


@dataclass
class _Claims:
    """An admission whose operations have claimed their lanes; `queued`: it is committed."""

    admission: Admission
    queued: bool = False


@dataclass(frozen=True)
class Committer:
    """Commits what an event changes, and wakes whatever waits for that."""

    store: AdmissionStore
    lanes: Lanes
    turns: TurnQueue
    orphans: Orphans
    fetcher: AttachmentFetcher
    feedback: FeedbackDelivery
    feed: Feed

    async def commit(self, planned: Planned, event: Event, row: InboxRow, *, last: bool) -> str:
        """Commit the plan of an event of this row; with the `last` event the row is done. Returns
        the outcome as the store keeps it. Raises StoreError."""
        if planned.misses_files:
            await self.fetcher.await_files(event, row)
        return await self.admit(replace(planned.admission, row=row.id if last else None))

    async def admit(self, admission: Admission) -> str:
        """Commit a transaction. Returns the outcome as the store keeps it. Raises StoreError."""
        with self._claims(admission) as claims:
            admitted = await self.store.admit(claims.admission)
            claims.queued = not admitted.repeat
        return await self.admitted(admission, repeat=admitted.repeat)

    async def receive(self, raw: Raw, admission: Admission, *, advance: bool) -> AdmittedRow | None:
        """Keep a payload and commit what it changes, in one transaction, which is under way before
        this gives way to another task. Returns None for a repeat; for all others the caller calls
        `admitted`. Raises StoreError."""
        with self._claims(admission) as claims:
            admitted = await self.store.receive(raw, claims.admission, advance=advance)
            claims.queued = admitted is not None and not admitted.repeat
        return admitted

    @contextmanager
    def _claims(self, admission: Admission) -> Generator[_Claims]:
        """Lanes that are free wait inside this context for the operations of the admission, which
        are queued as begun then."""
        given_up = {settlement.operation for settlement in admission.settles}
        open_operations = [
            operation for operation in admission.operations if operation.id not in given_up
        ]
        begun = frozenset(
            operation.id for operation in open_operations if self.lanes.claim(operation)
        )
        claims = _Claims(replace(admission, begun=begun) if begun else admission)
        try:
            yield claims
        finally:
            for operation in open_operations:
                self.lanes.unclaim(operation, admission.message, queued=claims.queued)

    async def admitted(self, admission: Admission, *, repeat: bool) -> str:
        """Wake whatever waits for what was committed. Returns the outcome. Raises StoreError."""
        outcome = "repeat" if repeat else admission.outcome
        metrics.OUTCOMES.labels(outcome.split(":")[0]).inc()
        if not repeat:
            await self._wake(admission)
        return outcome

    async def _wake(self, admission: Admission) -> None:
        self.feed.woke()
        changes = (*admission.changes, *admission.reactions, *admission.pins)
        changed = [operation for change in changes for operation in change.operations]
        for operation in (*changed, *admission.removals):
            self.lanes.wake(operation.lane)
        for orphan in admission.orphans:
            self.orphans.note(orphan)
        new = admission.message
        if new is not None and new.place is not None and new.native_id is not None:
            self.orphans.arrived(new.place.channel, new.native_id)
        for change in admission.changes:
            await self.turns.question_changed(change)
        for turn in admission.turns:
            await self.turns.take(turn)
        for feedback in admission.feedback:
            self.feedback.deliver(feedback)

    async def stop_turns(self, planned: Planned) -> None:
        """Stop the turns that the event stops. Raises StoreError."""
        for session, by in planned.stops:
            await self.turns.stop(session, by)
        for answer, by in planned.stopped_answers:
            await self.turns.stop_answer(answer, by)
        for root, by in planned.stopped_threads:
            await self.turns.stop_thread(root, by)


@dataclass(frozen=True)
class LateReactions:
    """Reports the channels whose reactions may have come out of order.

    Reactions have no order among those of others: the one that undoes a late one may come later
    still.
    """

    orphans: Orphans
    came_late: Signal[ReactionsCameLate]
    clock: Clock
    timeouts: Timeouts

    async def report(self, event: Event, row: InboxRow) -> None:
        """Emit `came_late` for a reaction that is received late. Raises what a listener raises."""
        if isinstance(event, ReactionAdded | ReactionRemoved) and self.orphans.is_doubted(row):
            late = self.clock.time() - event.time.timestamp()
            if late > self.timeouts.late_event_age:
                channel = event.place.channel
                await self.came_late.emit(ReactionsCameLate(row.raw.account, channel))


class EventProcessor:
    """Works on one row: when `take` returns it is done, failed with its reason, or put aside."""

    def __init__(
        self,
        pipeline: Pipeline,
        committer: Committer,
        late_reactions: LateReactions,
        orphans: Orphans,
        store: InboxStore,
        connectors: Mapping[AccountId, Connector],
        clock: Clock,
        timeouts: Timeouts,
        tracer: Tracer | None = None,
    ) -> None:
        self._tracer = tracer
        self._pipeline = pipeline
        self._committer = committer
        self._late_reactions = late_reactions
        self._orphans = orphans
        self._store = store
        self._connectors = connectors
        self._clock = clock
        self._timeouts = timeouts
        self._awaited: dict[int, asyncio.Future[str]] = {}

    @contextmanager
    def outcome_of(self, row: InboxRow) -> Generator[asyncio.Future[str]]:
        """The outcome of the row, for a caller who waits for it; call it before the row is put into
        its queue."""
        self._awaited[row.id] = asyncio.get_running_loop().create_future()
        try:
            yield self._awaited[row.id]
        finally:
            del self._awaited[row.id]

    async def take(self, row: InboxRow) -> None:
        """Work on one row until it is done or failed; wait where the store fails."""
        attempts = 0
        while True:
            try:
                await self._process_or_fail(row)
            except StoreError as error:
                attempts += 1
                log.error(  # noqa: TRY400
                    "store_unavailable", account=row.raw.account, row=row.id, error=str(error)
                )
                await self._clock.sleep(self._timeouts.backoff(attempts))
            else:
                self._orphans.trust(row)
                return

    async def _process_or_fail(self, row: InboxRow) -> None:
        began = self._clock.time()
        try:
            await self._process(row, began)
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001 - it is logged, and the row fails
            await self._crashed(row, error, began)

    async def _crashed(self, row: InboxRow, error: Exception, began: float) -> None:
        if not isinstance(error, InvalidData):
            log.exception("stage_crashed", account=row.raw.account, row=row.id, kind=row.raw.kind)
        await self._fail(row, error, began)

    async def _process(self, row: InboxRow, began: float) -> None:
        events = self.decoded(row.raw)
        for number, event in enumerate(events, 1):
            planned = await self.plan(row, event)
            target = planned.waits_for
            if target is not None and self._orphans.wait(row, event.place, target):
                return
            if planned.put_aside:
                return
            last = number == len(events)
            outcome = await self._committer.commit(planned, event, row, last=last)
            await self._follow(row, event, planned, outcome, began)
        if not events:
            await self._committer.admit(Admission(outcome="nothing", row=row.id))

    async def plan(self, row: InboxRow, event: Event, *, is_new: bool = False) -> Planned:
        """Plan what an event changes. `is_new`: the message is known not to be archived. Raises
        whatever a stage raises."""
        return await self._pipeline.plan(
            Received(
                row=row, event=event, rooms=(), direct=None, kept_files=NO_FILES, is_new=is_new
            )
        )

    async def receive(self, raw: Raw, admission: Admission, *, advance: bool) -> AdmittedRow | None:
        """Keep a payload and commit what its only event changes, in one transaction that is under
        way before this gives way to another task. Returns None for a repeat; for all others the
        caller calls `follow`. Raises StoreError."""
        return await self._committer.receive(raw, admission, advance=advance)

    async def follow(
        self, received: AdmittedRow, event: Event, planned: Planned, began: float
    ) -> None:
        """Do what follows `receive`."""
        row = received.row
        try:
            outcome = await self._committer.admitted(planned.admission, repeat=received.repeat)
            done = ended("repeat") if received.repeat else planned
            await self._follow(row, event, done, outcome, began)
        except StoreError:
            await self.take(row)  # it is done, and is found so
        except Exception as error:  # noqa: BLE001 - it is logged, and the row fails
            await self._crashed(row, error, began)

    async def _follow(
        self, row: InboxRow, event: Event, planned: Planned, outcome: str, began: float
    ) -> None:
        """Do what follows a commit."""
        if reason := refusal_reason(outcome):
            metrics.REFUSED.labels(row.raw.account, reason).inc()
        self._report_outcome(row, outcome)
        if self._tracer is not None:
            self._tracer.record(
                event_span(
                    row, self._platform(row), planned.admission, outcome, began,
                    self._clock.time(),
                )
            )  # fmt: skip
        await self._late_reactions.report(event, row)
        await self._committer.stop_turns(planned)

    def decoded(self, raw: Raw) -> Sequence[Event]:
        """Return the events of a payload. Raises what the connector raises."""
        if raw.account == ACCOUNT:
            return decode(raw)
        connector = self._connectors.get(raw.account)
        if connector is None:
            raise UndecodableEvent(
                f"account {raw.account!r} is no longer configured; put it back, then use "
                "uacs-bridge dead-letters retry-events"
            )
        return connector.decode(raw)

    def _report_outcome(self, row: InboxRow, outcome: str) -> None:
        awaited = self._awaited.get(row.id)
        if awaited is not None and not awaited.done():
            awaited.set_result(outcome)

    def _platform(self, row: InboxRow) -> str:
        connector = self._connectors.get(row.raw.account)
        return "" if connector is None else connector.capabilities.platform

    async def _fail(self, row: InboxRow, error: Exception, began: float) -> None:
        metrics.FAILED.labels(row.raw.account).inc()
        text = str(error) if isinstance(error, BridgeError) else f"{type(error).__name__}: {error}"
        # The reason may quote the message: it is kept in the store, and shown by `status`.
        log.error("event_failed", row=row.id, account=row.raw.account, error=type(error).__name__)
        await self._store.fail_row(row.id, text)
        self._report_outcome(row, f"failed: {text}")
        if self._tracer is not None:
            platform, now = self._platform(row), self._clock.time()
            self._tracer.record(failed_event_span(row, platform, error, began, now))
