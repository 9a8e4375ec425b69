"""An inbox for the tests of connectors."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from bridge.model import AccountId, ChannelRef, Raw
from bridge.uacs import Message


class ListInbox:
    """Records what a connector delivers, each payload once, like the router's inbox.

    `raws` are the payloads, `repeats` counts repeated ones, `sessions` are the accounts whose
    sessions began. `messages` are the results of `message_of`. When `fail_with` is set, `accept`
    raises it.
    """

    def __init__(self) -> None:
        self.raws: list[Raw] = []
        self.sessions: list[AccountId] = []
        self.repeats = 0
        self.fail_with: Exception | None = None
        self.messages: dict[tuple[ChannelRef, str], Message] = {}
        self._changed = asyncio.Event()
        self._seen: set[tuple[AccountId, str]] = set()

    async def accept(self, raw: Raw) -> bool:
        """Record a payload. Returns False for a repeated one.

        Raises:
            Exception: the exception in `fail_with`.
        """
        if self.fail_with is not None:
            raise self.fail_with
        fresh = (raw.account, raw.dedupe_key) not in self._seen
        if fresh:
            self._seen.add((raw.account, raw.dedupe_key))
            self.raws.append(raw)
        else:
            self.repeats += 1
        self._changed.set()
        return fresh

    def session_began(
        self, account: AccountId, channel: ChannelRef | None = None, *, alone: bool = True
    ) -> None:
        """Record the account; the channel and `alone` are ignored."""
        self.sessions.append(account)
        self._changed.set()

    async def message_of(self, channel: ChannelRef, native_id: str) -> Message | None:
        """Return the message in `messages` that this native message shows."""
        return self.messages.get((channel, native_id))

    async def until(self, holds: Callable[[], bool], *, seconds: float = 60.0) -> None:
        """Wait until a delivery makes `holds()` true.

        Raises:
            TimeoutError: it was still false after `seconds`.
        """
        async with asyncio.timeout(seconds):
            while not holds():
                self._changed.clear()
                await self._changed.wait()
