"""Finds stalled connections: open ones that deliver no events although messages were posted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

import structlog

from bridge.errors import BridgeError, StoreError
from bridge.model import AccountId, ChannelRef, PostMessage, Raw
from bridge.ports.clock import Clock
from bridge.ports.connector import Connector
from bridge.ports.store.inbox import InboxStore
from bridge.ports.store.key_values import ROUTER_VALUES, KeyValueStore
from bridge.router.rooms.rooms import Rooms
from bridge.router.runtime import metrics
from bridge.router.runtime.timeouts import Timeouts
from bridge.router.signals import OperationEnded

log = structlog.get_logger()

_ALIVE = "alive"
_HOPELESS = 3  # new connections that did not help


class _WatchdogStore(InboxStore, KeyValueStore, Protocol):
    """What `ConnectionWatchdog` needs of the store."""


class ConnectionWatchdog:
    """Watches connections. It renews a stalled one, which begins a session, so that catch-up reads
    the missed messages.

    `away_since` is when the bridge was last alive before this start; None at its first.
    """

    def __init__(
        self,
        store: _WatchdogStore,
        connectors: Mapping[AccountId, Connector],
        rooms: Rooms,
        clock: Clock,
        timeouts: Timeouts,
        reconnect: Callable[[AccountId], None],
        receives: Callable[[AccountId], bool],
    ) -> None:
        self._receives = receives
        self._store = store
        self._connectors = connectors
        self._rooms = rooms
        self._clock = clock
        self._timeouts = timeouts
        self._reconnect = reconnect
        self._last: dict[AccountId, float] = {}
        self._newest: dict[tuple[AccountId, ChannelRef], str] = {}
        self._posted: dict[AccountId, float] = {}
        self._stalled: dict[AccountId, int] = {}
        self._looked: dict[AccountId, float] = {}  # when each last stalled, or we started
        self.away_since: float | None = None

    def note_received(self, raw: Raw) -> None:
        """Note that the account received something."""
        self._last[raw.account] = self._clock.time()
        if raw.channel is not None:
            key = (raw.account, raw.channel)
            self._newest[key] = max(self._newest.get(key, ""), raw.order_key)
        if self._stalled:
            self._stalled.pop(raw.account, None)

    async def operation_ended(self, ended: OperationEnded) -> None:
        """Expect the echo of a post of ours from now on."""
        if ended.state == "done" and isinstance(ended.operation, PostMessage):
            self._posted[ended.operation.account] = self._clock.time()

    def last(self, account: AccountId) -> float | None:
        """Return when the account last received something, before this start if it was then; None
        where that is not known."""
        return self._last.get(account, self.away_since)

    def note(self, account: AccountId) -> str:
        """Return what is wrong with the connection; empty when nothing is known to be wrong."""
        times = self._stalled.get(account, 0)
        if not times:
            return ""
        if times < _HOPELESS:
            return "connected, but nothing of what is said is heard; connected anew"
        return (
            f"connected {times} times, and nothing of what is said is heard; check which events "
            "the app is subscribed to, and what it may read"
        )

    async def start(self) -> None:
        """Read when the bridge was last alive, as `run` noted it. Raises StoreError."""
        noted = await self._store.get_value(ROUTER_VALUES, _ALIVE)
        self.away_since = float(noted) if noted is not None else None
        self._looked = dict.fromkeys(self._connectors, self._clock.time())

    def begins(self, account: AccountId) -> None:
        """This process receives through the account from now on."""
        self._looked[account] = self._clock.time()

    async def run(self) -> None:
        """Note that the bridge is alive, and probe silent accounts, until cancelled."""
        while True:
            await self._clock.sleep(self._timeouts.watchdog_interval)
            try:
                await self.note_alive()
                for account in list(self._connectors):
                    # Accounts come and go.
                    if account in self._connectors and self._receives(account):
                        await self._look_after(account)
            except BridgeError as error:
                log.warning("connection_watchdog_failed", error=str(error))

    async def close(self) -> None:
        """Note that the bridge was alive until now."""
        try:
            await self.note_alive()
        except StoreError as error:
            log.warning("liveness_write_failed", error=str(error))

    async def note_alive(self) -> None:
        """Note that the bridge is alive. Raises StoreError."""
        await self._store.put_value(ROUTER_VALUES, _ALIVE, f"{self._clock.time():.3f}")

    async def _look_after(self, account: AccountId) -> None:
        if not self._is_silent(account):
            return
        history = self._connectors[account].abilities.history
        channel = await self._busiest(account)
        if channel is None or history is None:
            return
        last_before = self._last.get(account)
        key = (account, channel)
        known_key = max(self._newest.get(key, ""), await self._store.cursor(*key) or "")
        try:
            newest = await history.newest(channel)
            if newest > known_key:
                await self._clock.sleep(self._timeouts.stalled_grace)
        except StoreError:
            raise
        except BridgeError as error:
            log.info("connection_probe_failed", account=account, error=str(error))
            return
        if newest <= known_key or self._last.get(account) != last_before:
            return
        self._newest[key] = newest  # if the new connection misses it too, that is no new stall
        self._stalled[account] = self._stalled.get(account, 0) + 1
        self._looked[account] = self._clock.time()
        metrics.STALLED.labels(account).inc()
        log.error(
            "connection_stalled", account=account, channel=channel.key, times=self._stalled[account]
        )
        self._reconnect(account)

    def _is_silent(self, account: AccountId) -> bool:
        """Whether the account has received nothing for so long that a probe is worth a request;
        sooner where the echo of our own post is missing."""
        now, silence = self._clock.time(), self._timeouts.stalled_after
        last, posted = self._last.get(account, 0.0), self._posted.get(account, 0.0)
        last, times = max(last, self._looked.get(account, 0.0)), self._stalled.get(account, 0)
        echoes = self._connectors[account].capabilities.echo
        # An echo may come before the answer to its request.
        if echoes and posted - self._timeouts.stalled_grace > last and not times:
            return now - posted >= self._timeouts.stalled_after_post
        return now - last >= silence * 2 ** min(times, 6)

    async def _busiest(self, account: AccountId) -> ChannelRef | None:
        """The channel with the latest message that we know of."""
        channels = self._rooms.inbound_channels(account)
        keys = {
            channel: max(
                self._newest.get((account, channel), ""),
                await self._store.cursor(account, channel) or "",
            )
            for channel in channels
        }
        return max(channels, key=lambda channel: keys[channel], default=None)
