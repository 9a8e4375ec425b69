"""Reports the state of an account's connection, and checks the account before the start."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from bridge.model import ChannelRef
from bridge.ports.findings import Finding

Use = Literal["groups", "emails"]


@dataclass(frozen=True)
class Health:
    """The state of the receiving side; times are seconds since 1970 (`Clock.time`). `elsewhere`:
    another process works for the account."""

    state: Literal["connecting", "connected", "listening", "stopped", "failed", "elsewhere"]
    connected_since: float | None = None
    last_event_at: float | None = None
    note: str = ""


class AccountHealth(Protocol):
    """Reports the state of the connection, and checks the account."""

    def current(self) -> Health:
        """Return the state of the connection; `status`, `/healthz` and `/metrics` show it."""
        ...

    async def check(
        self, channels: Sequence[ChannelRef], uses: Collection[Use] = ()
    ) -> Sequence[Finding]:
        """Check the account before the start: token, scopes, intents, permissions in the channels.

        Args:
            channels: the channels that the configuration uses.
            uses: what else the configuration needs: the `groups` of people, or the `emails` by
                which their accounts are linked.
        """
        ...
