"""The connector's way in: a payload is on disk before the platform is acknowledged."""

from __future__ import annotations

from typing import Protocol

from bridge.model import AccountId, ChannelRef, Raw
from bridge.uacs import Message


class Inbox(Protocol):
    """The connector's way in. When `accept` returns, the payload is on disk: acknowledge then.

    If it raises, do not acknowledge: the platform will send again.
    """

    async def accept(self, raw: Raw) -> bool:
        """Keep a payload. False: the same delivery was kept before; acknowledge it all the same."""
        ...

    def session_began(
        self, account: AccountId, channel: ChannelRef | None = None, *, alone: bool = True
    ) -> None:
        """Events may have been missed before now: the router catches up on all channels, or on
        this one alone. `alone`: whether all further events come here; False where the platform may
        hand some of them to another connection of the account."""
        ...

    async def message_of(self, channel: ChannelRef, native_id: str) -> Message | None:
        """The canonical message of this native one, in its current state; None where it is not
        known. Connectors answer presses from it at once (a form, a question to confirm)."""
        ...
