"""The cluster of a process that has its store for itself: everything is its own work."""

from __future__ import annotations

from bridge.errors import StoreError
from bridge.model import Raw
from bridge.model.assignments import Assignment
from bridge.model.inbox_records import InboxRow


class Alone:
    """There is nobody to tell anything."""

    is_shared = False
    is_alive = True

    def owns(self, assignment: Assignment) -> bool:
        del assignment
        return True

    def call(self, assignment: Assignment, detail: str = "") -> None:
        pass

    async def tell(self, kind: str, **facts: str) -> None:
        pass

    async def hand_on(self, raw: Raw) -> InboxRow | None:
        raise StoreError(f"No other process works for account {raw.account!r}")

    async def waiting_row(self, row: int) -> InboxRow | None:
        raise StoreError(f"No other process kept row {row}")

    async def hear(self) -> None:
        pass

    async def outcome_of(self, row: InboxRow) -> str:
        raise StoreError(f"No other process works on row {row.id}")
