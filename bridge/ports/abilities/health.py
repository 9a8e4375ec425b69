"""An account tells how its connection is, and can be examined before the start."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from bridge.model import ChannelRef
from bridge.ports.findings import Finding

Use = Literal["groups", "emails"]


@dataclass(frozen=True)
class Health:
    """How the receiving side is: `last_event_at` and `connected_since` are Clock.time() seconds."""

    state: Literal["connecting", "connected", "listening", "stopped", "failed"]
    connected_since: float | None = None
    last_event_at: float | None = None
    note: str = ""


class AccountHealth(Protocol):
    """The account tells how its connection is, and examines itself."""

    def current(self) -> Health:
        """How the connection is now; `status`, `/healthz` and `/metrics` show it."""
        ...

    async def check(
        self, channels: Sequence[ChannelRef], uses: Collection[Use] = ()
    ) -> Sequence[Finding]:
        """Examine the account before the start: token, scopes, intents, permissions in the
        channels. `uses`: what the configuration asks about people besides: `groups` that they are
        in, `emails` by which their accounts are linked."""
        ...
