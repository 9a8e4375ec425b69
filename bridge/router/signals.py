"""Typed signals between the router's folders: who reports something need not know who listens."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from bridge.model import (
    AccountId,
    ActorId,
    ChannelRef,
    MessagePosted,
    Operation,
    ReactionOrPin,
    RoomId,
)
from bridge.model.inbox_records import InboxRow
from bridge.model.outbox_records import OutboxState
from bridge.model.room_records import DirectEnd

T = TypeVar("T")


class Signal(Generic[T]):
    """Calls its listeners one after the other, in the order in which they subscribed."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[T], Awaitable[None]]] = []

    def subscribe(self, listener: Callable[[T], Awaitable[None]]) -> None:
        """Call `listener` with every value that is emitted from now on."""
        self._listeners.append(listener)

    def unsubscribe(self, listener: Callable[[T], Awaitable[None]]) -> None:
        """Do not call it any more. Raises ValueError where it did not subscribe."""
        self._listeners.remove(listener)

    @property
    def has_listeners(self) -> bool:
        """Whether anybody listens: what is emitted need not be made for nobody."""
        return bool(self._listeners)

    async def emit(self, value: T) -> None:
        """Return when every listener has. Raises what a listener raises; the listeners after it
        are not called then."""
        for listener in self._listeners:
            await listener(value)


@dataclass(frozen=True)
class OperationEnded:
    """A lane ended an operation, in this state."""

    operation: Operation
    state: OutboxState


@dataclass(frozen=True)
class UnknownPost:
    """A post of our account that no operation of this store made; `other` is the other store that
    it names, if any."""

    event: MessagePosted
    other: str


@dataclass(frozen=True)
class ReactionsCameLate:
    """The reactions of a channel may have come out of order."""

    account: AccountId
    channel: ChannelRef


@dataclass(frozen=True)
class DirectMessageCame:
    """Somebody wrote to our bot alone, in this channel of the account."""

    account: AccountId
    channel: ChannelRef


@dataclass(frozen=True)
class MemberSilenced:
    """A convener took the floor from a member of a room; `away`: it has to leave the room."""

    room: RoomId
    actor: ActorId
    away: bool
    reason: str


@dataclass(frozen=True)
class Signals:
    """Every signal of the router.

    - `row_due`: this row of the inbox is next in its source.
    - `operation_ended`: the store holds the operation's end.
    - `reaction_not_shown`: a platform does not show a reaction or a pin, so a note describes it.
      The channel's reaction lane emits it, so that the notes change in the order of the events.
    - `reactions_came_late`: the channel is to be compared with the archive.
    - `unknown_post`: another bridge may send with the tokens of our account.
    - `hand_over_taken`: a person took over in this room.
    - `member_silenced`: an agent or a program lost the floor of a room.
    - `direct_channel_opened`: this person accepts direct messages from now on.
    - `people_linked`: these accounts became, or are no longer, one person's.
    - `room_resumed`: a command ended the pause of this room, or asked for that.
    - `sending_resumed`: an admin lets this account send again.
    - `direct_message_came`: somebody writes to our bot alone, and no room has the channel yet; a
      listener may make one.
    - `channel_appeared`: an account reported a new channel, or a channel's new name.
    """

    operation_ended: Signal[OperationEnded] = field(default_factory=Signal[OperationEnded])
    reaction_not_shown: Signal[ReactionOrPin] = field(default_factory=Signal[ReactionOrPin])
    row_due: Signal[InboxRow] = field(default_factory=Signal[InboxRow])
    reactions_came_late: Signal[ReactionsCameLate] = field(
        default_factory=Signal[ReactionsCameLate]
    )
    unknown_post: Signal[UnknownPost] = field(default_factory=Signal[UnknownPost])
    hand_over_taken: Signal[RoomId] = field(default_factory=Signal[RoomId])
    member_silenced: Signal[MemberSilenced] = field(default_factory=Signal[MemberSilenced])
    direct_channel_opened: Signal[DirectEnd] = field(default_factory=Signal[DirectEnd])
    people_linked: Signal[tuple[ActorId, ...]] = field(default_factory=Signal[tuple[ActorId, ...]])
    room_resumed: Signal[RoomId] = field(default_factory=Signal[RoomId])
    sending_resumed: Signal[AccountId] = field(default_factory=Signal[AccountId])
    direct_message_came: Signal[DirectMessageCame] = field(
        default_factory=Signal[DirectMessageCame]
    )
    channel_appeared: Signal[AccountId] = field(default_factory=Signal[AccountId])
