"""What rooms let in, and what each of their channels is shown, by their options alone. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from bridge.model import ContentEvent, Event, Person, PostMessage
from bridge.model.archive_records import NewMessage, StoredMessage
from bridge.router.rooms.options import (
    OPEN,
    FilteredMessage,
    Kind,
    filtered_event,
    filtered_message,
    kinds_of,
)
from bridge.router.rooms.rooms import Member, Room
from bridge.uacs import Message, TextPart

_BEFORE_WORDS = "\\ \t\n\u200b\u2060\ufeff"
_TYPE = f"{_BEFORE_WORDS}*_~`"  # bold, italic, struck, code


def admitting(
    rooms: Sequence[Room], event: Event, author: Person | None
) -> tuple[tuple[Room, ...], str]:
    """Return the rooms that let in this author's event, and the reason of one that does not."""
    admitted: list[Room] = []
    filtered: FilteredMessage | None = None
    refusal = ""
    for room in rooms:
        member = room.member(event.place.channel)
        inner, outer = (
            room.options.message_filter,
            OPEN if member is None else member.options.message_filter,
        )
        if is_private(event, room):
            refusal = "its author keeps it to this channel"
        elif inner is OPEN and outer is OPEN:
            admitted.append(room)
        else:
            filtered = filtered or filtered_event(event, author)
            room_refusal = inner.refuses(filtered) or outer.refuses(filtered)
            refusal = room_refusal or refusal
            admitted += [] if room_refusal else [room]
    return tuple(admitted), refusal


def is_private(event: Event, room: Room) -> bool:
    """Whether the text begins with a word that keeps it to its channel, in whatever type that word
    is set."""
    beginnings = room.options.private
    if not beginnings or not isinstance(event, ContentEvent):
        return False
    first = next((part for part in event.message.content if isinstance(part, TextPart)), None)
    if first is None:
        return False
    text = first.text.lstrip(_BEFORE_WORDS).casefold()
    return text.startswith(beginnings) or text.lstrip(_TYPE).startswith(beginnings)


def lets_out(member: Member, new: NewMessage) -> bool:
    """Whether the channel is shown this message."""
    message_filter = member.options.message_filter
    if message_filter is OPEN:
        return True
    return not message_filter.refuses(
        filtered_message(new.message, new.author, threaded=new.root is not None)
    )


def lets_edit_out(
    room: Room, post: PostMessage, now: Message, stored: StoredMessage, kind: Kind
) -> bool:
    """Whether the channel of this copy is shown the message `now`."""
    member = room.member(post.channel)
    if member is None or not member.listens:
        return False
    message_filter = member.options.message_filter
    if message_filter is OPEN:
        return True
    kinds = kinds_of(now, stored.author, threaded=stored.root is not None)
    return not message_filter.refuses(
        FilteredMessage(frozenset({*kinds, kind}), stored.author, now)
    )
