"""Each account's own shelf in the store."""

from __future__ import annotations

from bridge.model import AccountId
from bridge.ports.store import Store


class AccountShelf:
    """Small durable values of one account."""

    def __init__(self, store: Store, account: AccountId) -> None:
        self._store = store
        self._account = account

    async def get(self, key: str) -> str | None:
        return await self._store.shelf_get(self._account, key)

    async def put(self, key: str, value: str, *, sealed: bool = False) -> None:
        await self._store.shelf_put(self._account, key, value, sealed=sealed)

    async def remove(self, key: str) -> None:
        await self._store.shelf_remove(self._account, key)
