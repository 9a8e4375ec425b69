"""For those who read along: news of rooms, and the answers that grow in them just now."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from typing import Protocol

from bridge.model import MessageId, RoomId
from bridge.uacs import Message


class Growing(Protocol):
    """An answer that is being written."""

    id: MessageId

    @property
    def visible(self) -> bool: ...

    def message(self) -> Message:
        """As it stands now."""
        ...


class Feed:
    """Tells readers of rooms that there is something new. It costs next to nothing while nobody
    reads. Durable messages are read from the store; messages of another process are found there,
    too, only later."""

    def __init__(self) -> None:
        self._growing: dict[RoomId, dict[MessageId, Growing]] = {}
        self._readers: set[asyncio.Event] = set()

    def woke(self) -> None:
        """Wake the readers: something happened in some room."""
        for reader in self._readers:
            reader.set()

    def grows(self, room: RoomId, answer: Growing) -> None:
        """Show readers the answer as it grows."""
        if answer.visible:
            self._growing.setdefault(room, {})[answer.id] = answer
        self.woke()

    def ended(self, room: RoomId, answer: MessageId) -> None:
        """Stop showing the answer as one that grows: its last state is in the store."""
        answers = self._growing.get(room, {})
        answers.pop(answer, None)
        if not answers:
            self._growing.pop(room, None)
        self.woke()

    def growing(self, room: RoomId) -> list[Message]:
        """Return the answers of the room that are being written, as they stand now."""
        return [answer.message() for answer in self._growing.get(room, {}).values()]

    @contextmanager
    def reading(self) -> Generator[asyncio.Event]:
        """Return a context whose event is set whenever there may be something new; whoever waits
        for it clears it."""
        news = asyncio.Event()
        self._readers.add(news)
        try:
            yield news
        finally:
            self._readers.discard(news)
