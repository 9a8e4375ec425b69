"""Where connectors and the router keep values of their own."""

from __future__ import annotations

from typing import Protocol

from bridge.model import AccountId

OWN_SHELF = AccountId("")
"""No account has this name: the shelf of the router itself."""


class KeyValueStore(Protocol):
    """Values that connectors and the router keep, by account and key."""

    async def shelf_get(self, account: AccountId, key: str) -> str | None: ...

    async def shelf_put(
        self, account: AccountId, key: str, value: str, *, sealed: bool = False
    ) -> None: ...

    async def shelf_remove(self, account: AccountId, key: str) -> None: ...
