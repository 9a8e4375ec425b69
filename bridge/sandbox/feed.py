"""What people see change on the local platforms, as one stream for pages and tests."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class LocalMessage(BaseModel):
    """A message as a person sees it on a local platform; `raw` is the platform's own object.

    `reactions`: emoji (Unicode, or `:name:` of a custom one) -> the ids of those who react so.
    """

    model_config = ConfigDict(frozen=True)

    platform: str
    workspace: str
    channel: str
    thread: str | None = None
    id: str
    author: str
    author_id: str
    picture: str | None = None
    bot: bool
    text: str
    time: str  # RFC 3339
    edited: bool = False
    reactions: dict[str, tuple[str, ...]] = Field(default_factory=dict[str, tuple[str, ...]])
    pinned: bool = False
    raw: dict[str, Any]


class Change(BaseModel):
    """One visible change: a message was posted, edited or deleted; or people reacted to it, pinned
    it, or voted in its poll (`marked`)."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["posted", "edited", "deleted", "marked"]
    message: LocalMessage


class Feed:
    """Fans changes out to every watcher, and counts what the platforms refused."""

    def __init__(self) -> None:
        self._watchers: set[asyncio.Queue[Change]] = set()
        self.refusals: Counter[str] = Counter()  # "<platform>:<code>:<operation>" -> how often

    def publish(self, change: Change) -> None:
        for watcher in self._watchers:
            watcher.put_nowait(change)

    def refused(self, platform: str, code: str, where: str) -> None:
        """Note that a request was refused; benchmarks read the counts."""
        self.refusals[f"{platform}:{code}:{where}"] += 1

    async def watch(self) -> AsyncIterator[Change]:
        queue: asyncio.Queue[Change] = asyncio.Queue()
        self._watchers.add(queue)
        try:
            while True:
                yield await queue.get()
        finally:
            self._watchers.discard(queue)
