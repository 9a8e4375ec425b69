"""The in-memory twin's part on reading from outside. For tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from bridge.errors import StoreError
from bridge.model import ActorId, MessageId
from bridge.ports.reading_store import ApiToken, Found, Happened, Page, Position, Search
from bridge.ports.store import StoredMessage, Timeline
from bridge.store.conversations import Described, conversation_of
from bridge.store.reading import says


@dataclass
class ReadRoom:
    """A Conversation as it is read from outside: its messages by their numbers."""

    timeline: Timeline
    created: float
    updated: float
    messages: list[MessageId] = field(default_factory=list[MessageId])
    changes: list[tuple[MessageId, str]] = field(default_factory=list[tuple[MessageId, str]])


class MemoryReading:
    """What `bridge.store.reading` does, over what the twin gives it."""

    def __init__(self) -> None:
        self._tokens: dict[str, ApiToken] = {}

    def _must_be_open(self) -> None:
        raise NotImplementedError

    def _read_room(self, room: UUID) -> ReadRoom | None:
        raise NotImplementedError

    def _described_in(self, conversation: UUID) -> Mapping[str, Sequence[Described]]:
        raise NotImplementedError

    def _rooms_with(self, message: MessageId) -> list[UUID]:
        """The rooms in whose Conversations it stands."""
        raise NotImplementedError

    def _shown_to(self, viewer: ActorId, message: MessageId) -> StoredMessage | None:
        """None where it was said to others alone."""
        raise NotImplementedError

    async def position(self, room: UUID) -> Position:
        known = self._read_room(room)
        return Position() if known is None else Position(len(known.messages), len(known.changes))

    async def happened(
        self, room: UUID, after: Position, *, limit: int, viewer: ActorId
    ) -> Sequence[Happened]:
        known = self._read_room(room)
        if known is None:
            return []
        told: list[Happened] = []
        at = after
        for number, message in enumerate(known.messages, 1):
            stored = self._shown_to(viewer, message) if number > after.said else None
            if stored is not None and len(told) < limit:
                at = Position(number, at.changed)
                told.append(Happened(at, "said", stored))
        if len(told) == limit:
            return told
        most = len(told) + limit
        for number, (message, kind) in enumerate(known.changes, 1):
            stored = self._shown_to(viewer, message) if number > after.changed else None
            if stored is not None and len(told) < most:
                at = Position(at.said, number)
                what = kind if kind in ("reacted", "rated") else "changed"
                told.append(Happened(at, what, stored))
        return told

    async def page(
        self, room: UUID, *, limit: int, viewer: ActorId, before: int | None = None
    ) -> Page:
        known = self._read_room(room)
        if known is None:
            raise StoreError(f"There is no conversation {str(room)!r}")
        rows = self._newest(known, viewer, before)
        shown = rows[:limit][::-1]
        messages = [stored.message for _, stored in shown]
        tools = self._described_in(room) if before is None else None
        conversation = conversation_of(
            known.timeline, known.created, known.updated, messages, tools
        )
        return Page(conversation, shown[0][0] if shown else None, len(rows) > limit)

    def _newest(
        self, known: ReadRoom, viewer: ActorId, before: int | None = None
    ) -> list[tuple[int, StoredMessage]]:
        found: list[tuple[int, StoredMessage]] = []
        for number, message in reversed([*enumerate(known.messages, 1)]):
            stored = self._shown_to(viewer, message)
            if stored is None or stored.state == "deleted" or (before and number >= before):
                continue
            found.append((number, stored))
        return found

    async def rooms_of(self, message: MessageId, *, viewer: ActorId) -> Sequence[UUID]:
        return [] if self._shown_to(viewer, message) is None else self._rooms_with(message)

    async def search(
        self, rooms: Sequence[UUID], words: Sequence[str], *, limit: int, most: int, viewer: ActorId
    ) -> Search:
        wanted = [word.casefold() for word in words]
        found: list[Found] = []
        looked_at, whole = 0, True
        for room in rooms:
            known = self._read_room(room)
            rows = [] if known is None else self._newest(known, viewer)
            for here, (number, stored) in enumerate(rows):
                if here == most or len(found) == limit:
                    whole = False
                    break
                looked_at += 1
                if says(stored.message, wanted):
                    found.append(Found(room, number, stored))
        return Search(tuple(found), looked_at, whole)

    async def put_token(self, token: ApiToken) -> None:
        self._must_be_open()
        self._tokens[token.name] = token

    async def token(self, name: str) -> ApiToken | None:
        return self._tokens.get(name)

    async def tokens(self) -> Sequence[ApiToken]:
        return [self._tokens[name] for name in sorted(self._tokens)]

    async def revoke_token(self, name: str) -> bool:
        self._must_be_open()
        return self._tokens.pop(name, None) is not None
