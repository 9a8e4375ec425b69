"""Decides which channels are read for missed messages, and when: at a new session, and when a
channel is new to us."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Set

from bridge.model import AccountId, ChannelRef, Raw
from bridge.model.room_records import DirectEnd
from bridge.router.recovery.catch_up import CatchUp
from bridge.router.recovery.last_stop import LastStop
from bridge.router.rooms.direct_messages import DirectMessages
from bridge.router.rooms.rooms import Rooms
from bridge.router.runtime.background import Background


class ChannelReader:
    """Begins readings; `CatchUp` does them."""

    def __init__(
        self,
        accounts: Iterable[AccountId],
        rooms: Rooms,
        directs: DirectMessages,
        catch_up: CatchUp,
        last_stop: LastStop,
        background: Background,
    ) -> None:
        """`accounts`: those whose gap before this start was not announced yet."""
        self._silent = set(accounts)
        self._rooms = rooms
        self._directs = directs
        self._catch_up = catch_up
        self._last_stop = last_stop
        self._background = background
        self._readings: dict[AccountId, set[asyncio.Task[None]]] = {}

    def inbound_channels(self, account: AccountId) -> list[ChannelRef]:
        """All channels that the account listens to, those of direct messages included."""
        return [*self._rooms.inbound_channels(account), *self._directs.channels(account)]

    def session_began(
        self, account: AccountId, channel: ChannelRef | None = None, *, alone: bool = True
    ) -> None:
        """Something may have been missed: read every channel that this account listens to, or the
        given one if it is among them. `alone`: whether all further events come here."""
        if channel is None:
            self._last_stop.note_connections(account, alone=alone)
        channels = [
            inbound_channel
            for inbound_channel in self.inbound_channels(account)
            if channel in (None, inbound_channel)
        ]
        if account in self._silent:
            self._silent.discard(account)
            self._background.spawn(self._catch_up.post_gap_at_start(account), f"gap of {account}")
        self._read(account, channels)

    def read_new(
        self,
        before: Mapping[AccountId, Set[ChannelRef]],
        connected: Collection[AccountId],
    ) -> None:
        """Read the channels of rooms that were not received `before`, of the accounts that are
        `connected`."""
        for account in connected:
            if account not in before:
                continue
            if new := self._rooms.inbound_set(account) - before[account]:
                self._read(account, [c for c in self._rooms.inbound_channels(account) if c in new])

    def live_event_comes(self, raw: Raw) -> None:
        """Read the channel once more before this event where a post before it may have gone to
        another connection."""
        if raw.channel is not None and self._catch_up.may_follow_a_missed_post(raw):
            self._read(raw.account, [raw.channel], compare=False)

    async def direct_channel_opened(self, end: DirectEnd) -> None:
        """Read a direct channel that is new to us."""
        self._read(end.account, [end.channel])

    def _read(
        self, account: AccountId, channels: list[ChannelRef], *, compare: bool = True
    ) -> None:
        if unread := self._catch_up.lose_sight_of(account, channels):
            work = self._catch_up.read_all(account, unread, compare=compare)
            task = self._background.spawn(work, f"catch up {account}")
            self._readings.setdefault(account, set()).add(task)
            task.add_done_callback(self._readings[account].discard)

    async def let_go(self, account: AccountId) -> None:
        """Read no more through this account: another process does. Raises StoreError."""
        tasks = list(self._readings.get(account, ()))
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._catch_up.let_go(account)
