"""What somebody writes to one other person by a command: shown to both, and to nobody else."""

from __future__ import annotations

from bridge.model import OperationId, Person, PostMessage, join_key, split_key
from bridge.model.admission import Admission
from bridge.model.archive_records import NewMessage
from bridge.model.room_records import DirectEnd
from bridge.ports.clock import datetime_of
from bridge.router.inbound.context import Surroundings
from bridge.router.rooms.direct_messages import direct_timeline
from bridge.router.rooms.display_names import in_form
from bridge.router.rooms.rooms import Member, Room
from bridge.uacs import Actor, Message, TextPart, to_timestamp


async def write_to(
    author: Person, partner: DirectEnd, text: str, key: str, around: Surroundings
) -> None:
    """Where each of the two is alone with our bot; what has the same `key` is written once. `text`
    is UACS Markdown."""
    room = around.directs.room_of(author.id, partner.actor)
    if room is None:
        return
    now = around.clock.time()
    message = Message(
        message_id=join_key("between", author.id, key),
        timestamp=to_timestamp(datetime_of(now)),
        actor=Actor(id=author.id, role="human", name=author.name),
        content=(TextPart(text=text),),
    )
    audience = (author.id, partner.actor)
    new = NewMessage(message=message, author=author, time=now, audience=audience)
    posts = [await _post(new, room, member, around) for member in room.members]
    await around.directs.meet(author.id, partner.actor)
    admission = Admission(
        "direct", message=new, timelines=(direct_timeline(room),), operations=tuple(posts)
    )
    if not (await around.store.admit(admission)).repeat:
        for post in posts:
            around.wake_lane(post.lane)


async def _post(new: NewMessage, room: Room, member: Member, around: Surroundings) -> PostMessage:
    author = new.author
    shown = await around.names.shown(room, author)
    form = member.options.names or "{name}"
    name = in_form(form, shown, author, split_key(author.id)[0], member.account)
    return PostMessage(
        id=OperationId(around.new_id()),
        account=member.account,
        channel=member.channel,
        room=room.id,
        message=new.id,
        byline=around.bylines.of_person(author, name),
    )
