"""Secrets from the environment, from files, or from the sealed store."""

from __future__ import annotations

import os
from pathlib import Path

from bridge.errors import ConfigError
from bridge.model.secret_refs import SecretRef
from bridge.ports.store.credentials import CredentialStore


class SecretReader:
    """The bridge's SecretSource. It caches nothing: a renewed secret is seen at its next use."""

    def __init__(self, store: CredentialStore | None) -> None:
        self._store = store

    async def secret(self, ref: SecretRef) -> str:
        """The secret without surrounding space. Raises ConfigError if it is missing or empty."""
        value = await self._find(ref)
        if not (value or "").strip():
            raise ConfigError(f"The {ref} is empty or not set; {_todo(ref)}")
        return str(value).strip()

    async def _find(self, ref: SecretRef) -> str | None:
        if ref.env is not None:
            return os.environ.get(ref.env)
        if ref.file is not None:
            return _read(Path(ref.file))
        if self._store is None:
            raise ConfigError(f"The {ref} needs the store, which is not open here")
        return await self._store.credential(ref.sealed or "")


def _read(path: Path) -> str | None:
    try:
        return path.read_text("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"Cannot read the secret in {str(path)!r}: {error}") from None


def _todo(ref: SecretRef) -> str:
    if ref.env is not None:
        return f"set it before the start: export {ref.env}=..."
    if ref.file is not None:
        return "write the secret into that file, readable by the bridge alone"
    return f"put it in with `uacs-bridge secrets set {ref.sealed}`"
