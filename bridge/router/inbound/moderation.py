"""A person deletes or pins a copy of ours: what that means for the original and the other copies.

`off`: it happened to the copy, nothing else; `mirror`: to the room's other copies, too; `room`: to
the original as well, where its platform lets us, and to the copies in all rooms. What is deleted so
is shown to nobody who comes later.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

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
from bridge.model.archive_records import Change, Gone, StoredMessage
from bridge.router.inbound.context import Passage, Surroundings
from bridge.router.outbound.notices import notice_id
from bridge.router.rooms.rooms import Member, Room

_OWN = "own_echo"


def is_original(stored: StoredMessage, channel: ChannelRef, native_id: str) -> bool:
    """Whether it was said there, and is no copy that we made."""
    said = stored.place
    return said is not None and said.channel == channel and stored.native_id == native_id


async def shares_pin(
    stored: StoredMessage, place: Place, native_id: str, around: Surroundings
) -> Callable[[Room, Member], bool]:
    """Whether a channel of a room is to show what was pinned here, or is not pinned any more."""
    if is_original(stored, place.channel, native_id):
        return lambda _room, _member: True
    posts = await around.store.posts_of(MessageId(stored.message.message_id))
    own = _room_of(posts, place, around)
    home = stored.place.channel if stored.place else None
    match own and own.options.moderation:
        case "room":
            return lambda _room, _member: True
        case "mirror":
            return lambda room, member: room is own and member.channel != home
        case _:
            return lambda _room, _member: False


async def copy_deleted(
    passage: Passage,
    event: Deletion,
    target: str,
    stored: StoredMessage,
    around: Surroundings,
) -> str:
    """The outcome; `target` is the native id of a copy of this message."""
    message, channel = MessageId(stored.message.message_id), event.place.channel
    if await around.store.took_away(message, channel, target):
        return _OWN
    passage.gone.append(Gone(channel, target))
    posts = await around.store.posts_of(message)
    room = _room_of(posts, event.place, around)
    if room is None or room.options.moderation == "off" or stored.state == "deleted":
        return "kept: a person deleted a copy"
    if room.options.moderation == "mirror":
        wanted = [post for post in posts if post.room == room.id]
        passage.removals += [deletion_of(post, _new(around)) for post in wanted]
        return "moderated: its copies are deleted"
    passage.changes.append(
        Change(
            stored.message,
            "deleted",
            event.time.timestamp(),
            (
                *(deletion_of(post, _new(around)) for post in posts),
                *await _of_the_original(stored, room, around),
            ),
        )
    )
    return "moderated: deleted everywhere"


def _room_of(posts: Sequence[PostMessage], place: Place, around: Surroundings) -> Room | None:
    """The room for which the copy was made there."""
    rooms = (around.rooms.find(post.room) for post in posts if post.channel == place.channel)
    return next((room for room in rooms if room is not None), None)


async def _of_the_original(
    stored: StoredMessage, room: Room, around: Surroundings
) -> tuple[DeleteMessage, ...]:
    """What deletes it where it was said; where we may not, the room there is told."""
    if stored.place is None:
        return ()
    channel, message = stored.place.channel, MessageId(stored.message.message_id)
    account = around.rooms.account_of(channel)
    connector = around.connectors.get(account) if account else None
    if account is None or connector is None:
        return ()
    if connector.capabilities.features.get("delete_others") == Level.FULL:
        deletion = DeleteMessage(
            id=_new(around), account=account, channel=channel, room=room.id, message=message,
            original=True,
        )  # fmt: skip
        return (deletion,)
    await _tell(stored, room, account, around)
    return ()


async def _tell(
    stored: StoredMessage, room: Room, account: AccountId, around: Surroundings
) -> None:
    """The people there can delete it themselves."""
    message = MessageId(stored.message.message_id)
    member = room.member(stored.place.channel) if stored.place else None
    if member is None:
        return
    await around.notices.say(
        notice_id("moderated", message),
        "A moderator deleted this message elsewhere in the room. It stands here still: only "
        "people may delete it in this channel.",
        room.id,
        [member],
        reply_to=message,
    )


def _new(around: Surroundings) -> OperationId:
    return OperationId(around.new_id())
