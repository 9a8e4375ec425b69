"""Port: small values of connectors and of the router."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from bridge.model import AccountId

ROUTER_VALUES = AccountId("")
"""No account has this name: the values of the router itself."""


class KeyValueStore(Protocol):
    """Small durable values of connectors and of the router, by account and key."""

    async def get_value(self, account: AccountId, key: str) -> str | None:
        """Return a value; None when there is none. Sealed values are decrypted."""
        ...

    async def put_value(
        self, account: AccountId, key: str, value: str, *, sealed: bool = False
    ) -> None:
        """Save a value; replaces the former one. `sealed` values are encrypted at rest."""
        ...

    async def put_first_value(self, account: AccountId, key: str, value: str) -> str:
        """Save a value unless there is one. Returns the one that stands: that of the first process
        which saved any."""
        ...

    async def value_keys(self, account: AccountId, prefix: str) -> Sequence[str]:
        """Return the keys of an account's values that begin with `prefix`, in order."""
        ...

    async def values(self, account: AccountId, prefix: str) -> Mapping[str, str]:
        """Return an account's values by their keys, of keys that begin with `prefix`; without
        sealed ones."""
        ...

    async def put_values(self, account: AccountId, values: Mapping[str, str]) -> None:
        """Save values by their keys, all together; each replaces the former one."""
        ...

    async def remove_value(self, account: AccountId, key: str) -> None:
        """Delete a value; a missing one is no error."""
        ...
