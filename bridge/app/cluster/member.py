"""The process among those that share the store: looks at the others, takes and gives up work, and
hears their signals."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence

import orjson
import structlog

from bridge.app.cluster.calls import Calls
from bridge.app.cluster.plan import plan
from bridge.errors import StoreError
from bridge.model import LaneId, Raw
from bridge.model.assignments import (
    Assignment,
    ClusterState,
    ProcessId,
    SentSignal,
    account_assignment,
)
from bridge.model.inbox_records import InboxRow
from bridge.ports.store.cluster import ClusterStore
from bridge.router.sharing import Sharing
from bridge.router.signals import OperationEnded, Signals

log = structlog.get_logger()

RELOAD = "reload"  # the signal of a process that applied its configuration file
_ALL = Assignment("")  # called: a signal is in the store
_FREE = Assignment("free")  # called: some assignments have no owner
_TO_ALL = (_ALL, _FREE)

_LOOK = 0.5  # seconds between two looks at the others
_POLL, _RARELY = 1.0, 3.0  # seconds between two looks for work that no call told of; with calls
_TICK = 0.25  # seconds between two looks at the clock
_STOPPED = 1.0  # ... and from which on this process was stopped in between
_LOADS = 10.0  # seconds over which loads are measured
_OUTCOME_POLL = 0.05  # seconds between two looks whether another process is done with a row
_OUTCOME_SECONDS = 60.0
_HEARD_WITHIN = 5.0
_SMOOTHING = 0.5  # the share of the newest measurement in a load


class Member:
    """Implements `Cluster` for a router. `state`: the others, as seen last."""

    is_shared = True

    def __init__(
        self,
        store: ClusterStore,
        wanted: Callable[[], Collection[Assignment]],
        calls: Calls | None,
    ) -> None:
        self._store = store
        self._wanted = wanted
        self._calls = calls
        self._own: set[Assignment] = set()
        self._begins: set[Assignment] = set()  # taken, and not begun yet
        self._seen = 0
        self._revisions: Mapping[str, int] = {}
        self._nudged = asyncio.Event()
        self._called: set[Assignment] = set()
        self._on_lane: Callable[[LaneId], None] | None = None
        self._counts: Counter[Assignment] = Counter()
        self._loads: dict[Assignment, float] = {}
        self._measured = self._polled = time.monotonic()
        self._has_started = False
        self._leaving = False
        self._moving = asyncio.Lock()
        self._following: asyncio.Task[None] | None = None
        self.state = ClusterState((), {})
        self.was_first = True  # no other process worked with the store when this one began
        self.lost = asyncio.Event()
        self._changed = asyncio.Condition()

    # --- what the router asks -------------------------------------------------------------------

    @property
    def process(self) -> ProcessId:
        return self._store.process

    @property
    def is_alive(self) -> bool:
        return self._store.is_alive

    def owns(self, assignment: Assignment) -> bool:
        return assignment in self._own

    @property
    def epochs(self) -> Mapping[Assignment, int]:
        """The epoch of each assignment of this process."""
        assigned = self.state.assigned
        return {name: assigned[name].epoch for name in self._own if name in assigned}

    async def until(self, assignment: Assignment, *, owned: bool) -> None:
        """Wait until an assignment comes to this process, or goes from it."""
        while self.owns(assignment) != owned:
            async with self._changed:
                await self._changed.wait()

    def call(self, assignment: Assignment, detail: str = "") -> None:
        if self._calls is not None:
            self._calls.publish(self.process, assignment, detail)

    async def tell(self, kind: str, **facts: str) -> None:
        await self._store.send(kind, orjson.dumps(facts).decode())
        self.call(_ALL)

    async def hand_on(self, raw: Raw) -> InboxRow | None:
        row = await self._store.hand_on(raw)
        if row is not None:
            self._nudged.set()
            self.call(_ALL)
        return row

    async def waiting_row(self, row: int) -> InboxRow | None:
        return await self._store.waiting_row(row)

    async def hear(self) -> None:
        try:
            async with asyncio.timeout(_HEARD_WITHIN):
                unheard = await self._store.signals(self._seen)
                self._nudged.set()
                async with self._changed:
                    while unheard and self._seen < unheard[-1].seq:
                        await self._changed.wait()
        except (TimeoutError, StoreError) as error:
            log.warning("signals_delayed", process=self.process, error=repr(error))

    async def outcome_of(self, row: InboxRow) -> str:
        async with asyncio.timeout(_OUTCOME_SECONDS):
            outcome = await self._store.outcome_of(row.id)
            while outcome is None:  # in another process: no event tells
                await asyncio.sleep(_OUTCOME_POLL)
                outcome = await self._store.outcome_of(row.id)
        return outcome

    # --- life -----------------------------------------------------------------------------------

    async def prepare(self) -> None:
        """Note where the others stand, before anything is read from the store. Raises
        StoreError."""
        self._seen = await self._store.newest_signal()
        self.state = await self._store.look(self._seen)
        self._revisions = self.state.revisions
        self.was_first = all(one.id == self.process for one in self.state.processes)

    def measure(self, signals: Signals) -> None:
        """Count what there is to do for each account."""

        async def row_due(row: InboxRow) -> None:
            self._counts[account_assignment(row.raw.account)] += 1

        async def operation_ended(ended: OperationEnded) -> None:
            self._counts[account_assignment(ended.operation.account)] += 1

        signals.row_due.subscribe(row_due)
        signals.operation_ended.subscribe(operation_ended)

    async def run(self, sharing: Sharing, revised: Callable[[str], Awaitable[None]]) -> None:
        """Take part until cancelled, or until the others hold this process for dead: `lost` is set
        then. `revised` is called for the application, with the topics that changed in the store,
        and with RELOAD."""
        self._on_lane = sharing.lane_called
        if self._calls is not None:
            self._calls.open(self._heard)
        watching = asyncio.create_task(self._watch_for_stops(sharing), name="stops")
        try:
            while not self._store.is_lost:
                await self._safely(self._step(sharing, revised))
                await self._listen(sharing, revised)
        finally:
            ending = [task for task in (watching, self._following) if task is not None]
            for task in ending:
                task.cancel()
            await asyncio.gather(*ending, return_exceptions=True)
        self._own.clear()
        await self._note_change()
        self.lost.set()

    async def leave(self, sharing: Sharing) -> None:
        """Give up everything, so that the others take it at once. Raises StoreError."""
        self._leaving = True
        await self._store.note_stopping()
        async with self._moving:
            await self._give_up(sharing, set(self._own))

    async def close(self) -> None:
        if self._calls is not None:
            await self._calls.close()

    async def _watch_for_stops(self, sharing: Sharing) -> None:
        """Close the connections of this process where it was stopped for so long that others may
        have its work: a platform would hand events to them, or to new ones in their place, which
        nobody here may keep any more, and which come to the others late."""
        ticked = time.monotonic()
        while True:
            await asyncio.sleep(_TICK)
            was_stopped = time.monotonic() - ticked > _STOPPED
            if was_stopped and not self._store.is_alive:
                await sharing.stop_receiving()
                while not self._store.is_alive:  # noqa: ASYNC110 - for ever, where it is lost
                    await asyncio.sleep(_TICK)
                sharing.receive_again()
            ticked = time.monotonic()

    # --- one look -------------------------------------------------------------------------------

    async def _step(self, sharing: Sharing, revised: Callable[[str], Awaitable[None]]) -> None:
        if not (self._has_started or self._leaving):
            await self._store.note_started()
            self._has_started = True
        self.state = state = await self._store.look(self._seen)
        await self._hear(state.signals, sharing, revised)
        await self._reload(state.revisions, sharing, revised)
        if self._following is None or self._following.done():
            # Beside the looks: what is given up may take seconds to end.
            following = self._safely(self._follow(state, sharing))
            self._following = asyncio.create_task(following, name="assignments")

    async def _listen(self, sharing: Sharing, revised: Callable[[str], Awaitable[None]]) -> None:
        """Until the next look, which is due at once where work is free, hear what the others call
        and signal."""
        until = time.monotonic() + _LOOK
        while (left := until - time.monotonic()) > 0 and not self._store.is_lost:
            try:
                async with asyncio.timeout(left):
                    await self._nudged.wait()
            except TimeoutError:
                return
            self._nudged.clear()
            called, self._called = self._called, set()
            for assignment in called & self._own:
                await self._safely(sharing.called(assignment))
            if _FREE in called:
                return
            if not called or _ALL in called:
                await self._safely(self._look_for_signals(sharing, revised))

    async def _look_for_signals(
        self, sharing: Sharing, revised: Callable[[str], Awaitable[None]]
    ) -> None:
        await self._hear(await self._store.signals(self._seen), sharing, revised)

    async def _safely(self, work: Awaitable[None]) -> None:
        """Whatever fails, this process goes on with its part: the others reckon with it."""
        try:
            await work
        except StoreError as error:
            log.warning("cluster_look_failed", process=self.process, error=str(error))
        except Exception:
            log.exception("cluster_look_crashed", process=self.process)

    async def _hear(
        self,
        signals: Sequence[SentSignal],
        sharing: Sharing,
        revised: Callable[[str], Awaitable[None]],
    ) -> None:
        for signal in signals:
            if signal.seq <= self._seen:
                continue
            try:
                if signal.kind == RELOAD:
                    await revised(RELOAD)
                else:
                    await sharing.told(signal.kind, orjson.loads(signal.body))
            except (KeyError, ValueError) as error:  # of another version
                log.warning("signal_not_understood", kind=signal.kind, error=repr(error))
            self._seen = signal.seq  # not where the store failed: it is heard again
        if signals:
            await self._note_change()

    async def _reload(
        self,
        revisions: Mapping[str, int],
        sharing: Sharing,
        revised: Callable[[str], Awaitable[None]],
    ) -> None:
        for topic, number in revisions.items():
            if self._revisions.get(topic) != number:
                await sharing.revised(topic)
                await revised(topic)
        self._revisions = revisions

    async def _follow(self, state: ClusterState, sharing: Sharing) -> None:
        async with self._moving:
            if not self._leaving:
                await self._move(state, sharing)
            await self._poll(sharing)

    async def _poll(self, sharing: Sharing) -> None:
        now = time.monotonic()
        is_called = self._calls is not None and self._calls.is_connected
        if now - self._polled >= (_RARELY if is_called else _POLL):
            self._polled = now
            await sharing.look()
        if now - self._measured >= _LOADS:
            await self._note_loads(now)

    async def _move(self, state: ClusterState, sharing: Sharing) -> None:
        planned = plan(self.process, state, self._wanted())
        if planned.give_up:
            await self._give_up(sharing, set(planned.give_up))
        lost = {name for name, at in state.assigned.items() if at.process == self.process}
        if lost := lost - self._own:  # the answer to a change got lost
            await self._store.give_up(lost)
        if planned.take and (taken := set(await self._store.take(planned.take))):
            log.info("assignments_taken", process=self.process, names=sorted(taken))
            self._own |= taken
            self._begins |= taken
        if self._begins:
            await sharing.take(self._begins)
            self._begins.clear()
            await self._note_change()

    async def _give_up(self, sharing: Sharing, assignments: Collection[Assignment]) -> None:
        if not assignments:
            return
        self._own -= set(assignments)
        self._begins &= self._own
        await self._note_change()
        await sharing.give_up(assignments)
        await self._store.give_up(assignments)
        log.info("assignments_given_up", process=self.process, names=sorted(assignments))
        self.call(_FREE)

    async def _note_change(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    async def _note_loads(self, now: float) -> None:
        span, self._measured = now - self._measured, now
        counts, self._counts = self._counts, Counter()
        for name in self._own:
            newest, before = counts[name] / span, self._loads.get(name, 0.0)
            self._loads[name] = _SMOOTHING * newest + (1 - _SMOOTHING) * before
        await self._store.note_loads({name: self._loads[name] for name in self._own})

    def _heard(self, sender: str, assignment: str, detail: str) -> None:
        is_ours = assignment in _TO_ALL or assignment in self._own
        if sender == self.process or not is_ours:
            return
        if detail and self._on_lane is not None:
            self._on_lane(LaneId(detail))
        else:
            self._called.add(Assignment(assignment))
            self._nudged.set()
