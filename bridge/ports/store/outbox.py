"""Where operations wait in their lanes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bridge.model import LaneId, MessageId, OperationId, Receipt
from bridge.model.outbox_records import DeadLetter, LaneStatus, OutboxItem, Settlement


class OutboxStore(Protocol):
    """Operations in their lanes."""

    async def open_lanes(self) -> Sequence[LaneId]:
        """Lanes with an operation waiting or sending."""
        ...

    async def lanes_waiting(self) -> Sequence[LaneStatus]:
        """What waits in each lane that has something to send, the longest waiting first."""
        ...

    async def head(self, lane: LaneId, *, besides: Sequence[MessageId] = ()) -> OutboxItem | None:
        """The oldest open operation of the lane, leaving out those of some messages."""
        ...

    async def notice(self, lane: LaneId) -> OutboxItem | None:
        """The oldest open operation of the lane that shows what the bridge itself says."""
        ...

    async def knows_operation(self, operation: OperationId) -> bool:
        """Whether it was ever queued here."""
        ...

    async def begin(self, operation: OperationId) -> None:
        """Mark it `sending`, one attempt more. Durable before the first byte goes out.

        Raises NotOpen when it is over (an echo settled it, a deletion cancelled it): nothing may
        be sent.
        """
        ...

    async def record(self, operation: OperationId, receipts: Sequence[Receipt]) -> None:
        """Note copies that stand while more calls of the same operation are still to come.

        They are linked at once: `resolve` knows them. A slot noted before keeps its first receipt;
        an operation that is settled already, or that nobody knows, changes nothing.
        """
        ...

    async def settle(self, settlement: Settlement) -> bool:
        """End an operation, link its copies. False: it was settled before (an echo was faster), or
        nobody knows it; then nothing changes.

        `done` with receipts is proof: it also ends what was `dead` or `unproved` (True).
        """
        ...

    async def postpone(self, operation: OperationId, until: float, error: str) -> None:
        """Back to `waiting`, not before `until` (seconds since 1970); nothing if it is settled."""
        ...

    async def dead_letters(self) -> Sequence[DeadLetter]: ...

    async def held_up(self) -> Sequence[DeadLetter]:
        """The operations that have failed and are tried again, and those whose request has had no
        known outcome for some time, lane by lane; `time` is when they were queued."""
        ...

    async def hasten(self, operation: OperationId) -> LaneId:
        """Make a waiting operation due now; what is under way is left alone. Raises StoreError
        where it is not open."""
        ...

    async def replay(self, operation: OperationId) -> LaneId:
        """Set a dead letter waiting again, at the end of its lane, as if it were new: no attempts,
        `created` now. Copies recorded before stand. Raises StoreError if unknown."""
        ...
