"""Port: operations that wait in their lanes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bridge.model import LaneId, MessageId, OperationId, Receipt
from bridge.model.outbox_records import DeadLetter, LaneStatus, OutboxItem, Settlement


class OutboxStore(Protocol):
    """Operations in their lanes, from `waiting` over `sending` to their end."""

    async def open_lanes(self) -> Sequence[LaneId]:
        """Return the lanes with a waiting or sending operation."""
        ...

    async def lanes_waiting(self) -> Sequence[LaneStatus]:
        """Return the status of each lane with something to send, the longest waiting first."""
        ...

    async def head(self, lane: LaneId, *, besides: Sequence[MessageId] = ()) -> OutboxItem | None:
        """Return the oldest open operation of a lane; None when there is none.

        Args:
            lane: the lane.
            besides: skip the operations of these messages.
        """
        ...

    async def has_unproved_post(self, message: MessageId, lane: LaneId) -> bool:
        """Return whether the message may stand in the lane's channel in a copy that is not known:
        a post or an edit of it ended `unproved`."""
        ...

    async def notice(self, lane: LaneId) -> OutboxItem | None:
        """Return the oldest open operation of a lane that shows a notice of the bridge; None if
        none."""
        ...

    async def knows_operation(self, operation: OperationId) -> bool:
        """Tell whether this operation was ever queued here."""
        ...

    async def begin(self, operation: OperationId) -> None:
        """Mark an operation `sending` and count an attempt, before its first byte is sent.

        Raises:
            NotOpen: an echo settled the operation or a deletion cancelled it; send nothing.
        """
        ...

    async def record(self, operation: OperationId, receipts: Sequence[Receipt]) -> None:
        """Save the copies of an operation whose further calls are still to come.

        `resolve` knows the copies at once. A slot keeps its first receipt. Nothing changes when the
        operation is settled or unknown.
        """
        ...

    async def settle(self, settlement: Settlement, *, patient: bool = False) -> bool:
        """End an operation and link its copies.

        `done` with receipts proves a delivery, and so also ends a `dead` or `unproved` operation.

        Args:
            settlement: the end.
            patient: the end may wait a moment, so that it shares the transaction of something
                else; `resolve` does not miss its copies meanwhile.

        Returns:
            False when the operation was settled before (an echo was faster) or is unknown; then
            nothing changes.
        """
        ...

    async def postpone(self, operation: OperationId, until: float, error: str) -> None:
        """Set an operation `waiting` again, with the error of this attempt.

        Args:
            operation: its id; a settled operation does not change.
            until: not due before this time (seconds since 1970).
            error: the reason, for status and logs.
        """
        ...

    async def dead_letters(self) -> Sequence[DeadLetter]:
        """Return the operations that were given up."""
        ...

    async def held_up(self) -> Sequence[DeadLetter]:
        """Return delayed operations, lane by lane.

        These have failed and wait for another attempt, or their request has had no known outcome
        for some time. `DeadLetter.time` is when they were queued.
        """
        ...

    async def hasten(self, operation: OperationId) -> LaneId:
        """Make a waiting operation due now; an operation in progress does not change.

        Returns:
            The operation's lane.

        Raises:
            StoreError: the operation is not open.
        """
        ...

    async def replay(self, operation: OperationId) -> LaneId:
        """Queue a dead letter again at the end of its lane, with no attempts and `created` now.

        Recorded copies stay.

        Returns:
            The operation's lane.

        Raises:
            StoreError: there is no such dead letter.
        """
        ...
