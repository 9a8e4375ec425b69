"""Kept payloads in their order: one worker for each source channel, all channels side by side."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

from bridge.model import Raw
from bridge.model.inbox_records import InboxRow
from bridge.router.signals import Signal


@dataclass
class _Source:
    rows: deque[InboxRow] = field(default_factory=deque[InboxRow])
    holds: int = 0
    expected: int = 0
    finishing: int = 0
    current: Raw | None = None  # what is being worked on
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
        self._keeps_held = False

    def put(self, row: InboxRow) -> None:
        """Queue a row behind the others of its source."""
        if not self._is_ours(row.raw):
            return  # the row waits in the inbox for whom it is now
        key = _source_of(row.raw)
        source = self._sources.setdefault(key, _Source())
        source.rows.append(row)
        self._go_on(key, source)

    def is_free(self, raw: Raw) -> bool:
        """Whether a payload may be worked on before it is a row: nothing of its source is on its
        way, waits or is being worked on."""
        return self._is_ours(raw) and self.wait is None and _source_of(raw) not in self._sources

    @contextmanager
    def expecting(self, raw: Raw) -> Generator[None]:
        """Inside this context a row is on its way into its source, which is not free therefore."""
        key = _source_of(raw)
        source = self._sources.setdefault(key, _Source())
        source.expected += 1
        try:
            yield
        finally:
            source.expected -= 1
            self._forget_empty(key, source)

    def take(self, raw: Raw) -> None:
        """Let the caller work on a payload of a free source; rows wait until `give_back`."""
        self._sources[_source_of(raw)] = _Source(current=raw)

    def give_back(self, raw: Raw, rest: Callable[[], Awaitable[None]] | None = None) -> None:
        """Let the rows of a source that was taken go on, after the rest of that work."""
        key = _source_of(raw)
        source = self._sources[key]
        if rest is None:
            source.current = None
            self._go_on(key, source)
            self._forget_empty(key, source)
        else:
            self._start(key, source, rest)

    def hold(self, key: str) -> None:
        """Let the source gather rows, until `release` is called as often as this."""
        self._sources.setdefault(key, _Source()).holds += 1

    def release(self, key: str) -> None:
        """End one hold; after the last, the rows go on in the platform's order."""
        if self._keeps_held:
            return
        source = self._sources[key]
        source.holds -= 1
        if not source.holds:
            source.rows = deque(sorted(source.rows, key=lambda row: row.raw.order_key))
            self._go_on(key, source)

    def keep_held(self) -> None:
        """End no hold any more, because the process stops: readings that end now were interrupted,
        and the rows that wait for them are the next process'."""
        self._keeps_held = True

    async def finish(self, key: str, *, until: str) -> None:
        """Work on a held source's rows that are not later than this order key, the rest waits: also
        where the hold ends meanwhile."""
        source = self._sources.get(key)
        if source is None or not source.holds:
            return
        if source.task is not None:
            await asyncio.wait({source.task})
        rows = sorted(source.rows, key=lambda row: row.raw.order_key)
        early = deque(row for row in rows if row.raw.order_key <= until)
        source.rows = deque(row for row in rows if row.raw.order_key > until)
        source.finishing += 1
        try:
            while early:
                if self._is_ours(early[0].raw):
                    await self._row_due.emit(early[0])
                early.popleft()
        finally:
            source.finishing -= 1
            # Where this was cancelled, the others go on in their turn.
            source.rows.extendleft(row for row in reversed(early) if self._is_ours(row.raw))
            self._go_on(key, source)
            self._forget_empty(key, source)

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
        """Whether nothing is being worked on."""
        return not self._tasks and all(one.current is None for one in self._sources.values())

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
            if source.task is not None and source.current and not self._is_ours(source.current):
                working.add(source.task)
        if working:
            await asyncio.wait(working)

    async def close(self) -> None:
        """Stop; rows that are not done stay in the inbox."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _go_on(self, key: str, source: _Source) -> None:
        is_free = source.task is None and source.current is None and not source.finishing
        if is_free and not source.holds and source.rows:
            self._start(key, source)

    def _start(
        self, key: str, source: _Source, rest: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        source.task = asyncio.create_task(self._run(key, source, rest), name=f"source {key}")
        self._tasks.add(source.task)
        source.task.add_done_callback(self._tasks.discard)

    async def _run(
        self, key: str, source: _Source, rest: Callable[[], Awaitable[None]] | None
    ) -> None:
        try:
            if rest is not None:
                await rest()
                source.current = None
            while source.rows and not source.holds:
                if self.wait is not None:
                    await self.wait(source.rows[0])
                    if not source.rows or source.holds:  # meanwhile
                        continue
                row = source.rows.popleft()
                source.current = row.raw
                await self._row_due.emit(row)
                source.current = None
        finally:
            source.task = source.current = None
            self._forget_empty(key, source)

    def _forget_empty(self, key: str, source: _Source) -> None:
        is_used = source.holds or source.current or source.expected or source.finishing
        if not (source.rows or source.task or is_used):
            self._sources.pop(key, None)


def _source_of(raw: Raw) -> str:
    return raw.channel.key if raw.channel else f"account {raw.account}"
