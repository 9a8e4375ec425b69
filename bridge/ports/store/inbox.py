"""Where payloads are kept as they came."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bridge.model import AccountId, ChannelRef, Raw
from bridge.model.inbox_records import InboxRow


class InboxStore(Protocol):
    """Payloads as they came."""

    async def accept(self, raw: Raw, *, advance: bool) -> InboxRow | None:
        """Keep a payload; None when its dedupe key was kept before for this account.

        `advance` moves the channel's cursor on to the raw's `order_key` in the same transaction,
        for a repeat, too: it was read once more. Raises StoreFull when there is no room.
        """
        ...

    async def waiting_rows(self) -> Sequence[InboxRow]:
        """All rows not worked on yet, oldest first."""
        ...

    async def failed_rows(self, limit: int = 100) -> Sequence[tuple[InboxRow, str]]: ...

    async def retry_failed_rows(self) -> int:
        """Set failed rows waiting again (a decoder was mended); how many."""
        ...

    async def fail_row(self, row: int, error: str) -> None: ...

    async def cursor(self, account: AccountId, channel: ChannelRef) -> str | None: ...

    async def set_cursor(self, account: AccountId, channel: ChannelRef, cursor: str) -> None:
        """Move it on; an earlier value than the stored one changes nothing."""
        ...
