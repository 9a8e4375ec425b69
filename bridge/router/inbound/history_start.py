"""Where we began to listen in each channel: older messages are never read."""

from __future__ import annotations

from bridge.model import AccountId, ChannelRef
from bridge.model.refs import join_key
from bridge.ports.store.key_values import ROUTER_VALUES, KeyValueStore


class HistoryStarts:
    """The order keys at which we began to listen, noted once for each account and channel."""

    def __init__(self, store: KeyValueStore) -> None:
        self._store = store
        self._starts: dict[tuple[AccountId, ChannelRef], str] = {}

    async def of(self, account: AccountId, channel: ChannelRef) -> str | None:
        """Returns None while the channel was never read."""
        if (start := self._starts.get((account, channel))) is not None:
            return start
        start = await self._store.get_value(ROUTER_VALUES, _key(account, channel))
        if start is not None:
            self._starts[account, channel] = start
        return start

    async def note(self, account: AccountId, channel: ChannelRef, key: str) -> str:
        """Note `key` as the start, unless one is noted already. Returns the start."""
        if (start := await self.of(account, channel)) is not None:
            return start
        await self._store.put_value(ROUTER_VALUES, _key(account, channel), key)
        self._starts[account, channel] = key
        return key


def _key(account: AccountId, channel: ChannelRef) -> str:
    return join_key("began", account, channel.key)
