"""Where we began to listen in each channel: older messages are never read."""

from __future__ import annotations

from bridge.model import AccountId, ChannelRef
from bridge.model.refs import join_key
from bridge.ports.store.key_values import ROUTER_VALUES, KeyValueStore


class HistoryStarts:
    """The order keys at which we began to listen, noted once for each account and channel."""

    def __init__(self, store: KeyValueStore) -> None:
        self._store = store
        self._known: dict[tuple[AccountId, ChannelRef], str] = {}

    async def of(self, account: AccountId, channel: ChannelRef) -> str | None:
        """Returns None while the channel was never read."""
        if (known := self._known.get((account, channel))) is not None:
            return known
        found = await self._store.get_value(ROUTER_VALUES, _key(account, channel))
        if found is not None:
            self._known[account, channel] = found
        return found

    async def note(self, account: AccountId, channel: ChannelRef, key: str) -> str:
        """Note `key` as the start, unless one is noted already. Returns the start."""
        if (known := await self.of(account, channel)) is not None:
            return known
        await self._store.put_value(ROUTER_VALUES, _key(account, channel), key)
        self._known[account, channel] = key
        return key


def _key(account: AccountId, channel: ChannelRef) -> str:
    return join_key("began", account, channel.key)
