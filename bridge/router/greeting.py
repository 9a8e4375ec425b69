"""A channel that joins a room is told what it is bridged to, once."""

from __future__ import annotations

from bridge.content.markdown import text_to_markdown
from bridge.content.text import Paragraph, Text
from bridge.router.notices import Notices, notice_id
from bridge.router.rooms import Member, Room, Rooms

_NEWS = 86_400.0  # seconds after which joining is no news any more


async def greet(rooms: Rooms, notices: Notices, now: float) -> None:
    """Those that joined lately; who was told before is not told again."""
    for room in rooms.all:
        for member in room.members if room.options.greets else ():
            since = room.joined.get(member.channel.key, 0.0)
            if member.listens and since and now - since < _NEWS:
                own_id = notice_id("joined", room.id, member.channel.key, repr(since))
                await notices.say(own_id, _words(room, member, rooms), room.id, [member])


def _words(room: Room, member: Member, rooms: Rooms) -> str:
    others = [rooms.name_of(one.channel) for one in room.members if one.channel != member.channel]
    to = ", ".join(others) or f"room {room.id}"
    said = f"This channel is bridged to {to}: what is said here is carried there, and archived."
    if room.options.private:
        said += f' A message that begins with "{room.options.private[0]}" stays here.'
    said += " Mention the bot with `optout` to have nothing of yours carried."
    return text_to_markdown((Paragraph((Text(said),)),))
