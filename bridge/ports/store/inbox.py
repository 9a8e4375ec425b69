"""Port: received payloads, unchanged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bridge.model import AccountId, ChannelRef, Raw
from bridge.model.inbox_records import InboxRow


class InboxStore(Protocol):
    """Received payloads, unchanged, and the channels' read positions."""

    async def accept(self, raw: Raw, *, advance: bool) -> InboxRow | None:
        """Save a payload.

        Args:
            raw: the payload; its dedupe key is unique within the account.
            advance: move the channel's cursor to the `order_key` in the same transaction, also for
                a repeated payload.

        Returns:
            The new row; None when the account's dedupe key was saved before.

        Raises:
            StoreFull: the disk is full; the platform should deliver the payload again.
        """
        ...

    async def waiting_rows(self) -> Sequence[InboxRow]:
        """Return the rows that nobody has processed yet, oldest first."""
        ...

    async def failed_rows(self, limit: int = 100) -> Sequence[tuple[InboxRow, str]]:
        """Return failed rows with their errors, at most `limit`."""
        ...

    async def retry_failed_rows(self) -> int:
        """Set failed rows waiting again, for a corrected decoder. Returns their number."""
        ...

    async def fail_row(self, row: int, error: str) -> None:
        """Mark a row as failed, with the reason."""
        ...

    async def cursor(self, account: AccountId, channel: ChannelRef) -> str | None:
        """Return the channel's read position; None before the first."""
        ...

    async def set_cursor(self, account: AccountId, channel: ChannelRef, cursor: str) -> None:
        """Advance the channel's read position; a smaller value changes nothing."""
        ...
