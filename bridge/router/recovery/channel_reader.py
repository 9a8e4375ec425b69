"""Which channels are read for what was missed, and when: at a new session, and when a channel is
new to us."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from bridge.model import AccountId, ChannelRef
from bridge.model.room_records import DirectEnd
from bridge.router.recovery.catch_up import CatchUp
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
        background: Background,
    ) -> None:
        """`accounts`: those whose silence before this start was not looked at yet."""
        self._silent = set(accounts)
        self._rooms = rooms
        self._directs = directs
        self._catch_up = catch_up
        self._background = background

    def heard_channels(self, account: AccountId) -> list[ChannelRef]:
        """All channels that the account listens to, those of direct messages included."""
        return [*self._rooms.heard_channels(account), *self._directs.channels(account)]

    def session_began(self, account: AccountId, channel: ChannelRef | None = None) -> None:
        """Something may have been missed: read every channel that this account listens to, or the
        given one if it is among them."""
        channels = [
            heard_channel
            for heard_channel in self.heard_channels(account)
            if channel in (None, heard_channel)
        ]
        if account in self._silent:
            self._silent.discard(account)
            self._background.spawn(self._catch_up.tell_unheard(account), f"gap of {account}")
        self._read(account, channels)

    def read_new(
        self,
        before: Mapping[AccountId, Collection[ChannelRef]],
        connected: Collection[AccountId],
    ) -> None:
        """Read the channels of rooms that were not heard `before`, of its accounts that are
        connected."""
        for account in connected:
            if account not in before:
                continue
            heard_before = before[account]
            unheard = [
                heard_channel
                for heard_channel in self._rooms.heard_channels(account)
                if heard_channel not in heard_before
            ]
            self._read(account, unheard)

    async def direct_channel_opened(self, end: DirectEnd) -> None:
        """Read a direct channel that is new to us."""
        self._read(end.account, [end.channel])

    def _read(self, account: AccountId, channels: list[ChannelRef]) -> None:
        if unread := self._catch_up.lose_sight_of(account, channels):
            work = self._catch_up.read_all(account, unread)
            self._background.spawn(work, f"catch up {account}")
