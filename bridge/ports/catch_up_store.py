"""What the store keeps for catch-up: what of a channel is held, and what happened to messages
that nobody knows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from bridge.model import ActorId, ChannelRef, MessageId

if TYPE_CHECKING:
    from bridge.ports.store import InboxRow


@dataclass(frozen=True)
class Orphan:
    """Inbox row `row` tells of a message that is not known; `deletion`: it is gone for good."""

    channel: ChannelRef
    native_id: str
    row: int
    deletion: bool = False


@dataclass(frozen=True)
class Held:
    """A native message of a channel that stands, as far as the store knows.

    `said`: it was said there, and is no copy of ours; `at` is when. `changed` is when its people
    last changed it; 0.0 where they never did. Both in the platform's seconds since 1970.
    """

    native_id: str
    thread: str | None
    message: MessageId
    said: bool
    at: float
    changed: float = 0.0


@dataclass(frozen=True)
class HeldPin:
    """A message that stands in a channel and was pinned once: whether it is so now, by whom, and
    since when (seconds since 1970)."""

    native_id: str
    thread: str | None
    message: MessageId
    pinned: bool
    actor: ActorId
    at: float


class CatchUpStore(Protocol):
    """Beside the inbox and the archive."""

    async def held(
        self, channel: ChannelRef, since: float, *, limit: int, thread: str | None = None
    ) -> Sequence[Held]:
        """What stands in the channel and its threads, or in this thread alone, since then (seconds
        since 1970), newest first; without what is deleted."""
        ...

    async def pins(self, channel: ChannelRef) -> Sequence[HeldPin]:
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
