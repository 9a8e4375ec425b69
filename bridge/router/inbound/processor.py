"""What becomes of each row of the inbox: decoded, through the stages, committed and acted on."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import structlog

from bridge.errors import BridgeError, InvalidData, StoreError, UndecodableEvent
from bridge.model import Event, Raw, ReactionAdded, ReactionRemoved
from bridge.model.admission import Admission, Admitted
from bridge.model.inbox_records import InboxRow
from bridge.router.inbound.context import Passage, Surroundings
from bridge.router.inbound.feedback import FeedbackDelivery
from bridge.router.inbound.pipeline import STAGES
from bridge.router.outbound.lanes import Lanes
from bridge.router.recovery.catch_up import CatchUp
from bridge.router.rooms.feed import Feed
from bridge.router.rooms.programs import ACCOUNT, decode
from bridge.router.runtime import metrics
from bridge.router.runtime.timeouts import Policy
from bridge.router.turns.queue import TurnQueue

log = structlog.get_logger()


class EventProcessor:
    """Works on one row: when `take` returns it is done, failed with its reason, or put aside."""

    def __init__(
        self,
        around: Surroundings,
        lanes: Lanes,
        turns: TurnQueue,
        catch_up: CatchUp,
        feedback: FeedbackDelivery,
        feed: Feed,
        policy: Policy,
    ) -> None:
        self._around = around
        self._store = around.store
        self._connectors = around.connectors
        self._lanes = lanes
        self._turns = turns
        self._orphans = around.orphans
        self._catch_up = catch_up
        self._feedback = feedback
        self._feed = feed
        self._clock = around.clock
        self._policy = policy
        self._awaited: dict[int, asyncio.Future[str]] = {}

    @contextmanager
    def outcome_of(self, row: InboxRow) -> Generator[asyncio.Future[str]]:
        """Its outcome, for who waits for it; ask before the row is worked on."""
        self._awaited[row.id] = asyncio.get_running_loop().create_future()
        try:
            yield self._awaited[row.id]
        finally:
            del self._awaited[row.id]

    async def take(self, row: InboxRow) -> None:
        """Work on one row until it is done or failed; a store in trouble is waited for."""
        attempts = 0
        while True:
            try:
                await self._pass_through_or_fail(row)
            except StoreError as error:
                attempts += 1
                log.error("store_in_trouble", account=row.raw.account, row=row.id, error=str(error))  # noqa: TRY400
                await self._clock.sleep(self._policy.backoff(attempts))
            else:
                self._orphans.trust(row)
                return

    async def _pass_through_or_fail(self, row: InboxRow) -> None:
        try:
            await self._pass_through(row)
        except StoreError:
            raise
        except Exception as error:
            if not isinstance(error, InvalidData):
                log.exception("stage_broke", account=row.raw.account, row=row.id, kind=row.raw.kind)
            await self._fail(row, error)

    async def _pass_through(self, row: InboxRow) -> None:
        for index, event in enumerate(events := self._decoded(row.raw)):
            passage = Passage(row, event)
            outcome = "routed"
            for stage in STAGES:
                if ended := await stage(passage, self._around):
                    outcome = ended
                    break
            target = passage.waits_for
            if target is not None and self._orphans.wait(row, event.place, target):
                return
            if passage.put_aside:
                return
            if passage.misses_files:
                await self._around.keeping.want(event, row)
            last = index + 1 == len(events)
            outcome = await self._commit(passage.admission(outcome, row=row.id if last else None))
            self._tell_outcome(row, outcome)
            self._compare_if_late(row, event)
            for session, by in passage.stops:
                self._turns.stop(session, by)
            for answer, by in passage.stopped_answers:
                await self._turns.stop_answer(answer, by)
            for root, by in passage.stopped_threads:
                await self._turns.stop_thread(root, by)
        if not events:
            await self._commit(Admission(outcome="nothing", row=row.id))

    def _compare_if_late(self, row: InboxRow, event: Event) -> None:
        """Reactions have no order among those of others: what undid one may be told later still."""
        if isinstance(event, ReactionAdded | ReactionRemoved) and self._orphans.is_doubted(row):
            late = self._clock.time() - event.time.timestamp()
            if late > self._policy.told_late:
                self._catch_up.compare_again(row.raw.account, event.place.channel)

    def _decoded(self, raw: Raw) -> Sequence[Event]:
        if raw.account == ACCOUNT:
            return decode(raw)
        connector = self._connectors.get(raw.account)
        if connector is None:
            raise UndecodableEvent(
                f"account {raw.account!r} is no longer configured; put it back, then use "
                "uacs-bridge dead-letters retry-events"
            )
        return connector.decode(raw)

    def _tell_outcome(self, row: InboxRow, outcome: str) -> None:
        awaited = self._awaited.get(row.id)
        if awaited is not None and not awaited.done():
            awaited.set_result(outcome)

    async def _commit(self, admission: Admission) -> str:
        """The outcome as it is kept."""
        over = {settlement.operation for settlement in admission.settles}
        open_ones = [one for one in admission.operations if one.id not in over]
        begun = frozenset(one.id for one in open_ones if self._lanes.claim(one))
        admitted = Admitted(repeat=True)
        try:
            admitted = await self._store.admit(replace(admission, begun=begun))
        finally:
            for operation in open_ones:
                self._lanes.unclaim(operation, admission.message, queued=not admitted.repeat)
        outcome = "repeat" if admitted.repeat else admission.outcome
        metrics.OUTCOMES.labels(outcome.split(":")[0]).inc()
        if admitted.repeat:
            return outcome
        self._feed.woke()
        changes = (*admission.changes, *admission.reactions, *admission.pins)
        changed = [one for change in changes for one in change.operations]
        for operation in (*changed, *admission.removals):
            self._lanes.wake(operation.lane)
        for orphan in admission.orphans:
            self._orphans.note(orphan)
        new = admission.message
        if new is not None and new.place is not None and new.native_id is not None:
            self._orphans.arrived(new.place.channel, new.native_id)
        for change in admission.changes:
            await self._turns.question_changed(change)
        for turn in admission.turns:
            await self._turns.ask(turn)
        for given in admission.feedback:
            self._feedback.tell(given)
        return outcome

    async def _fail(self, row: InboxRow, error: Exception) -> None:
        metrics.FAILED.labels(row.raw.account).inc()
        text = str(error) if isinstance(error, BridgeError) else f"{type(error).__name__}: {error}"
        # The reason may quote what was said: it is kept in the store, and shown by `status`.
        log.error("event_failed", row=row.id, account=row.raw.account, error=type(error).__name__)
        await self._store.fail_row(row.id, text)
        self._tell_outcome(row, f"failed: {text}")
