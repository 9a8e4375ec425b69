"""Where connectors and the router keep values of their own."""

from __future__ import annotations

from typing import Protocol

from bridge.model import AccountId

ROUTER_VALUES = AccountId("")
"""No account has this name: the values of the router itself."""


class KeyValueStore(Protocol):
    """Values that connectors and the router keep, by account and key."""

    async def get_value(self, account: AccountId, key: str) -> str | None: ...

    async def put_value(
        self, account: AccountId, key: str, value: str, *, sealed: bool = False
    ) -> None: ...

    async def remove_value(self, account: AccountId, key: str) -> None: ...
