"""An account tells how its connection is, and can be examined before the start."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from bridge.model import ChannelRef
from bridge.ports.findings import Finding

Use = Literal["groups", "emails"]


@runtime_checkable
class ChecksItself(Protocol):
    """The account can be examined before the start: token, scopes, intents, permissions."""

    async def check(
        self, channels: Sequence[ChannelRef], uses: Collection[Use] = ()
    ) -> Sequence[Finding]:
        """`uses`: what the configuration asks of people beside: `groups` in which they are,
        `emails` by which their accounts are linked."""
        ...


@dataclass(frozen=True)
class Health:
    """How the receiving side is: `heard` and `connected_since` are Clock.time() seconds."""

    state: Literal["connecting", "connected", "listening", "stopped", "failed"]
    connected_since: float | None = None
    heard: float | None = None
    note: str = ""


@runtime_checkable
class TellsHealth(Protocol):
    """The account says how its connection is; `status`, `/healthz` and `/metrics` show it."""

    def health(self) -> Health: ...
