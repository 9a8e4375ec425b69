"""Port: what catch-up and reconciliation read after a gap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bridge.model import ChannelRef
from bridge.model.archive_records import ExpectedMessage, ExpectedPin, Orphan
from bridge.model.inbox_records import InboxRow


class RecoveryStore(Protocol):
    """What catch-up and reconciliation read, beside the inbox and the archive."""

    async def expected_messages(
        self, channel: ChannelRef, since: float, *, limit: int, thread: str | None = None
    ) -> Sequence[ExpectedMessage]:
        """Return the messages that should exist in a channel, newest first; deleted ones are
        absent.

        Args:
            channel: the channel, with its threads.
            since: only messages from this time on (seconds since 1970).
            limit: maximum number.
            thread: native id of a thread; only its messages then.
        """
        ...

    async def pins(self, channel: ChannelRef) -> Sequence[ExpectedPin]:
        """Return the existing messages of a channel that were ever pinned anywhere, by native id.

        Each is named by its first part in the channel.
        """
        ...

    async def orphans(self, since: float, *, limit: int) -> Sequence[Orphan]:
        """Return events about unknown messages, noted since then, newest first."""
        ...

    async def forget_orphans(self, before: float) -> None:
        """Delete the orphans that were noted before this time."""
        ...

    async def inbox_row(self, row: int) -> InboxRow | None:
        """Return a stored payload in any state; None when it is unknown."""
        ...
