"""Port: the other processes that work with the same store."""

from __future__ import annotations

from typing import Protocol

from bridge.model import Raw
from bridge.model.assignments import Assignment
from bridge.model.inbox_records import InboxRow


class Cluster(Protocol):
    """Which work is this process', and how it reaches the process whose work it is."""

    @property
    def is_shared(self) -> bool:
        """Whether other processes may work with the store."""
        ...

    @property
    def is_alive(self) -> bool:
        """Whether no other process can have taken over what is this one's. Costs no I/O."""
        ...

    def owns(self, assignment: Assignment) -> bool:
        """Whether the assignment is this process' at this moment."""
        ...

    def call(self, assignment: Assignment, detail: str = "") -> None:
        """Tell the owner that the store has something new for it. A call may be lost: owners look
        for new work by themselves, too, only later."""
        ...

    async def tell(self, kind: str, **facts: str) -> None:
        """Tell all other processes something that the store does not show. Raises StoreError."""
        ...

    async def hand_on(self, raw: Raw) -> InboxRow | None:
        """Keep a payload for the owner of its account. Returns None for a repeat. Raises
        StoreError."""
        ...

    async def waiting_row(self, row: int) -> InboxRow | None:
        """Return a row that nobody has worked on yet; None for any other. Raises StoreError."""
        ...

    async def hear(self) -> None:
        """Return when everything that was told until now was heard here; after a few seconds in any
        case."""
        ...

    async def outcome_of(self, row: InboxRow) -> str:
        """Wait until another process is done with a row. Returns its outcome. Raises StoreError."""
        ...
