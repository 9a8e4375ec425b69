"""Small durable values of one connector or one agent."""

from __future__ import annotations

from typing import Protocol


class KeyValues(Protocol):
    """Small durable values that a connector keeps for itself: webhooks, references."""

    async def get(self, key: str) -> str | None: ...

    async def put(self, key: str, value: str, *, sealed: bool = False) -> None:
        """`sealed` values are encrypted at rest."""
        ...

    async def remove(self, key: str) -> None: ...
