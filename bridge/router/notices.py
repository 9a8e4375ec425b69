"""Words of the bridge itself: canonical messages that nobody said anywhere, shown by lanes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from bridge.model import (
    ActorId,
    Byline,
    LaneId,
    MessageId,
    OperationId,
    Person,
    PostMessage,
    RoomId,
    deletion_of,
    edit_of,
)
from bridge.model.refs import join_key
from bridge.ports.clock import Clock
from bridge.ports.store import Admission, NewMessage, Store, Timeline
from bridge.router.rooms import Member
from bridge.uacs import Actor, Message, TextPart

BRIDGE = Person(id=ActorId("bridge"), name="Bridge", bot=True)
BYLINE = Byline(name=BRIDGE.name)


def notice_id(*segments: str) -> MessageId:
    """What a notice is about -> its id: the same thing is said once, however often it is found."""
    return MessageId(join_key("bridge", *segments))


def notice(
    own_id: MessageId,
    text: str,
    at: float,
    *,
    root: MessageId | None = None,
    reply_to: MessageId | None = None,
    audience: tuple[ActorId, ...] | None = None,
) -> NewMessage:
    """`text` is UACS Markdown, `at` in seconds since 1970; `root` is the thread that it goes into,
    `reply_to` the message that it is about."""
    message = Message(
        message_id=own_id,
        timestamp=datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds"),
        actor=Actor(id=BRIDGE.id, role="system", name=BRIDGE.name),
        content=(TextPart(text=text),),
    )
    return NewMessage(
        message=message, author=BRIDGE, time=at, root=root, reply_to=reply_to, audience=audience
    )


def notice_post(new: NewMessage, room: RoomId, member: Member, own_id: OperationId) -> PostMessage:
    """What shows a notice in one channel of a room."""
    return PostMessage(
        id=own_id,
        account=member.account,
        channel=member.channel,
        room=room,
        message=new.id,
        byline=BYLINE,
        root=new.root,
        reply_to=new.reply_to,
    )


class Notices:
    """Says, changes and takes back what the bridge itself has to say, durably and once."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        new_id: Callable[[], str],
        wake_lane: Callable[[LaneId], None],
    ) -> None:
        self._store = store
        self._clock = clock
        self._new_id = new_id
        self._wake_lane = wake_lane

    async def say(
        self,
        own_id: MessageId,
        text: str,
        room: RoomId,
        members: Sequence[Member],
        *,
        timeline: Timeline | None = None,
        reply_to: MessageId | None = None,
    ) -> None:
        """Show it in these channels. Said before, its words are changed where it stands; in a
        `timeline` it is remembered there."""
        new = notice(own_id, text, self._clock.time(), reply_to=reply_to)
        posts = tuple(
            notice_post(new, room, member, OperationId(self._new_id())) for member in members
        )
        admission = Admission(
            outcome="notice",
            message=new,
            timelines=() if timeline is None else (timeline,),
            operations=posts,
        )
        if (await self._store.admit(admission)).repeat:
            await self._change(new.message)
        for post in posts:
            self._wake_lane(post.channel.lane)

    async def take_back(self, own_id: MessageId) -> None:
        """Delete it wherever it stands; nothing where it was never said."""
        stored = await self._store.message(own_id)
        if stored is None or stored.state == "deleted":
            return
        posts = await self._store.posts_of(own_id)
        deletions = [deletion_of(post, OperationId(self._new_id())) for post in posts]
        await self._store.change_message(stored.message, "deleted", deletions)
        for one in deletions:
            self._wake_lane(one.channel.lane)

    async def _change(self, message: Message) -> None:
        stored = await self._store.message(MessageId(message.message_id))
        if stored is None or stored.message.content == message.content:
            return
        now = stored.message.model_copy(update={"content": message.content})
        posts = await self._store.posts_of(MessageId(message.message_id))
        edits = [edit_of(post, OperationId(self._new_id())) for post in posts]
        await self._store.change_message(now, "edited", edits)
        for edit in edits:
            self._wake_lane(edit.channel.lane)
