"""Events of messages that the store does not know: they wait for their message, which is then
fetched."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import structlog

from bridge.errors import BridgeError, RateLimited
from bridge.model import AccountId, ChannelRef, Place, Raw
from bridge.model.archive_records import Orphan
from bridge.model.inbox_records import InboxRow
from bridge.ports.abilities.platform_history import MessageLookup
from bridge.ports.clock import Clock
from bridge.ports.connector import Connector
from bridge.ports.store.inbox import InboxStore
from bridge.ports.store.recovery import RecoveryStore
from bridge.router.inbound.history_start import HistoryStarts
from bridge.router.runtime.timeouts import Timeouts

log = structlog.get_logger()

_MOST_WAITING = 10_000  # messages that are waited for at a time
_MOST_REMEMBERED = 50_000  # ... and of which is remembered what happened to them

_MOST_WAITS = 10  # ... for a platform that asks for it

_Key = tuple[str, str]  # channel, native id


@dataclass
class _Waiting:
    task: asyncio.Task[None]
    rows: list[InboxRow] = field(default_factory=list[InboxRow])


class _OrphansStore(RecoveryStore, InboxStore, Protocol):
    """What `Orphans` needs of the store."""


class Orphans:
    """Keeps these events apart from their channel's other events, which go on.

    A row that waits is still `waiting` in the inbox, so a restart waits anew. One that waited in
    vain is noted in the store: should its message come late, it is worked on then.
    """

    def __init__(
        self,
        store: _OrphansStore,
        connectors: Mapping[AccountId, Connector],
        history_starts: HistoryStarts,
        clock: Clock,
        timeouts: Timeouts,
        put: Callable[[InboxRow], None],
    ) -> None:
        self._store = store
        self._connectors = connectors
        self._history_starts = history_starts
        self._clock = clock
        self._timeouts = timeouts
        self._put = put
        self._waiting: dict[_Key, _Waiting] = {}
        self._orphans: dict[_Key, list[Orphan]] = {}
        self._given_up: set[int] = set()
        self._doubted: set[int] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Load the orphans that are not too old."""
        self._orphans.clear()
        since = self._clock.time() - self._timeouts.orphans_remembered
        await self._store.forget_orphans(since)
        for orphan in reversed(await self._store.orphans(since, limit=_MOST_REMEMBERED)):
            self.note(orphan)

    def note(self, orphan: Orphan) -> None:
        """Remember an orphan that is in the store now."""
        if len(self._orphans) >= _MOST_REMEMBERED:
            self._orphans.pop(next(iter(self._orphans)))
        self._orphans.setdefault((orphan.channel.key, orphan.native_id), []).append(orphan)

    def is_gone(self, channel: ChannelRef, native_id: str) -> bool:
        """Whether the message was deleted before it came."""
        orphans = self._orphans.get((channel.key, native_id)) if self._orphans else None
        return orphans is not None and any(orphan.deletion for orphan in orphans)

    def doubt(self, row: InboxRow) -> None:
        """Note a row that came so late that its message may be deleted by now."""
        if len(self._doubted) < _MOST_WAITING:
            self._doubted.add(row.id)

    def is_doubted(self, row: InboxRow) -> bool:
        return row.id in self._doubted

    def trust(self, row: InboxRow) -> None:
        """Forget the doubt about a row that is done."""
        self._doubted.discard(row.id)

    async def went_before(self, row: InboxRow, place: Place, native_id: str) -> bool:
        """Whether a post that came late was deleted meanwhile. Platforms send again what was not
        acknowledged, minutes later and each event by itself: the deletion may come later still, or
        never. Without an answer of the platform the post stands."""
        connector = self._connectors.get(row.raw.account)
        lookup = connector.abilities.lookup if connector else None
        if row.id not in self._doubted or lookup is None:
            return False
        try:
            async with asyncio.timeout(self._timeouts.send_deadline):
                return await lookup.fetch(place.channel, native_id, place.thread) is None
        except (BridgeError, TimeoutError) as error:
            log.warning("message_fetch_failed", channel=place.channel.key, error=str(error))
            return False

    def wait(self, row: InboxRow, place: Place, native_id: str) -> bool:
        """Whether the row is kept here until its message comes; each row waits once only."""
        if row.id in self._given_up:
            self._given_up.discard(row.id)
            return False
        key = (place.channel.key, native_id)
        waiting = self._waiting.get(key)
        if waiting is None:
            if len(self._waiting) >= _MOST_WAITING:
                return False
            task = self._spawn(self._give_up_later(key, row.raw.account, place, native_id))
            waiting = self._waiting[key] = _Waiting(task)
        waiting.rows.append(row)
        return True

    def arrived(self, channel: ChannelRef, native_id: str) -> None:
        """Work on the events of a message that is archived now, in their order."""
        if not self._waiting and not self._orphans:
            return
        key = (channel.key, native_id)
        if waiting := self._waiting.pop(key, None):
            waiting.task.cancel()
            self._put_all(waiting.rows)
        if late := [orphan for orphan in self._orphans.get(key, ()) if not orphan.deletion]:
            del self._orphans[key]
            self._spawn(self._happen_late(late))

    def let_go(self, is_ours: Callable[[Raw], bool]) -> None:
        """Forget the rows that another process works on from now on; they stay in the inbox."""
        for key, waiting in list(self._waiting.items()):
            if not any(is_ours(row.raw) for row in waiting.rows):
                waiting.task.cancel()
                del self._waiting[key]

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _give_up_later(
        self, key: _Key, account: AccountId, place: Place, native_id: str
    ) -> None:
        await self._clock.sleep(self._timeouts.orphan_wait)
        await self._fetch(account, place, native_id)
        waiting = self._waiting.pop(key)
        # Behind the message itself, where that was found: the channel's rows keep their order.
        self._given_up.update(row.id for row in waiting.rows)
        self._put_all(waiting.rows)

    async def _fetch(self, account: AccountId, place: Place, native_id: str) -> None:
        """Take the message in, if the platform still has it and we listened when it was posted."""
        connector = self._connectors.get(account)
        lookup = connector.abilities.lookup if connector else None
        if lookup is None:
            return
        try:
            raw = await self._patiently(lookup, place, native_id)
            began = await self._history_starts.of(account, place.channel)
            if raw is None or began is None or raw.order_key <= began:
                return
            if row := await self._store.accept(raw, advance=False):
                self._put(row)
        except (BridgeError, TimeoutError) as error:
            log.warning("message_fetch_failed", channel=place.channel.key, error=str(error))

    async def _patiently(self, lookup: MessageLookup, place: Place, native_id: str) -> Raw | None:
        """A rate limit is waited for, and is no failure."""
        for _ in range(_MOST_WAITS):
            try:
                async with asyncio.timeout(self._timeouts.send_deadline):
                    return await lookup.fetch(place.channel, native_id, place.thread)
            except RateLimited as error:
                await self._clock.sleep(error.retry_after)
        async with asyncio.timeout(self._timeouts.send_deadline):
            return await lookup.fetch(place.channel, native_id, place.thread)

    async def _happen_late(self, orphans: Sequence[Orphan]) -> None:
        for orphan in orphans:
            if row := await self._store.inbox_row(orphan.row):
                self._given_up.add(row.id)
                self._put(row)

    def _put_all(self, rows: Sequence[InboxRow]) -> None:
        for row in rows:
            self._put(row)

    def _spawn(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work, name="orphans")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
