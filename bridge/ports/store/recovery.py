"""What recovery after a gap asks the store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bridge.model import ChannelRef
from bridge.model.archive_records import ExpectedMessage, ExpectedPin, Orphan
from bridge.model.inbox_records import InboxRow


class RecoveryStore(Protocol):
    """Beside the inbox and the archive."""

    async def expected_messages(
        self, channel: ChannelRef, since: float, *, limit: int, thread: str | None = None
    ) -> Sequence[ExpectedMessage]:
        """What stands in the channel and its threads, or in this thread alone, since then (seconds
        since 1970), newest first; without what is deleted."""
        ...

    async def pins(self, channel: ChannelRef) -> Sequence[ExpectedPin]:
        """Of the messages that stand in the channel, those that were ever pinned, wherever that
        was: each by its first part there, by native id."""
        ...

    async def orphans(self, since: float, *, limit: int) -> Sequence[Orphan]:
        """Noted since then, newest first."""
        ...

    async def forget_orphans(self, before: float) -> None: ...

    async def inbox_row(self, row: int) -> InboxRow | None:
        """A kept payload, whatever became of it."""
        ...
