"""Kept payloads in their order: one worker for each source channel, all channels side by side."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from bridge.model import Raw
from bridge.model.inbox_records import InboxRow
from bridge.router.signals import Signal


@dataclass
class _Source:
    rows: deque[InboxRow] = field(default_factory=deque[InboxRow])
    holds: int = 0
    current: InboxRow | None = None
    task: asyncio.Task[None] | None = None


class InboundQueues:
    """Emits `row_due` for the rows of each source, one row after the other; the listener works
    on the row.

    A source that is held gathers rows. When it is released they go on in the platform's order, so
    that rows of catch-up stand before those that arrived meanwhile. `wait` returns when a row may
    be worked on; those behind it in its source wait with it.
    """

    def __init__(
        self, row_due: Signal[InboxRow], is_ours: Callable[[Raw], bool] = lambda _: True
    ) -> None:
        self._is_ours = is_ours
        self.wait: Callable[[InboxRow], Awaitable[None]] | None = None
        self._row_due = row_due
        self._sources: dict[str, _Source] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def put(self, row: InboxRow) -> None:
        """Queue a row behind the others of its source."""
        if not self._is_ours(row.raw):
            return  # the row waits in the inbox for whom it is now
        source = self._sources.setdefault(_key(row), _Source())
        source.rows.append(row)
        self._go_on(_key(row), source)

    def hold(self, key: str) -> None:
        """Let the source gather rows, until `release` is called as often as this."""
        self._sources.setdefault(key, _Source()).holds += 1

    def release(self, key: str) -> None:
        """End one hold; after the last, the rows go on in the platform's order."""
        source = self._sources[key]
        source.holds -= 1
        if not source.holds:
            source.rows = deque(sorted(source.rows, key=lambda row: row.raw.order_key))
            self._go_on(key, source)

    async def finish(self, key: str, *, until: str) -> None:
        """Work on a held source's rows that are not later than this order key, the rest waits."""
        source = self._sources.get(key)
        if source is None or not source.holds:
            return
        if source.task is not None:
            await asyncio.wait({source.task})
        rows = sorted(source.rows, key=lambda row: row.raw.order_key)
        early = [row for row in rows if row.raw.order_key <= until]
        source.rows = deque(row for row in rows if row.raw.order_key > until)
        for row in early:
            if self._is_ours(row.raw):
                await self._row_due.emit(row)

    def waits(self, key: str) -> bool:
        """Whether a held source has rows."""
        source = self._sources.get(key)
        return source is not None and source.holds > 0 and bool(source.rows)

    async def worked_off(self, key: str) -> None:
        """Wait until the rows that a source has now are worked on, unless it is held."""
        source = self._sources.get(key)
        if source is not None and source.task is not None:
            await asyncio.wait({source.task})

    @property
    def idle(self) -> bool:
        """Whether no row is being worked on."""
        return not self._tasks

    async def drain(self) -> None:
        """Wait until every row that may be worked on is done."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    async def let_go(self) -> None:
        """Forget the rows that are not this process' any more; those that are being worked on are
        done when this returns. The rows stay in the inbox."""
        working: set[asyncio.Task[None]] = set()
        for source in self._sources.values():
            source.rows = deque(row for row in source.rows if self._is_ours(row.raw))
            if source.task is not None and source.current and not self._is_ours(source.current.raw):
                working.add(source.task)
        if working:
            await asyncio.wait(working)

    async def close(self) -> None:
        """Stop; rows that are not done stay in the inbox."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _go_on(self, key: str, source: _Source) -> None:
        if source.task is not None or source.holds or not source.rows:
            return
        source.task = asyncio.create_task(self._run(key, source), name=f"source {key}")
        self._tasks.add(source.task)
        source.task.add_done_callback(self._tasks.discard)

    async def _run(self, key: str, source: _Source) -> None:
        try:
            while source.rows and not source.holds:
                if self.wait is not None:
                    await self.wait(source.rows[0])
                    if not source.rows or source.holds:  # meanwhile
                        continue
                source.current = source.rows.popleft()
                await self._row_due.emit(source.current)
                source.current = None
        finally:
            source.task = None
            if not source.rows and not source.holds:
                self._sources.pop(key, None)


def _key(row: InboxRow) -> str:
    return row.raw.channel.key if row.raw.channel else f"account {row.raw.account}"
