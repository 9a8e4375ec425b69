"""The values that each account keeps in the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from bridge.model import AccountId


class KeyValueAccess(Protocol):
    """The part of the store that keeps the accounts' values."""

    async def get_value(self, account: AccountId, key: str) -> str | None: ...

    async def put_value(
        self, account: AccountId, key: str, value: str, *, sealed: bool = False
    ) -> None: ...

    async def value_keys(self, account: AccountId, prefix: str) -> Sequence[str]: ...

    async def values(self, account: AccountId, prefix: str) -> Mapping[str, str]: ...

    async def put_values(self, account: AccountId, values: Mapping[str, str]) -> None: ...

    async def remove_value(self, account: AccountId, key: str) -> None: ...


class AccountShelf:
    """The `KeyValues` of one account: small durable texts."""

    def __init__(self, store: KeyValueAccess, account: AccountId) -> None:
        self._store = store
        self._account = account

    async def get(self, key: str) -> str | None:
        return await self._store.get_value(self._account, key)

    async def put(self, key: str, value: str, *, sealed: bool = False) -> None:
        await self._store.put_value(self._account, key, value, sealed=sealed)

    async def keys(self, prefix: str) -> Sequence[str]:
        return await self._store.value_keys(self._account, prefix)

    async def remove(self, key: str) -> None:
        await self._store.remove_value(self._account, key)


class Overlay:
    """Reads from a store, if there is one, writes to memory; for commands that only read."""

    def __init__(self, below: KeyValueAccess | None) -> None:
        self._below = below
        self._own: dict[tuple[AccountId, str], str | None] = {}

    async def get_value(self, account: AccountId, key: str) -> str | None:
        if (account, key) in self._own or self._below is None:
            return self._own.get((account, key))
        return await self._below.get_value(account, key)

    async def put_value(
        self, account: AccountId, key: str, value: str, *, sealed: bool = False
    ) -> None:
        self._own[account, key] = value

    async def value_keys(self, account: AccountId, prefix: str) -> Sequence[str]:
        below = () if self._below is None else await self._below.value_keys(account, prefix)
        own = {key: value for (owner, key), value in self._own.items() if owner == account}
        keys = {*(key for key in below if key not in own), *(k for k, v in own.items() if v)}
        return sorted(key for key in keys if key.startswith(prefix))

    async def values(self, account: AccountId, prefix: str) -> Mapping[str, str]:
        below = {} if self._below is None else await self._below.values(account, prefix)
        own = {key: value for (owner, key), value in self._own.items() if owner == account}
        both = {**below, **own}
        return {
            key: value
            for key, value in both.items()
            if value is not None and key.startswith(prefix)
        }

    async def put_values(self, account: AccountId, values: Mapping[str, str]) -> None:
        self._own |= {(account, key): value for key, value in values.items()}

    async def remove_value(self, account: AccountId, key: str) -> None:
        self._own[account, key] = None
