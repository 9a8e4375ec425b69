"""The inbox, in memory: kept payloads, cursors, and what of a payload is a secret for a while."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bridge.errors import StoreError
from bridge.model import AccountId, ChannelRef, Raw
from bridge.ports.clock import Clock
from bridge.ports.store import InboxRow, InboxState
from bridge.store.inbox import without_credentials


@dataclass
class KeptRow:
    """A row and what became of it; `kept` and `expires` are seconds since 1970."""

    row: InboxRow
    kept: float
    credentials: Mapping[str, str]
    expires: float
    state: InboxState = "waiting"
    outcome: str = ""
    error: str = ""


class MemoryInbox:
    """What `bridge.store.inbox` does, in dicts."""

    _clock: Clock

    def __init__(self) -> None:
        self._rows: dict[int, KeptRow] = {}
        self._keys: set[tuple[AccountId, str]] = set()
        self._cursors: dict[tuple[AccountId, ChannelRef], str] = {}

    def _must_be_open(self) -> None:
        raise NotImplementedError

    async def accept(self, raw: Raw, *, advance: bool) -> InboxRow | None:
        self._must_be_open()
        if advance and raw.channel is not None:
            await self.set_cursor(raw.account, raw.channel, raw.order_key)
        if (raw.account, raw.dedupe_key) in self._keys:
            return None
        self._keys.add((raw.account, raw.dedupe_key))
        row = InboxRow(len(self._rows) + 1, without_credentials(raw))
        now = self._clock.time()
        self._rows[row.id] = KeptRow(row, now, dict(raw.credentials), now + raw.credentials_ttl)
        return row

    async def waiting_rows(self) -> Sequence[InboxRow]:
        return [kept.row for kept in self._rows.values() if kept.state == "waiting"]

    async def failed_rows(self, limit: int = 100) -> Sequence[tuple[InboxRow, str]]:
        failed = [kept for kept in self._rows.values() if kept.state == "failed"]
        return [(kept.row, kept.error) for kept in failed[:limit]]

    async def retry_failed_rows(self) -> int:
        failed = [kept for kept in self._rows.values() if kept.state == "failed"]
        for kept in failed:
            kept.state, kept.error = "waiting", ""
        return len(failed)

    async def fail_row(self, row: int, error: str) -> None:
        kept = self._row(row)
        kept.state, kept.error = "failed", error

    async def inbox_row(self, row: int) -> InboxRow | None:
        kept = self._rows.get(row)
        return None if kept is None else kept.row

    def _row(self, row: int) -> KeptRow:
        if row not in self._rows:
            raise StoreError(f"There is no inbox row {row!r}")
        return self._rows[row]

    async def cursor(self, account: AccountId, channel: ChannelRef) -> str | None:
        return self._cursors.get((account, channel))

    async def set_cursor(self, account: AccountId, channel: ChannelRef, cursor: str) -> None:
        self._must_be_open()
        before = self._cursors.get((account, channel), cursor)
        self._cursors[account, channel] = max(before, cursor)

    async def payload_credentials(self, row: int) -> Mapping[str, str]:
        kept = self._rows.get(row)
        fresh = kept is not None and kept.expires > self._clock.time()
        return kept.credentials if kept is not None and fresh else {}

    async def forget_expired(self) -> int:
        now = self._clock.time()
        over = [row for row in self._rows.values() if row.credentials and row.expires <= now]
        for row in over:
            row.credentials = {}
        return len(over)
