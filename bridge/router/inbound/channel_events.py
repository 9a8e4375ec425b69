"""What happens to a channel -> words of the bridge, said at that place like a message."""

from __future__ import annotations

from collections.abc import Mapping

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
from bridge.model.refs import BRIDGE
from bridge.router.inbound.channel_metadata import is_news
from bridge.router.inbound.context import Passage, Surroundings
from bridge.router.outbound.notices import NAME
from bridge.router.rooms.options import Tells
from bridge.router.rooms.people import nameless
from bridge.uacs import Actor, Message, TextPart, to_timestamp

Happening = MemberJoined | MemberLeft | TopicChanged | ChannelRenamed | ThreadStarted | PollEnded
_TELLS: Mapping[type[Event], Tells] = {
    MemberJoined: "joins",
    MemberLeft: "joins",
    TopicChanged: "topics",
    ChannelRenamed: "names",
    ThreadStarted: "threads",
    PollEnded: "polls",
}
HAPPENINGS: tuple[type[Event], ...] = tuple(_TELLS)


async def tell_happening(passage: Passage, around: Surroundings) -> str | None:
    """From here on it is a message of the bridge, in those rooms that want to be told of it."""
    event = passage.event
    if not isinstance(event, Happening):
        return None
    if isinstance(event, TopicChanged | ChannelRenamed) and not await is_news(around.store, event):
        return f"kept: {event.type}, as we know it"
    passage.rooms = [room for room in passage.rooms if _TELLS[type(event)] in room.options.tells]
    if not passage.rooms:
        return f"kept: {event.type}"
    words = await _words(event, around)
    if not words:
        return f"kept: {event.type}, and nothing to say of it"
    passage.event = _as_post(event, words, _own_id(event, passage.row.raw.dedupe_key))
    return None


async def _words(event: Happening, around: Surroundings) -> Document:
    """Names and topics are characters, never markup, and mention nobody: who and what a topic
    mentions is named."""
    match event:
        case MemberJoined() | MemberLeft():
            verb = "joined" if isinstance(event, MemberJoined) else "left"
            where = event.place.channel.platform.title()
            return _line(Strong((await _name(event, around),)), Text(f" {verb} ({where})"))
        case TopicChanged(topic=topic):
            named = await around.reference_names.named_in(event.account, topic)
            shown = _plain(text_to_plain(markdown_to_text(named)))
            said = Text("The topic is now: "), Strong((Text(shown),))
            return _line(*said) if shown else _line(Text("The topic was taken away"))
        case ChannelRenamed(name=name):
            return _renamed(_plain(name), in_thread=event.place.thread is not None)
        case ThreadStarted(name=name):
            shown = "" if await _is_said_by_its_root(event, around) else _plain(name)
            who = Strong((await _name(event, around),))
            return _line(who, Text(" started a thread: "), Strong((Text(shown),))) if shown else ()
        case PollEnded(counts=counts):
            return _result(counts)


async def _is_said_by_its_root(event: ThreadStarted, around: Surroundings) -> bool:
    """Clients name a thread after the message that it begins from, if its author does not."""
    known = event.root and await around.store.resolve(event.place.channel, event.root)
    stored = await around.store.message(known) if known else None
    if stored is None:
        return False
    return _signs(message_text(stored.message)[0]).startswith(_signs(event.name))


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
        said = Text(f"{_plain(answer) or '?'}: {votes}")
        shown: Inline = Strong((said,)) if votes and votes == most else said
        items.append(ListItem((Paragraph((shown,)),)))
    blocks: list[Block] = [Paragraph((Text("The poll has ended:" if items else "The poll ended"),))]
    return (*blocks, List(tuple(items))) if items else tuple(blocks)


async def _name(event: MemberJoined | MemberLeft | ThreadStarted, around: Surroundings) -> Text:
    person = event.person if isinstance(event, MemberJoined) else None
    known, _ = await around.people.complete(event.account, person or nameless(event.actor))
    return Text(_plain(known.name))


def _line(*inlines: Inline) -> Document:
    return (Paragraph(inlines),)


def _plain(text: str) -> str:
    return " ".join(text.split())


def is_happening(native_id: str) -> bool:
    """Whether it is the id that `_own_id` gave a happening: no platform's id has a space."""
    return " " in native_id


def _own_id(event: Happening, key: str) -> str:
    """The same happening has the same id, whichever of several payloads told of it."""
    match event:
        case ThreadStarted():
            return f"thread {event.place.thread or event.root}"
        case PollEnded(target=target):
            return f"poll ended {target}"
        case _:
            return f"{event.type} {key}"


def _as_post(event: Happening, words: Document, native_id: str) -> MessagePosted:
    message = Message(
        message_id=message_id_of(event.place.channel, native_id),
        timestamp=to_timestamp(event.time),
        actor=Actor(id=BRIDGE, role="system", name=NAME),
        content=(TextPart(text=text_to_markdown(words), format="markdown"),),
    )
    return MessagePosted(
        account=event.account,
        place=event.place,
        time=event.time,
        audience=event.audience,
        native_id=native_id,
        message=message,
        author=Person(id=BRIDGE, name=NAME, bot=True),
        reply_to=event.target if isinstance(event, PollEnded) else None,
    )
