"""Port: where secrets come from."""

from __future__ import annotations

from typing import Protocol

from bridge.model.secret_refs import SecretRef


class SecretSource(Protocol):
    """Resolves references to secrets. Ask at each use: an OAuth installation may renew a secret."""

    async def secret(self, ref: SecretRef) -> str:
        """Return the current value of a secret.

        Raises:
            ConfigError: the secret cannot be read; the text names the reference, never the value.
        """
        ...
