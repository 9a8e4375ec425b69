"""The lanes of all destination channels: starts a lane when it has something to send, and hands it
the news of its channel."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from bridge.errors import StoreError
from bridge.model import (
    AccountId,
    Delivery,
    LaneId,
    Operation,
    OperationId,
    PostMessage,
    Receipt,
)
from bridge.model.archive_records import NewMessage
from bridge.model.outbox_records import OutboxItem
from bridge.router.outbound.lane import Lane, LaneParts
from bridge.router.outbound.outcomes import skipped
from bridge.router.outbound.settle import DuplicateRemover
from bridge.router.rooms.responsibility import Responsibility
from bridge.router.signals import OperationEnded, Signals


@dataclass
class _Claim:
    """A lane whose next operation waits for nothing; `alone` until another operation comes."""

    operation: OperationId
    alone: bool = True


class Lanes:
    """Sends what the outbox holds. A lane in trouble holds up no other."""

    def __init__(
        self,
        parts: LaneParts,
        duplicates: DuplicateRemover,
        signals: Signals,
        responsibility: Responsibility,
    ) -> None:
        self._parts = parts
        self._responsibility = responsibility
        self._duplicates = duplicates
        self._lanes: dict[LaneId, Lane] = {}
        self._tasks: dict[LaneId, asyncio.Task[None]] = {}
        self._claims: dict[LaneId, _Claim] = {}
        self._started = False  # before that, a lane that nobody works on may not be empty
        self._closing = False
        signals.sending_resumed.subscribe(self._sending_resumed)
        signals.operation_ended.subscribe(self._operation_ended)

    # --- life -----------------------------------------------------------------------------------

    async def start(self) -> None:
        """Go on with every lane of this process that has something to send."""
        await self.look()
        self._started = True

    async def look(self) -> None:
        """Start the lanes of this process that have something to send. Raises StoreError."""
        for lane in await self._parts.store.open_lanes():
            if lane not in self._lanes and self._responsibility.owns_lane(lane):
                self.wake(lane)

    async def let_go(self, seconds: float) -> None:
        """Let the lanes that are not this process' any more finish the call that is under way,
        within `seconds`, then stop them."""
        ending = [lane for lane in self._lanes if not self._responsibility.owns_lane(lane)]
        for lane in ending:
            self._lanes[lane].close()
        if tasks := {self._tasks[lane] for lane in ending}:
            _, late = await asyncio.wait(tasks, timeout=seconds)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    async def close(self, seconds: float) -> None:
        """Let every lane finish the call that is under way, within `seconds`, then stop."""
        self._closing = True
        for lane in self._lanes.values():
            lane.close()
        if tasks := set(self._tasks.values()):
            _, late = await asyncio.wait(tasks, timeout=seconds)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        await self._duplicates.close()

    @property
    def idle(self) -> bool:
        """Whether no lane has anything to send."""
        return not self._lanes

    def wake(self, lane: LaneId, first: OutboxItem | None = None) -> None:
        """Something in this lane is new: start it, or let it look again. `first` is its only
        operation, where the caller knows it."""
        if self._closing:
            return
        if not self._responsibility.owns_lane(lane):
            self._responsibility.call_for_lane(lane)
            return
        if claim := self._claims.get(lane):
            claim.alone = False
        if running := self._lanes.get(lane):
            running.wake()
            return
        started = self._lanes[lane] = Lane(lane, self._parts)
        self._tasks[lane] = asyncio.create_task(
            self._run(lane, started, first), name=f"lane {lane}"
        )

    async def _sending_resumed(self, _account: AccountId) -> None:
        """Let every lane look again."""
        for lane in self._lanes.values():
            lane.wake()

    async def _operation_ended(self, ended: OperationEnded) -> None:
        """Wake the channel's reaction lane: reactions and pins wait for the end of their post."""
        if isinstance(ended.operation, PostMessage) and (
            running := self._lanes.get(ended.operation.channel.reaction_lane)
        ):
            running.wake()

    async def _run(self, lane: LaneId, started: Lane, first: OutboxItem | None) -> None:
        try:
            await started.run(first)
        finally:
            del self._lanes[lane], self._tasks[lane]

    # --- operations that are queued as begun ----------------------------------------------------

    def claim(self, operation: Operation) -> bool:
        """Whether this operation will be alone in its lane and may be queued as begun, which saves
        a COMMIT. True only where the platform can be asked after a crash whether it arrived.

        The caller calls `unclaim` after each call, when the operation is durable or will never be.
        """
        lane = operation.lane
        if self._responsibility.cluster.is_shared:
            return False  # another process may have queued something in it just now
        if other := self._claims.get(lane):
            other.alone = False
        if not self._started or self._closing or other or lane in self._lanes:
            return False
        connector = self._parts.connectors.get(operation.account)
        findable = connector is not None and connector.abilities.deliveries is not None
        begun = lane == operation.channel.lane and findable
        self._claims[lane] = _Claim(operation.id)
        if begun:
            self._parts.sender.queue_as_begun(operation.id)
        return begun

    def unclaim(self, operation: Operation, message: NewMessage | None, *, queued: bool) -> None:
        """The operation is queued, with this message, or will never be. Where it is alone in its
        lane, the lane sends it without a look into the store."""
        lane = operation.lane
        claim = self._claims.get(lane)
        if claim is None or claim.operation != operation.id:
            if queued:
                self._queued(lane)
            return
        del self._claims[lane]
        if not queued:
            self._parts.sender.forget(operation.id)
            if not claim.alone:
                self.wake(lane)
            return
        alone = claim.alone and lane not in self._lanes
        self._queued(lane, self._first(operation, message) if alone and message else None)

    def _queued(self, lane: LaneId, first: OutboxItem | None = None) -> None:
        """An operation was queued at the end of this lane: start the lane, or let it go on to it.
        `first`: as for `wake`."""
        running = self._lanes.get(lane)
        if running is None or not self._responsibility.owns_lane(lane):
            self.wake(lane, first)
            return
        if claim := self._claims.get(lane):
            claim.alone = False
        running.queued()

    def _first(self, operation: Operation, message: NewMessage) -> OutboxItem | None:
        """What `OutboxStore.head` would return for it; None where it would have to read more."""
        if not isinstance(operation, PostMessage) or operation.root or operation.reply_to:
            return None
        if operation.message != message.message.message_id:
            return None
        now = self._parts.clock.time()
        return OutboxItem(
            delivery=Delivery(operation=operation, message=message.message),
            state="waiting",  # the store may hold it as begun, but no call was made yet
            attempts=0,
            due=0.0,
            created=now,
            message_state=message.state,
        )

    # --- news of a channel ----------------------------------------------------------------------

    def echo_received(self, lane: LaneId, operation: OperationId, receipt: Receipt) -> None:
        """A post came back from the platform, which proves that it arrived should its answer be
        lost. Where nothing of its lane is open there is nothing to prove."""
        self._duplicates.echo_received(operation, receipt)
        if running := self._lanes.get(lane):
            running.echo_received(operation, receipt)

    def unknown_echo_received(self, lane: LaneId) -> None:
        """Some post of ours came back, and nobody knows which: a lane that looks for a post looks
        now."""
        if running := self._lanes.get(lane):
            running.unknown_echo_received()

    # --- what operators do ----------------------------------------------------------------------

    async def skip(self, operation: OperationId) -> None:
        """Give up an operation that waits, so that its lane goes on: it becomes a dead letter.
        Raises StoreError where it does not wait."""
        waiting = {letter.operation.id: letter for letter in await self._parts.store.held_up()}
        if operation not in waiting:
            raise StoreError(f"Operation {operation!r} does not wait (any more)")
        letter = waiting[operation]
        lane = letter.operation.lane
        await self._parts.ends.write(letter.operation, skipped(letter))
        if running := self._lanes.get(lane):
            running.was_skipped(operation)
        self.hasten(lane, operation)

    def hasten(self, lane: LaneId, operation: OperationId) -> None:
        """Attempt the operation now; its failures so far do not count any more."""
        if running := self._lanes.get(lane):
            running.hasten(operation)
        self.wake(lane)
