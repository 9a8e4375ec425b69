"""What the store keeps for programs outside: how a room is read page by page, what happened in it
since, and the tokens that open it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol
from uuid import UUID

from bridge.model import ActorId, MessageId
from bridge.uacs import Conversation

if TYPE_CHECKING:
    from bridge.ports.store import StoredMessage

Scope = Literal["read", "post", "interact"]
Role = Literal["human", "assistant"]


@dataclass(frozen=True, order=True)
class Position:
    """How far somebody has read a room: `said` counts what was said in it, `changed` what happened
    to that later. Both are durable and never go back."""

    said: int = 0
    changed: int = 0


@dataclass(frozen=True)
class Happened:
    """One thing that happened in a room, with the message as it stands now. Whoever has taken it
    stands at `position`."""

    position: Position
    what: Literal["said", "changed", "reacted", "rated"]
    stored: StoredMessage


@dataclass(frozen=True)
class Page:
    """A part of a room's Conversation, oldest first, without what was deleted. `first` is the
    number of its oldest message, None where the page is empty; `more`: something stands before."""

    conversation: Conversation
    first: int | None
    more: bool


@dataclass(frozen=True)
class Found:
    """One message that a search found; `number` is its place in the room."""

    room: UUID
    number: int
    stored: StoredMessage


@dataclass(frozen=True)
class Search:
    """What a search found, newest first in each room; `looked_at` messages were read for it, and
    `whole` says that those were all."""

    found: tuple[Found, ...]
    looked_at: int
    whole: bool


@dataclass(frozen=True)
class ApiToken:
    """What opens rooms to a program. Of the token itself only a digest is kept. `rooms` are globs;
    times are seconds since 1970; `per_minute`: requests that it may make."""

    name: str
    digest: str
    role: Role
    rooms: tuple[str, ...]
    scopes: tuple[Scope, ...]
    created: float
    expires: float | None
    per_minute: int


class ReadingStore(Protocol):
    """Rooms as programs outside read them. `viewer` is who asks: what was said to others alone is
    not there for them."""

    async def position(self, room: UUID) -> Position:
        """Behind the newest; Position() where nothing was said yet."""
        ...

    async def happened(
        self, room: UUID, after: Position, *, limit: int, viewer: ActorId
    ) -> Sequence[Happened]:
        """The next things after that position, at most `limit`: what was said, and when all of
        that is told, as many changes. A message that was deleted since comes with that state."""
        ...

    async def page(
        self, room: UUID, *, limit: int, viewer: ActorId, before: int | None = None
    ) -> Page:
        """The newest messages, or the newest `before` this number; with the newest the tools of the
        room (`metadata.tools`). Raises StoreError when there is
        no such conversation."""
        ...

    async def rooms_of(self, message: MessageId, *, viewer: ActorId) -> Sequence[UUID]:
        """The rooms in whose Conversations it stands."""
        ...

    async def search(
        self, rooms: Sequence[UUID], words: Sequence[str], *, limit: int, most: int, viewer: ActorId
    ) -> Search:
        """Messages in whose text all these words are found, whatever their case; of each room at
        most the newest `most` messages are read."""
        ...

    async def put_token(self, token: ApiToken) -> None:
        """In place of the one that had the name."""
        ...

    async def token(self, name: str) -> ApiToken | None: ...

    async def tokens(self) -> Sequence[ApiToken]:
        """By name."""
        ...

    async def revoke_token(self, name: str) -> bool:
        """False: there was none."""
        ...
