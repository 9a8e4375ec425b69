"""Port: small durable values of one connector or one agent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class KeyValues(Protocol):
    """Small durable values that a connector or an agent keeps: webhooks, references, caches."""

    async def get(self, key: str) -> str | None:
        """Return a value; None when there is none. Raises StoreError."""
        ...

    async def put(self, key: str, value: str, *, sealed: bool = False) -> None:
        """Save a value; replaces the former one. `sealed` values are encrypted at rest. Raises
        StoreError."""
        ...

    async def keys(self, prefix: str) -> Sequence[str]:
        """Return the keys that begin with `prefix`, in order. Raises StoreError."""
        ...

    async def remove(self, key: str) -> None:
        """Delete a value; a missing one is no error. Raises StoreError."""
        ...
