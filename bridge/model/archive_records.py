"""Messages, their timelines and what happened to them, as the store keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal
from uuid import UUID

from bridge.model.operations import Operation
from bridge.model.people import Person
from bridge.model.refs import ActorId, ChannelRef, MessageId, Place
from bridge.uacs import Conversation, Message

MessageState = Literal["streaming", "complete", "edited", "deleted", "interrupted"]


@dataclass(frozen=True)
class NewMessage:
    """A message to be archived under the place where it was said.

    `root` is the canonical message that its thread hangs on. `native_id` is None for what
    agents say: they stand on no platform. `time` is the platform's, in seconds since 1970, and so
    is `changed`, where it came already edited.
    """

    message: Message
    author: Person
    time: float
    place: Place | None = None
    native_id: str | None = None
    root: MessageId | None = None
    reply_to: MessageId | None = None
    audience: tuple[ActorId, ...] | None = None
    state: MessageState = "complete"
    changed: float = 0.0

    @property
    def id(self) -> MessageId:
        return MessageId(self.message.message_id)


@dataclass(frozen=True)
class Timeline:
    """A Conversation that a message is placed in; made when it is not there yet. `epoch`: the
    number of the room's configuration under which the message came in."""

    id: UUID
    kind: Literal["channel", "thread", "room"]
    name: str
    metadata: Mapping[str, str] = field(default_factory=dict[str, str])
    epoch: int | None = None


@dataclass(frozen=True)
class View:
    """The part of a conversation that somebody is shown: what was said in this channel, in the
    thread of this message, or by this person, and the answers to it. All of it where none is set.

    - `member`: of a room, only what came into it while this channel (its key) or agent
      (`agent:NAME`) was in it.
    - `readers`: what was said to one of them alone is in it, too; it is in nobody else's.
    """

    channel: ChannelRef | None = None
    thread: MessageId | None = None
    person: ActorId | None = None
    member: str | None = None
    readers: tuple[ActorId, ...] = ()


@dataclass(frozen=True)
class Change:
    """What an event did to an archived message: its whole new state, or that it is gone.

    `time` is the platform's, in seconds since 1970: an edit that is not later than the last one
    changes nothing; a deletion always holds, and what is deleted stays so; marks that wait for it
    are cancelled.
    """

    message: Message
    state: Literal["edited", "deleted"]
    time: float
    operations: tuple[Operation, ...] = ()


@dataclass(frozen=True)
class Gone:
    """A native copy of ours that a person took away."""

    channel: ChannelRef
    native_id: str


@dataclass(frozen=True)
class StoredMessage:
    """An archived message with what the router needs to know of it."""

    message: Message
    author: Person
    time: float
    place: Place | None
    native_id: str | None
    root: MessageId | None
    state: MessageState
    changed: float = 0.0


@dataclass(frozen=True)
class Relation:
    """Where a message belongs: the root of its thread, and what it answers."""

    root: MessageId | None = None
    reply_to: MessageId | None = None


@dataclass(frozen=True)
class Past:
    """A piece of a conversation, newest first. `first` is the number of the oldest place that was
    looked at, None where nothing stands before it; `looked_at` are how many places that were."""

    messages: tuple[Message, ...]
    first: int | None
    looked_at: int


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
