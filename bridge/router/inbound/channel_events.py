"""Events of a channel become messages of the bridge at that place, which describe them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from bridge.content.markdown import markdown_to_text, text_to_markdown
from bridge.content.messages.parts import message_text
from bridge.content.text.plain import text_to_plain
from bridge.content.text.tree import (
    Block,
    Document,
    Inline,
    List,
    ListItem,
    Paragraph,
    Strong,
    Text,
)
from bridge.model import (
    AccountId,
    ChannelRenamed,
    Event,
    MemberJoined,
    MemberLeft,
    MessagePosted,
    Person,
    PollEnded,
    ThreadStarted,
    TopicChanged,
    message_id_of,
)
from bridge.model.refs import BRIDGE, BRIDGE_NAME
from bridge.ports.connector import Connector
from bridge.ports.store.key_values import KeyValueStore
from bridge.ports.store.messages import MessageStore
from bridge.router.inbound.channel_metadata import is_news
from bridge.router.inbound.context import Admitted, Planned, ended
from bridge.router.inbound.threads import shown_message
from bridge.router.rooms.features import platform_name
from bridge.router.rooms.options import ChannelEventKind
from bridge.router.rooms.people import People, nameless
from bridge.router.rooms.reference_names import ReferenceNames
from bridge.uacs import Actor, Message, TextPart, to_timestamp

ChannelEvent = MemberJoined | MemberLeft | TopicChanged | ChannelRenamed | ThreadStarted | PollEnded
_KINDS: Mapping[type[Event], ChannelEventKind] = {
    MemberJoined: "joins",
    MemberLeft: "joins",
    TopicChanged: "topics",
    ChannelRenamed: "names",
    ThreadStarted: "threads",
    PollEnded: "polls",
}
CHANNEL_EVENTS: tuple[type[Event], ...] = tuple(_KINDS)


class _ChannelEventStore(KeyValueStore, MessageStore, Protocol):
    """What `DescribeChannelEvent` needs of the store."""


@dataclass(frozen=True)
class DescribeChannelEvent:
    """Turns the event into a message of the bridge, in those rooms that show such events."""

    store: _ChannelEventStore
    connectors: Mapping[AccountId, Connector]
    people: People
    reference_names: ReferenceNames

    async def __call__(self, admitted: Admitted) -> Admitted | Planned:
        event = admitted.event
        if not isinstance(event, ChannelEvent):
            return admitted
        if isinstance(event, TopicChanged | ChannelRenamed) and not await is_news(
            self.store, event
        ):
            return ended(f"kept: {event.type}, as we know it")
        kind = _KINDS[type(event)]
        rooms = tuple(room for room in admitted.rooms if kind in room.options.announce)
        if not rooms:
            return ended(f"kept: {event.type}")
        words = await self._words(event)
        if not words:
            return ended(f"kept: {event.type}, and nothing to say of it")
        post = _as_post(event, words, _own_id(event, admitted.key))
        return replace(admitted, rooms=rooms, event=post)

    async def _words(self, event: ChannelEvent) -> Document:
        """Names and topics are characters, never markup, and mention nobody: mentions in a topic
        are replaced by names."""
        match event:
            case MemberJoined() | MemberLeft():
                verb = "joined" if isinstance(event, MemberJoined) else "left"
                where = platform_name(self.connectors, event.place.channel.platform)
                return _line(Strong((await self._name(event),)), Text(f" {verb} ({where})"))
            case TopicChanged(topic=topic):
                named = await self.reference_names.named_in(event.account, topic)
                topic_text = _plain(text_to_plain(markdown_to_text(named)))
                if not topic_text:
                    return _line(Text("The topic was taken away"))
                return _line(Text("The topic is now: "), Strong((Text(topic_text),)))
            case ChannelRenamed(name=name):
                return _renamed(_plain(name), in_thread=event.place.thread is not None)
            case ThreadStarted(name=name):
                title = "" if await self._repeats_its_root(event) else _plain(name)
                author = Strong((await self._name(event),))
                return (
                    _line(author, Text(" started a thread: "), Strong((Text(title),)))
                    if title
                    else ()
                )
            case PollEnded(counts=counts):
                return _result(counts)

    async def _repeats_its_root(self, event: ThreadStarted) -> bool:
        """Clients name a thread after the message that it begins from, if its author does not."""
        channel = event.place.channel
        stored = await shown_message(self.store, channel, event.root) if event.root else None
        if stored is None:
            return False
        return _signs(message_text(stored.message)[0]).startswith(_signs(event.name))

    async def _name(self, event: MemberJoined | MemberLeft | ThreadStarted) -> Text:
        person = event.person if isinstance(event, MemberJoined) else None
        named, _ = await self.people.complete(event.account, person or nameless(event.actor))
        return Text(_plain(named.name))


def _signs(text: str) -> str:
    """Letters and digits alone: markup and white space differ between a name and a text."""
    return "".join(sign for sign in text.casefold() if sign.isalnum())


def _renamed(name: str, *, in_thread: bool) -> Document:
    if not name:
        return ()
    if in_thread:
        return _line(Text("The thread is now called "), Strong((Text(name),)))
    return _line(Text("The channel is now called "), Strong((Text(f"#{name.removeprefix('#')}"),)))


def _result(counts: tuple[tuple[str, int], ...]) -> Document:
    """The answers in the poll's order, the one or those with most votes in bold."""
    most = max((votes for _, votes in counts), default=0)
    items: list[ListItem] = []
    for answer, votes in counts:
        line = Text(f"{_plain(answer) or '?'}: {votes}")
        item: Inline = Strong((line,)) if votes and votes == most else line
        items.append(ListItem((Paragraph((item,)),)))
    blocks: list[Block] = [Paragraph((Text("The poll has ended:" if items else "The poll ended"),))]
    return (*blocks, List(tuple(items))) if items else tuple(blocks)


def _line(*inlines: Inline) -> Document:
    return (Paragraph(inlines),)


def _plain(text: str) -> str:
    return " ".join(text.split())


def _own_id(event: ChannelEvent, key: str) -> str:
    """The same event has the same id, whichever of several payloads brought it."""
    match event:
        case ThreadStarted():
            return f"thread {event.place.thread or event.root}"
        case PollEnded(target=target):
            return f"poll ended {target}"
        case _:
            return f"{event.type} {key}"


def _as_post(event: ChannelEvent, words: Document, native_id: str) -> MessagePosted:
    message = Message(
        message_id=message_id_of(event.place.channel, native_id),
        timestamp=to_timestamp(event.time),
        actor=Actor(id=BRIDGE, role="system", name=BRIDGE_NAME),
        content=(TextPart(text=text_to_markdown(words), format="markdown"),),
    )
    return MessagePosted(
        account=event.account,
        place=event.place,
        time=event.time,
        audience=event.audience,
        native_id=native_id,
        message=message,
        author=Person(id=BRIDGE, name=BRIDGE_NAME, bot=True),
        reply_to=event.target if isinstance(event, PollEnded) else None,
    )
