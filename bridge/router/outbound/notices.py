"""Messages of the bridge itself: they are canonical, have no original, and lanes show them.

Answers to presses of buttons are such messages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol, cast

from bridge.content.cards.json import SCHEMA_ID, card_to_json
from bridge.content.cards.tree import Button, Card, Prose
from bridge.content.markdown import markdown_to_text, text_to_markdown
from bridge.content.messages.metadata import BridgeMetadata, with_bridge_metadata
from bridge.content.text.tree import Block, Inline, Paragraph, Strong, Text
from bridge.model import (
    AccountId,
    ActionPressed,
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
from bridge.model.admission import Admission
from bridge.model.archive_records import NewMessage, Timeline
from bridge.model.refs import BRIDGE, BRIDGE_NAME, join_key
from bridge.ports.clock import Clock
from bridge.ports.connector import Connector
from bridge.ports.store.admissions import AdmissionStore
from bridge.ports.store.messages import MessageStore
from bridge.router.rooms.features import has_whispers
from bridge.router.rooms.people import People
from bridge.router.rooms.rooms import Member, Room
from bridge.uacs import Actor, JsonTree, Message, StructuredDataPart, TextPart

BYLINE = Byline(name=BRIDGE_NAME)


def notice_id(*segments: str) -> MessageId:
    """The subject of a notice -> its id: a notice is shown once, however often its cause is
    found."""
    return MessageId(join_key(BRIDGE, *segments))


def plain_markdown(text: str) -> str:
    """Return the Markdown of one paragraph that shows these characters as they are."""
    return text_to_markdown((Paragraph((Text(text),)),))


def notice(
    own_id: MessageId,
    text: str,
    at: float,
    *,
    root: MessageId | None = None,
    reply_to: MessageId | None = None,
    audience: tuple[ActorId, ...] | None = None,
    buttons: Sequence[Button] = (),
) -> NewMessage:
    """A message of the bridge. `text` is UACS Markdown, `at` in seconds since 1970; `root` is the
    thread that it goes into, `reply_to` the message that it is about. The bridge itself takes
    presses of its `buttons`."""
    message = Message(
        message_id=own_id,
        timestamp=datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds"),
        actor=Actor(id=BRIDGE, role="system", name=BRIDGE_NAME),
        content=(TextPart(text=text),),
    )
    if buttons:
        message = _with_buttons(message, text, buttons)
    return NewMessage(
        message=message,
        author=Person(id=BRIDGE, name=BRIDGE_NAME, bot=True),
        time=at,
        root=root,
        reply_to=reply_to,
        audience=audience,
    )


def _with_buttons(message: Message, text: str, buttons: Sequence[Button]) -> Message:
    card = Card((Prose(markdown_to_text(text)), *buttons))
    part = StructuredDataPart(schema_id=SCHEMA_ID, data=cast("JsonTree", card_to_json(card)))
    message = message.model_copy(update={"content": (part, *message.content)})
    return with_bridge_metadata(message, BridgeMetadata(fallbacks={"0": (1,)}))


def notice_post(
    new: NewMessage,
    room: RoomId,
    member: Member,
    own_id: OperationId,
    to: ActorId | None = None,
    answers: str | None = None,
) -> PostMessage:
    """The operation that shows a notice in one channel of a room."""
    return PostMessage(
        id=own_id,
        account=member.account,
        channel=member.channel,
        room=room,
        message=new.id,
        byline=BYLINE,
        root=new.root,
        reply_to=new.reply_to,
        to=to,
        answers=answers,
    )


class _NoticesStore(AdmissionStore, MessageStore, Protocol):
    """What `Notices` needs of the store."""


class Notices:
    """Shows, changes and takes back messages of the bridge, durably and once."""

    def __init__(
        self,
        store: _NoticesStore,
        clock: Clock,
        new_id: Callable[[], str],
        wake_lane: Callable[[LaneId], None],
    ) -> None:
        self._store = store
        self._clock = clock
        self._new_id = new_id
        self._wake_lane = wake_lane

    async def post(
        self,
        own_id: MessageId,
        text: str,
        room: RoomId,
        members: Sequence[Member],
        *,
        timeline: Timeline | None = None,
        root: MessageId | None = None,
        reply_to: MessageId | None = None,
        buttons: Sequence[Button] = (),
        to: ActorId | None = None,
        answers: str | None = None,
    ) -> None:
        """Show it in these channels, or `to` one person there (as a whisper, or as what `answers`
        their command). If it was shown before, its words are changed where it stands. What is
        not for one person alone is kept in the `timeline`, too. Raises StoreError."""
        new = notice(
            own_id,
            text,
            self._clock.time(),
            root=root,
            reply_to=reply_to,
            buttons=buttons,
            audience=None if to is None else (to,),
        )
        posts = tuple(
            notice_post(new, room, member, OperationId(self._new_id()), to, answers)
            for member in members
        )
        admission = Admission(
            outcome="notice",
            message=new,
            timelines=() if timeline is None or to is not None else (timeline,),
            operations=posts,
        )
        if (await self._store.admit(admission)).repeat:
            await self._change(new.message)
            return
        for post in posts:
            self._wake_lane(post.channel.lane)

    async def was_posted(self, own_id: MessageId) -> bool:
        return await self._store.message(own_id) is not None

    async def change(self, own_id: MessageId, text: str) -> None:
        """Change the words of a notice; nothing happens to one that was never shown."""
        await self._change(notice(own_id, text, self._clock.time()).message)

    async def take_back(self, own_id: MessageId) -> None:
        """Delete a notice in all channels; nothing happens to one that was never shown."""
        stored = await self._store.message(own_id)
        if stored is None or stored.state == "deleted":
            return
        posts = await self._store.posts_of(own_id)
        deletions = [deletion_of(post, OperationId(self._new_id())) for post in posts]
        await self._store.change_message(stored.message, "deleted", deletions)
        for deletion in deletions:
            self._wake_lane(deletion.channel.lane)

    async def _change(self, message: Message) -> None:
        stored = await self._store.message(MessageId(message.message_id))
        if stored is None or stored.message.content == message.content:
            return
        now = message.model_copy(update={"timestamp": stored.message.timestamp})
        posts = await self._store.posts_of(MessageId(message.message_id))
        edits = [edit_of(post, OperationId(self._new_id())) for post in posts]
        await self._store.change_message(now, "edited", edits)
        for edit in edits:
            self._wake_lane(edit.channel.lane)


@dataclass(frozen=True)
class PressAnswers:
    """Tells the person who pressed a button the outcome, once for each press."""

    connectors: Mapping[AccountId, Connector]
    people: People
    notices: Notices

    async def post(
        self,
        event: ActionPressed,
        key: str,
        room: Room,
        about: MessageId,
        line: tuple[Inline, ...],
        *more: Block,
    ) -> None:
        """Tell the person who pressed alone; where the platform has no whispers, in their channel,
        as an answer to the message that it is `about`. `key` is that of the press. Does nothing
        where the room does not have the channel: programs read the outcome. Raises StoreError."""
        member = room.member(event.place.channel)
        if member is None:
            return
        alone = has_whispers(self.connectors, member.account) or event.answers is not None
        if not alone:
            name = await self.people.stored_name(event.actor)
            line = (Strong((Text(name),)), Text(": "), *line)
        await self.notices.post(
            notice_id("press", event.place.channel.key, key),
            text_to_markdown((Paragraph(line), *more)),
            room.id,
            [member],
            reply_to=None if alone else about,
            to=event.actor if alone else None,
            answers=event.answers,
        )
