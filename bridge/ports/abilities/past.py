"""Reads all that was posted in a channel, page by page, for the archive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from bridge.model import ChannelRef
from bridge.ports.abilities.platform_history import Standing


@dataclass(frozen=True)
class Span:
    """The posts to read.

    - `since`, `until`: their times in seconds since 1970; `until` is None for all.
    - `last`: the order key of the newest post; later posts belong to live events and catch-up.
    """

    since: float
    until: float | None
    last: str


@dataclass(frozen=True)
class PastPage:
    """Some posts of a channel, or of one of its threads.

    - `next`: the position of the next page, for any later process; None after the last page.
    """

    thread: str | None
    posts: tuple[Standing, ...]
    next: str | None


class Past(Protocol):
    """Reads a channel with its threads in pages, the newest first, each for about one request."""

    async def page(self, channel: ChannelRef, span: Span, position: str) -> PastPage:
        """Return the page at a position; "" is the first one. The platform's least urgent request.

        Raises:
            ValueError: the position is none of this platform.
            RateLimited: a rate limit delays the request.
            PlatformError: the platform did not answer, or refused.
        """
        ...
