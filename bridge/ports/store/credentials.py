"""Port: sealed credentials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol


class CredentialStore(Protocol):
    """Credentials, encrypted at rest."""

    async def credential(self, name: str) -> str | None:
        """Return a credential; None when there is none of this name. A name of
        `bridge.model.tenants.tenant_secret` is that of a tenant's secret."""
        ...

    async def credential_names(self) -> Sequence[str]:
        """Return the names of all credentials, in order."""
        ...

    async def put_credential(self, name: str, value: str) -> None:
        """Save a credential; replaces the former value."""
        ...

    async def payload_credentials(self, row: int) -> Mapping[str, str]:
        """Return the credentials that were cut out of a stored payload, by path; empty once
        expired."""
        ...

    async def forget_expired(self) -> int:
        """Delete the expired credentials of payloads. Returns their number."""
        ...
