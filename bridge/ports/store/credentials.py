"""Where sealed credentials are kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class CredentialStore(Protocol):
    """Sealed credentials."""

    async def credential(self, name: str) -> str | None: ...

    async def put_credential(self, name: str, value: str) -> None: ...

    async def payload_credentials(self, row: int) -> Mapping[str, str]:
        """What stood at the credential paths of a kept payload; empty when its time is over."""
        ...

    async def forget_expired(self) -> int:
        """Drop sealed payload credentials whose time is over; how many."""
        ...
