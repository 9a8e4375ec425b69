"""Reads messages back from the platform: missed ones, old ones as they are now, single ones."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from bridge.model import ActorId, ChannelRef, Raw


@dataclass(frozen=True)
class Unreadable:
    """Posts that exist, but that the platform does not return.

    - `since`, `until`: their times in seconds since 1970, both included.
    - `count`: how many they are; None if that is not known.
    """

    since: float
    until: float
    count: int | None = None


class PlatformHistory(Protocol):
    """Reads the posts that were made while the bridge was away."""

    async def newest(self, channel: ChannelRef) -> str:
        """Return the order key of the newest post; in an empty channel, a key that sorts before
        every other. The catch-up of a new channel begins there."""
        ...

    def read_after(
        self,
        channel: ChannelRef,
        cursor: str,
        threads: Sequence[str],
        *,
        wait_limit: float | None = None,
    ) -> AsyncIterator[Raw | Unreadable]:
        """Yield the posts after the cursor, in the channel and its threads: oldest first, as far as
        the platform allows, and with the message ids of live events.

        Args:
            channel: the channel.
            cursor: an order key.
            threads: native ids of the threads in which people wrote lately.
            wait_limit: seconds. If given, live events of the channel wait for this reading: its
                requests then go before those of other readings.

        Raises:
            NoHistory: this account cannot read the past; the router says so in the rooms.
            RateLimited: a rate limit delays a request for longer than `wait_limit`.
            PlatformError: the platform did not answer, or refused.
        """
        ...


@dataclass(frozen=True)
class Reactions:
    """The people, without our bot, who reacted with one emoji.

    - `native`: the platform's own name of the emoji.
    - `actors`: who they are; None if the platform did not name all of them.
    """

    emoji: str
    count: int
    native: str
    actors: tuple[ActorId, ...] | None = None


@dataclass(frozen=True)
class Standing:
    """The present state of a post. Each `Raw` is the event that the platform would send live, with
    the same keys.

    - `post`: the post.
    - `edit`: its last edit; None if nobody edited it. The edit was made at `edited` (seconds since
      1970) or less than `edited_within` seconds later.
    - `own`: whether our bot certainly posted it.
    - `ended`: the end of its poll, with the result.
    - `pin`: its pinning; False if it is not pinned; None if `ChannelMetadata.pins` says so instead.
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
    """All posts of a channel, or of one of its threads, from one order key to another (both
    included). A known post that is missing here was deleted."""

    thread: str | None
    first: str
    last: str
    posts: tuple[Standing, ...]


class ReadBack(Protocol):
    """Reads the present state of old posts, so that the router finds edits and deletions that it
    missed."""

    def stretches(
        self, channel: ChannelRef, since: float, until: str, threads: Sequence[str]
    ) -> AsyncGenerator[Stretch, None]:
        """Yield the posts from `since` (seconds since 1970) to the order key `until`: first the
        channel, newest first, then its threads: those in `threads` (native ids) and those found.

        Each stretch costs about one request, so that the caller can stop between them. The
        connector leaves out what it cannot read.
        """
        ...

    def order_key(self, native_id: str) -> str | None:
        """Return the key by which posts of a channel are ordered. Makes no request.

        Returns:
            None if the id is not one of the platform's: the bridge makes ids for the messages by
            which it describes channel events in the archive.
        """
        ...

    def gone(self, channel: ChannelRef, native_id: str, thread: str | None, at: float) -> Raw:
        """Return the deletion of a post as the platform would send it live. Makes no request. `at`
        is when the router noticed it, in seconds since 1970."""
        ...


class Reactors(Protocol):
    """Finds the reactions that the router missed; needs `Standing.reactions`."""

    async def reactors(
        self, channel: ChannelRef, native_id: str, thread: str | None, native: str
    ) -> Sequence[ActorId]:
        """Return the people who reacted with this emoji, without our bot. `native` is the name that
        the platform has for the emoji.

        Raises:
            PlatformError: the platform did not answer, or refused.
        """
        ...

    def reacted(
        self, channel: ChannelRef, target: str, thread: str | None, emoji: str, actor: ActorId,
        at: float, *, present: bool,
    ) -> Raw | None:  # fmt: skip
        """Return the event of a reaction that was added (`present`) or removed, as the platform
        would send it live. Makes no request. `at` is when the router noticed it, in seconds since
        1970.

        Returns:
            None if the platform cannot have this emoji.
        """
        ...


@dataclass(frozen=True)
class ChannelMetadata:
    """The present name, topic and pins of a channel.

    - `changes`: its name and its topic, each as the event by which the platform would announce it.
    - `pins`: the event of each pinning, by the native id of the message; None if the platform does
      not return all of them.
    - `of_threads`: whether `pins` contains those of the channel's threads; if not, `Standing.pin`
      has them.
    """

    changes: tuple[Raw, ...] = ()
    pins: Mapping[str, Raw] | None = None
    of_threads: bool = True


class ChannelMetadataReader(Protocol):
    """Reads the present metadata of a channel, so that the router finds the changes that it
    missed."""

    async def metadata(self, channel: ChannelRef) -> ChannelMetadata:
        """Return the present metadata of the channel. Makes two or three requests.

        Raises:
            PlatformError: the platform did not answer, or refused.
        """
        ...

    def unpinned(
        self, channel: ChannelRef, target: str, thread: str | None, since: float, at: float
    ) -> Raw:
        """Return the removal of a pin as the platform would send it live. Makes no request. The pin
        was made at `since`, and the router noticed the removal at `at` (seconds since 1970)."""
        ...


class MessageLookup(Protocol):
    """Reads one message."""

    async def fetch(self, channel: ChannelRef, native_id: str, thread: str | None) -> Raw | None:
        """Return the message as the platform would send it live, with the same keys; None if it was
        deleted.

        Raises:
            PlatformError: the platform did not answer, or refused.
        """
        ...
