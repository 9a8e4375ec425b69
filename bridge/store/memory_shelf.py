"""What connectors put aside, and credentials, in memory."""

from __future__ import annotations

from bridge.model import AccountId


class MemoryShelf:
    """What `bridge.store.shelf` does, in dicts; nothing is sealed: nothing leaves the process."""

    def __init__(self) -> None:
        self._shelf: dict[tuple[AccountId, str], str] = {}
        self._credentials: dict[str, str] = {}

    def _must_be_open(self) -> None:
        raise NotImplementedError

    async def shelf_get(self, account: AccountId, key: str) -> str | None:
        return self._shelf.get((account, key))

    async def shelf_put(
        self, account: AccountId, key: str, value: str, *, sealed: bool = False
    ) -> None:
        self._must_be_open()
        self._shelf[account, key] = value

    async def shelf_remove(self, account: AccountId, key: str) -> None:
        self._must_be_open()
        self._shelf.pop((account, key), None)

    async def credential(self, name: str) -> str | None:
        return self._credentials.get(name)

    async def put_credential(self, name: str, value: str) -> None:
        self._must_be_open()
        self._credentials[name] = value
