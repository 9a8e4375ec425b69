"""After a start or a new session: what was said while nobody listened, before what is said now."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import structlog

from bridge.errors import PlatformError, RateLimited, Refused
from bridge.model import AccountId, ChannelRef
from bridge.ports.clock import Clock
from bridge.ports.connector import Connector, ReadsHistory
from bridge.ports.store import InboxRow, Store
from bridge.router.policy import Policy
from bridge.router.sources import Sources

log = structlog.get_logger()


class CatchUp:
    """Compares channels with their stored cursors.

    While a channel is read its live events are kept and wait; its cursor moves only when it is
    current, so that a crash in between loses nothing.
    """

    def __init__(
        self,
        store: Store,
        connectors: Mapping[AccountId, Connector],
        sources: Sources,
        clock: Clock,
        policy: Policy,
        put: Callable[[InboxRow], None],
    ) -> None:
        self._store = store
        self._connectors = connectors
        self._sources = sources
        self._clock = clock
        self._policy = policy
        self._put = put
        self._current: set[str] = set()
        self._runs: dict[str, int] = {}

    def is_current(self, channel: ChannelRef) -> bool:
        """Whether live events of the channel may move its cursor."""
        return channel.key in self._current

    def lose_sight_of(self, account: AccountId, channels: list[ChannelRef]) -> list[ChannelRef]:
        """Events may have been missed: hold the channels until they are read. Gives those."""
        if not isinstance(self._connectors[account], ReadsHistory):
            self._current.update(channel.key for channel in channels)
            return []
        for channel in channels:
            self._current.discard(channel.key)
            self._runs[channel.key] = self._runs.get(channel.key, 0) + 1
            self._sources.hold(channel.key)
        return channels

    async def read(self, account: AccountId, channel: ChannelRef) -> None:
        """Read one held channel, with patience; then let it go on, come what may."""
        run = self._runs[channel.key]
        try:
            complete = await self._read_patiently(account, channel)
            if complete and run == self._runs[channel.key]:
                self._current.add(channel.key)
        finally:
            self._sources.release(channel.key)

    async def _read_patiently(self, account: AccountId, channel: ChannelRef) -> bool:
        for attempt in range(self._policy.catch_up_tries):
            try:
                await self._read_once(account, channel)
            except Refused as error:
                log.warning("catch_up_refused", channel=channel.key, error=str(error))
                return False
            except PlatformError as error:
                pause = self._policy.backoff(attempt)
                if isinstance(error, RateLimited):
                    pause = error.retry_after
                log.warning("catch_up_waits", channel=channel.key, error=str(error), pause=pause)
                await self._clock.sleep(pause)
            else:
                return True
        log.error("catch_up_gave_up", channel=channel.key)
        return False

    async def _read_once(self, account: AccountId, channel: ChannelRef) -> None:
        connector = self._connectors[account]
        if not isinstance(connector, ReadsHistory):
            return
        cursor = await self._store.cursor(account, channel)
        if cursor is None:
            await self._store.set_cursor(account, channel, await connector.newest(channel))
            return
        newest, found = cursor, 0
        since = self._clock.time() - self._policy.thread_window
        threads = await self._store.live_threads(channel, since)
        async for raw in connector.read_after(channel, cursor, threads):
            row = await self._store.accept(raw, advance=False)
            newest = max(newest, raw.order_key)
            if row:
                found += 1
                self._put(row)
        if newest != cursor:
            await self._store.set_cursor(account, channel, newest)
        if found:
            log.info("caught_up", channel=channel.key, found=found)
