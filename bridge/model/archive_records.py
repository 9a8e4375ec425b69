"""Messages, their timelines and their changes, as the store has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal
from uuid import UUID

from bridge.model.operations import Operation
from bridge.model.people import Person
from bridge.model.refs import ActorId, ChannelRef, MessageId, Place, conversation_id_of
from bridge.uacs import Conversation, Message

MessageState = Literal["streaming", "complete", "edited", "deleted", "interrupted"]


@dataclass(frozen=True)
class NewMessage:
    """A message to archive under the place where it was posted.

    - `root`: the canonical message at the root of its thread.
    - `native_id`: the platform's id; None for an agent's message, which is on no platform.
    - `time`: the platform's time, in seconds since 1970; so is `changed`, if the message was edited
      before it arrived.
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
        """The canonical id of the message."""
        return MessageId(self.message.message_id)


@dataclass(frozen=True)
class Timeline:
    """A Conversation that contains the message; the store creates it if necessary.

    `epoch` is the number of the room's configuration when the message arrived.
    """

    id: UUID
    kind: Literal["channel", "thread", "room"]
    name: str
    metadata: Mapping[str, str] = field(default_factory=dict[str, str])
    epoch: int | None = None


def channel_timeline(channel: ChannelRef) -> Timeline:
    """Returns the Conversation of a channel."""
    place = Place(channel=channel)
    return Timeline(conversation_id_of(place), "channel", place.key)


def thread_timeline(place: Place, root: MessageId) -> Timeline:
    """Returns the Conversation of a thread; `root` is its first message."""
    parent = conversation_id_of(Place(channel=place.channel))
    metadata = {"parent": str(parent), "root": root}
    return Timeline(conversation_id_of(place), "thread", place.key, metadata)


@dataclass(frozen=True)
class View:
    """The part of a conversation that a reader may see: the messages of this channel, of the thread
    of this message, or of this person, with the answers to them; everything if none is set.

    - `member`: of a room, only the messages that arrived while this channel (its key) or agent
      (`agent:NAME`) was a member.
    - `readers`: messages to one of these actors alone are included; nobody else sees them.
    """

    channel: ChannelRef | None = None
    thread: MessageId | None = None
    person: ActorId | None = None
    member: str | None = None
    readers: tuple[ActorId, ...] = ()


@dataclass(frozen=True)
class Change:
    """The effect of an event on an archived message: its whole new state, or its deletion.

    `time` is the platform's, in seconds since 1970. An edit that is not later than the last one
    changes nothing. A deletion always applies and is final; reactions and pins that wait for the
    message are cancelled. The state before is kept as a version, with the `actor` who ended it.
    """

    message: Message
    state: Literal["edited", "deleted"]
    time: float
    operations: tuple[Operation, ...] = ()
    actor: ActorId | None = None


@dataclass(frozen=True)
class DeletedCopy:
    """A native copy of a message that a person deleted."""

    channel: ChannelRef
    native_id: str


@dataclass(frozen=True)
class StoredMessage:
    """An archived message with what the router needs about it."""

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
    """The context of a message: the root of its thread, and the message that it answers."""

    root: MessageId | None = None
    reply_to: MessageId | None = None


@dataclass(frozen=True)
class HistoryPiece:
    """A piece of a conversation, newest first.

    `first` is the number of the oldest place that was read, None if there is none before it;
    `looked_at` is the number of places that were read.
    """

    messages: tuple[Message, ...]
    first: int | None
    looked_at: int


@dataclass(frozen=True)
class Orphan:
    """Inbox row `row` refers to an unknown message; `deletion`: the message was deleted."""

    channel: ChannelRef
    native_id: str
    row: int
    deletion: bool = False


@dataclass(frozen=True)
class ExpectedMessage:
    """A native message that exists in a channel, as far as the store knows.

    `is_original`: it was posted there and is no copy of ours, at the time `at`. `changed` is the
    time of the last edit by people, 0.0 if there was none. Times are the platform's, in seconds
    since 1970.
    """

    native_id: str
    thread: str | None
    message: MessageId
    is_original: bool
    at: float
    changed: float = 0.0


@dataclass(frozen=True)
class ExpectedPin:
    """A message in a channel that was pinned at some time: whether it is pinned now, by whom, and
    since when (seconds since 1970)."""

    native_id: str
    thread: str | None
    message: MessageId
    pinned: bool
    actor: ActorId
    at: float


@dataclass(frozen=True, order=True)
class Position:
    """A reader's position in a room: `posted` counts messages, `changed` counts later changes of
    them. Both are durable and never decrease."""

    posted: int = 0
    changed: int = 0


@dataclass(frozen=True)
class RoomEvent:
    """One event in a room, with the message as it is now; `position` is the reader's position after
    it."""

    position: Position
    what: Literal["said", "changed", "reacted", "rated"]
    stored: StoredMessage


@dataclass(frozen=True)
class Page:
    """A part of a room's Conversation, oldest first, without deleted messages.

    `first` is the number of its oldest message, None if the page is empty; `more`: there are older
    messages.
    """

    conversation: Conversation
    first: int | None
    more: bool
