"""Port: commits the changes of one event."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bridge.model import Operation, Raw
from bridge.model.admission import Admission, Admitted, AdmittedRow
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

    async def receive(self, raw: Raw, admission: Admission, *, advance: bool) -> AdmittedRow | None:
        """Save a payload and commit what it changes, in one transaction.

        Args:
            raw: the payload, as for `InboxStore.accept`.
            admission: what the payload changes; it names no row.
            advance: as for `InboxStore.accept`.

        Returns:
            The row, which is done; None when the account's dedupe key was saved before: then the
            call adds nothing.

        Raises:
            StoreFull: the disk is full; the platform should deliver the payload again.
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
