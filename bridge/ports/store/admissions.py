"""Port: commits the changes of one event."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bridge.model import Operation
from bridge.model.admission import Admission, Admitted
from bridge.model.archive_records import MessageState
from bridge.model.turn_records import NewTurn
from bridge.uacs import Message


class AdmissionStore(Protocol):
    """Commits everything that one event or one agent changes, in one transaction."""

    async def admit(self, admission: Admission) -> Admitted:
        """Commit an admission: messages, changes, operations, turns and the outcome of its inbox
        row.

        Returns:
            `repeat=True` when the message was archived before; then the call adds nothing.
        """
        ...

    async def change_message(
        self,
        message: Message,
        state: MessageState,
        operations: Sequence[Operation] = (),
        turns: Sequence[NewTurn] = (),
    ) -> None:
        """Replace an archived message, and queue operations and turns in the same transaction.

        A message that is deleted loses its waiting reactions and pins. The store omits an
        EditMessage when the lane still holds the message's PostMessage without a recorded copy, or
        another of its EditMessages: that operation then carries the new state. A DeleteMessage
        cancels such a PostMessage and is omitted itself, because the platform never showed the
        message.

        Args:
            message: the new state; its id names the message to replace.
            state: whether the message exists or is deleted.
            operations: what to send to the platforms.
            turns: turns of agents; the store omits those that it knows.
        """
        ...
