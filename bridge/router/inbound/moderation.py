"""A person deletes or pins a copy of ours: what that means for the original and the other copies.

`off`: it happened to the copy alone; `mirror`: the room's other copies follow; `room`: the original
follows, too, where its platform lets us, and the copies in all rooms. A message that is deleted so
is not shown to anybody who comes later.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bridge.model import (
    AccountId,
    ChannelRef,
    DeleteMessage,
    Deletion,
    Level,
    MessageId,
    OperationId,
    Place,
    PostMessage,
    deletion_of,
)
from bridge.model.archive_records import Change, DeletedCopy, StoredMessage
from bridge.ports.connector import Connector
from bridge.ports.store.messages import MessageStore
from bridge.router.outbound.notices import Notices, notice_id
from bridge.router.rooms.rooms import Member, Room, Rooms

_OWN = "own_echo"


def is_original(stored: StoredMessage, channel: ChannelRef, native_id: str) -> bool:
    """Whether the native message is the original, and not a copy that the bridge made."""
    place = stored.place
    return place is not None and place.channel == channel and stored.native_id == native_id


async def shares_pin(
    stored: StoredMessage, place: Place, native_id: str, store: MessageStore, rooms: Rooms
) -> Callable[[Room, Member], bool]:
    """Whether a channel of a room follows a pin, or its removal, that happened here."""
    if is_original(stored, place.channel, native_id):
        return lambda _room, _member: True
    posts = await store.posts_of(MessageId(stored.message.message_id))
    own = _room_of(posts, place, rooms)
    home = stored.place.channel if stored.place else None
    match own and own.options.moderation:
        case "room":
            return lambda _room, _member: True
        case "mirror":
            return lambda room, member: room is own and member.channel != home
        case _:
            return lambda _room, _member: False


@dataclass(frozen=True)
class CopyDeletion:
    """The outcome of the deletion of one copy, and what follows it."""

    outcome: str
    gone: tuple[DeletedCopy, ...] = ()
    removals: tuple[DeleteMessage, ...] = ()
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True)
class CopyDeletions:
    """Decides what follows the deletion of a copy, by the moderation of its room."""

    store: MessageStore
    rooms: Rooms
    connectors: Mapping[AccountId, Connector]
    notices: Notices
    new_id: Callable[[], str]

    async def of(self, event: Deletion, target: str, stored: StoredMessage) -> CopyDeletion:
        """Return what follows the deletion of a copy of the stored message; `target` is the copy's
        native id. Raises StoreError."""
        message, channel = MessageId(stored.message.message_id), event.place.channel
        if await self.store.removed_by_us(message, channel, target):
            return CopyDeletion(_OWN)
        gone = (DeletedCopy(channel, target),)
        posts = await self.store.posts_of(message)
        room = _room_of(posts, event.place, self.rooms)
        if room is None or room.options.moderation == "off" or stored.state == "deleted":
            return CopyDeletion("kept: a person deleted a copy", gone)
        if room.options.moderation == "mirror":
            removals = tuple(self._deletion(post) for post in posts if post.room == room.id)
            return CopyDeletion("moderated: its copies are deleted", gone, removals)
        operations = [self._deletion(post) for post in posts]
        operations += await self._of_the_original(stored, room)
        change = Change(
            stored.message, "deleted", event.time.timestamp(), tuple(operations), event.actor
        )
        return CopyDeletion("moderated: deleted everywhere", gone, changes=(change,))

    def _deletion(self, post: PostMessage) -> DeleteMessage:
        return deletion_of(post, OperationId(self.new_id()))

    async def _of_the_original(
        self, stored: StoredMessage, room: Room
    ) -> tuple[DeleteMessage, ...]:
        """The deletion of the original; where we may not delete it, the people there are asked."""
        if stored.place is None:
            return ()
        channel, message = stored.place.channel, MessageId(stored.message.message_id)
        account = self.rooms.account_of(channel)
        connector = self.connectors.get(account) if account else None
        if account is None or connector is None:
            return ()
        if connector.capabilities.features.get("delete_others") == Level.FULL:
            deletion = DeleteMessage(
                id=OperationId(self.new_id()), account=account, channel=channel, room=room.id,
                message=message, original=True,
            )  # fmt: skip
            return (deletion,)
        await self._ask_for_deletion(message, channel, room)
        return ()

    async def _ask_for_deletion(self, message: MessageId, channel: ChannelRef, room: Room) -> None:
        member = room.member(channel)
        if member is None:
            return
        await self.notices.post(
            notice_id("moderated", message),
            "A moderator deleted this message elsewhere in the room. It stands here still: only "
            "people may delete it in this channel.",
            room.id,
            [member],
            reply_to=message,
        )


def _room_of(posts: Sequence[PostMessage], place: Place, rooms: Rooms) -> Room | None:
    """The room for which the copy was made in the channel of this place."""
    rooms_of_posts = (rooms.find(post.room) for post in posts if post.channel == place.channel)
    return next((room for room in rooms_of_posts if room is not None), None)
