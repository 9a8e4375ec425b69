"""Where the changes of one event are committed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bridge.model import Operation
from bridge.model.admission import Admission, Admitted
from bridge.model.archive_records import MessageState
from bridge.model.turn_records import NewTurn
from bridge.uacs import Message


class AdmissionStore(Protocol):
    """What one event or one agent changes, in one transaction."""

    async def admit(self, admission: Admission) -> Admitted: ...

    async def change_message(
        self,
        message: Message,
        state: MessageState,
        operations: Sequence[Operation] = (),
        turns: Sequence[NewTurn] = (),
    ) -> None:
        """Replace the archived message, and queue operations and turns in the same transaction;
        turns that are there already are left out. What is put to deletion loses its reactions and
        pins that still wait.

        An EditMessage is left out where the PostMessage of the same message still waits in that
        lane with no copy recorded, or another of its EditMessages does: that says the new state.
        A DeleteMessage cancels such a PostMessage, and is left out then: nobody ever sees it.
        """
        ...
