"""Where secrets come from."""

from __future__ import annotations

from typing import Protocol

from bridge.model.secret_refs import SecretRef


class SecretSource(Protocol):
    """Gives the secret as it is now: ask at each use, an OAuth install may have renewed it."""

    async def secret(self, ref: SecretRef) -> str:
        """Raises ConfigError that names the reference, never the value."""
        ...
