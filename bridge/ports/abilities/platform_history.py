"""Reading back: what was said since, what of it stands, and one message alone."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from bridge.model import ActorId, ChannelRef, Raw


@dataclass(frozen=True)
class Unreadable:
    """Posts that stand there, and that the platform does not tell.

    `since`, `until`: when they were said, in seconds since 1970, both included; `count` is None
    where nobody can say how many they are.
    """

    since: float
    until: float
    count: int | None = None


class PlatformHistory(Protocol):
    """What was said can be read back."""

    async def newest(self, channel: ChannelRef) -> str:
        """The order key of the newest post there is, or in an empty channel one that sorts before
        every other: where catch-up of a channel that is new to us will begin."""
        ...

    def read_after(
        self,
        channel: ChannelRef,
        cursor: str,
        threads: Sequence[str],
        *,
        wait_limit: float | None = None,
    ) -> AsyncIterator[Raw | Unreadable]:
        """Posts later than the cursor (an `order_key`), in the channel and its threads.

        `threads` are native ids of threads known to be alive. Raws come oldest first as far as
        the platform allows and carry the same message ids as live events.

        Raises NoHistory where this account has none to read: the router says so in the rooms.

        With `wait_limit` (seconds), live events of the channel wait for this reading: its requests
        go before those of other readings. Where a rate limit that the connector keeps delays a
        request for longer than this, it raises RateLimited at once.
        """
        ...


@dataclass(frozen=True)
class Reactions:
    """How many people (without us) react with one emoji, and who, where the platform told all of
    them; `native` is its own name of the emoji."""

    emoji: str
    count: int
    native: str
    actors: tuple[ActorId, ...] | None = None


@dataclass(frozen=True)
class Standing:
    """A post as it stands now.

    - `post`: as if it were handed over live, with the keys of the live event.
    - `edit`: its last edit in the same way, and when it was made (seconds since 1970, not before
      `edited` and less than `edited_within` later); None where nobody edited it.
    - `own`: it is surely a post of our own.
    - `ended`: the end of the poll that it is, with its result, in the same way.
    - `pin`: where it is pinned, its pinning in the same way; False where it is not; None where
      `ChannelMetadata.pins` tells.
    """

    native_id: str
    post: Raw
    edit: Raw | None = None
    edited: float = 0.0
    edited_within: float = 0.0
    own: bool = False
    reactions: tuple[Reactions, ...] = ()
    ended: Raw | None = None
    pin: Raw | Literal[False] | None = None


@dataclass(frozen=True)
class Stretch:
    """Everything that stands in a channel, or in one of its threads, from one order key to
    another (both included): read in one piece, so that what is missing in it is gone."""

    thread: str | None
    first: str
    last: str
    posts: tuple[Standing, ...]


class ReadBack(Protocol):
    """What stands can be compared with what is archived: edits and deletions are found so."""

    def stretches(
        self, channel: ChannelRef, since: float, until: str, threads: Sequence[str]
    ) -> AsyncGenerator[Stretch, None]:
        """What was said from `since` (seconds since 1970) up to the order key `until`: the channel,
        newest first, then its threads, those in `threads` (native ids) and those that are found.

        One stretch for about one request, so that whoever reads may stop. Places that cannot be
        read are left out.
        """
        ...

    def order_key(self, native_id: str) -> str | None:
        """Where a post stands among the others; None for an id that is not one of the platform's
        posts: messages by which the bridge describes channel events are in the archive alone, under
        ids that the bridge made. Pure."""
        ...

    def gone(self, channel: ChannelRef, native_id: str, thread: str | None, at: float) -> Raw:
        """The deletion of a post, as if it were handed over live; `at` is when it was noticed.
        Pure."""
        ...


class Reactors(Protocol):
    """`Standing.reactions` are told, and can be compared with those that we know."""

    async def reactors(
        self, channel: ChannelRef, native_id: str, thread: str | None, native: str
    ) -> Sequence[ActorId]:
        """Who reacts so, as far as the platform tells, without us; `native` as in `Reactions`."""
        ...

    def reacted(
        self, channel: ChannelRef, target: str, thread: str | None, emoji: str, actor: ActorId,
        at: float, *, present: bool,
    ) -> Raw | None:  # fmt: skip
        """A reaction that was added or taken back, as if it were handed over live; `at` is when it
        was noticed. None for an emoji that the platform cannot have. Pure."""
        ...


@dataclass(frozen=True)
class ChannelMetadata:
    """What a channel is called, what it is about, and what is pinned in it, as it stands now.

    - `changes`: its name and its topic, each as a payload of a live event that sets it now.
    - `pins`: the native id of each pinned message, and the pinning as if it were handed over live.
      None: not all of them are told.
    - `of_threads`: the pins in its threads are among them; else `Standing.pin` tells of those.
    """

    changes: tuple[Raw, ...] = ()
    pins: Mapping[str, Raw] | None = None
    of_threads: bool = True


class ChannelMetadataReader(Protocol):
    """What stands of a channel itself can be compared with what we know of it."""

    async def metadata(self, channel: ChannelRef) -> ChannelMetadata:
        """With two or three requests."""
        ...

    def unpinned(
        self, channel: ChannelRef, target: str, thread: str | None, since: float, at: float
    ) -> Raw:
        """That the pin which stood `since` then was taken away, as if it were handed over live;
        `at` is when it was noticed (both in seconds since 1970). Pure."""
        ...


class MessageLookup(Protocol):
    """One message can be asked for."""

    async def fetch(self, channel: ChannelRef, native_id: str, thread: str | None) -> Raw | None:
        """As if it were handed over live, with the keys of the live event. None: it is gone.
        Raises PlatformError where that cannot be known."""
        ...
