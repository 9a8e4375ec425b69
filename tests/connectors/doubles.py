"""A key-value store and tokens for the connectors of the tests."""

from __future__ import annotations

from collections.abc import Mapping

from bridge.errors import ConfigError
from bridge.model.secret_refs import SecretRef


class MemoryKeyValues:
    """A key-value store in memory; remembers which values were sealed."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}
        self.sealed: set[str] = set()

    async def get(self, key: str) -> str | None:
        return self.values.get(key)

    async def put(self, key: str, value: str, *, sealed: bool = False) -> None:
        self.values[key] = value
        if sealed:
            self.sealed.add(key)

    async def keys(self, prefix: str) -> list[str]:
        return sorted(key for key in self.values if key.startswith(prefix))

    async def remove(self, key: str) -> None:
        self.values.pop(key, None)


class FixedTokens:
    """Secrets by the name of their environment variable."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self.values = dict(values)

    async def secret(self, ref: SecretRef) -> str:
        if ref.env not in self.values:
            raise ConfigError(f"{ref} is not set")
        return self.values[ref.env]
