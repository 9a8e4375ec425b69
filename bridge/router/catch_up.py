"""After a start or a new session: what was said while nobody listened, before what is said now."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

import structlog

from bridge.errors import BridgeError, RateLimited, Refused
from bridge.model import AccountId, ChannelRef
from bridge.ports.clock import Clock
from bridge.ports.connector import Connector, ReadsHistory
from bridge.ports.store import InboxRow, Store
from bridge.router.policy import Policy
from bridge.router.sources import Sources

log = structlog.get_logger()

_AT_ONCE = 4  # channels of an account that are read side by side: its limits are few
_SHORTEST_PAUSE = 0.25  # seconds, also where a platform says that a moment will do


class _Asked(float):
    """A pause that the platform asked for: no failure."""


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
        self._places = {account: asyncio.Semaphore(_AT_ONCE) for account in connectors}
        self.behind = 0  # channels that are being read
        self._awaited: set[tuple[AccountId, str]] = set()

    def is_current(self, channel: ChannelRef) -> bool:
        """Whether live events of the channel may move its cursor."""
        return channel.key in self._current

    def await_sessions(self, channels: Mapping[AccountId, list[ChannelRef]]) -> None:
        """At the start: rows kept before the last stop may be newer than what was missed, so
        they wait until their channel is read."""
        for account, heard in channels.items():
            if isinstance(self._connectors[account], ReadsHistory):
                for channel in heard:
                    self._awaited.add((account, channel.key))
                    self._sources.hold(channel.key)

    async def stop_awaiting(self) -> None:
        """Accounts that still have no session let their channels go on."""
        await self._clock.sleep(self._policy.first_session)
        for account, key in self._awaited:
            log.warning("no_session_yet", account=account, channel=key)
            self._sources.release(key)
        self._awaited.clear()

    def lose_sight_of(self, account: AccountId, channels: list[ChannelRef]) -> list[ChannelRef]:
        """Events may have been missed: hold the channels until they are read. Gives those."""
        if not isinstance(self._connectors[account], ReadsHistory):
            self._current.update(channel.key for channel in channels)
            return []
        for channel in channels:
            self._current.discard(channel.key)
            self._runs[channel.key] = self._runs.get(channel.key, 0) + 1
            if (account, channel.key) in self._awaited:
                self._awaited.discard((account, channel.key))
            else:
                self._sources.hold(channel.key)
        return channels

    async def read(self, account: AccountId, channel: ChannelRef) -> None:
        """Read one held channel until that succeeds, or a later session has it read anew.

        After some failures the channel goes on unread: late news are better than none.
        """
        run, held, failures = self._runs[channel.key], True, 0
        self.behind += 1
        try:
            while run == self._runs[channel.key]:
                pause = await self._try(account, channel, failures)
                if pause is None:
                    break
                failures += not isinstance(pause, _Asked)
                if held and failures >= self._policy.catch_up_tries:
                    log.error("catch_up_late", channel=channel.key)
                    held = False
                    self._sources.release(channel.key)
                await self._clock.sleep(pause)
        finally:
            self.behind -= 1
            if held:
                self._sources.release(channel.key)

    async def _try(self, account: AccountId, channel: ChannelRef, failures: int) -> float | None:
        """Read once; None when there is nothing more to do, else how long to wait before the next
        try."""
        run = self._runs[channel.key]
        try:
            async with self._places[account]:
                await self._read_once(account, channel)
        except Refused as error:
            log.warning("catch_up_refused", channel=channel.key, error=str(error))
            return None
        except RateLimited as error:
            return _Asked(max(error.retry_after, _SHORTEST_PAUSE))
        except BridgeError as error:
            pause = self._policy.backoff(failures)
            log.warning("catch_up_waits", channel=channel.key, error=str(error), pause=pause)
            return pause
        if run == self._runs[channel.key]:
            self._current.add(channel.key)
        return None

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
