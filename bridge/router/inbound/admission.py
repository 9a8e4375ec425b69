"""What a room lets in, and what each of its channels is shown: the options' say, and what was
decided while the bridge runs."""

from __future__ import annotations

from collections.abc import Sequence

import structlog

from bridge.content.markdown import text_to_markdown
from bridge.content.text.tree import Paragraph, Text
from bridge.model import (
    Event,
    FilesAwaited,
    MessageDeleted,
    MessageEdited,
    MessagePosted,
    Person,
    PostMessage,
    Said,
    split_key,
)
from bridge.model.archive_records import NewMessage, StoredMessage
from bridge.model.refs import BRIDGE
from bridge.router.inbound.context import Surroundings
from bridge.router.inbound.flood_guard import PAUSE
from bridge.router.outbound.notices import notice_id
from bridge.router.rooms.options import (
    OPEN,
    Kind,
    MessageFilter,
    Seen,
    kinds_of,
    seen_event,
    seen_message,
)
from bridge.router.rooms.rooms import Member, Room
from bridge.uacs import Message, TextPart

log = structlog.get_logger()

_BEFORE_WORDS = "\\ \t\n\u200b\u2060\ufeff"
_TYPE = f"{_BEFORE_WORDS}*_~`"  # bold, italic, struck, code


def admitting(rooms: Sequence[Room], event: Event, author: Person | None) -> tuple[list[Room], str]:
    """Those of the rooms that let in what this author did, and why another does not."""
    admitted: list[Room] = []
    seen: Seen | None = None
    refusal = ""
    for room in rooms:
        member = room.member(event.place.channel)
        inner, outer = room.options.sieve, OPEN if member is None else member.options.sieve
        if _is_private(event, room.options.private):
            refusal = "its author keeps it to this channel"
        elif inner is OPEN and outer is OPEN:
            admitted.append(room)
        else:
            seen = seen or seen_event(event, author)
            why = inner.refuses(seen) or outer.refuses(seen)
            refusal = why or refusal
            admitted += [] if why else [room]
    return admitted, refusal


async def admitted(event: Event, around: Surroundings) -> tuple[list[Room], str]:
    """The rooms that let it in, and why another does not. A flood pauses its room."""
    rooms = around.rooms.hearing(event.account, event.place.channel)
    if not rooms:
        return [], ""
    sieves = [room.options.sieve for room in rooms]
    here = (room.member(event.place.channel) for room in rooms)
    sieves += [member.options.sieve for member in here if member]
    author = await named_author(event, sieves, around)
    rooms, refusal = admitting(rooms, event, author)
    found: list[Room] = []
    for room in rooms:
        why = around.decided.refuses(event, room.id)
        verdict = None
        if not why and isinstance(event, MessagePosted):
            verdict = around.loops.judge(event, room)
        if verdict is not None and verdict.flood:
            await _pause(room, verdict.reason, around)
        refusal = why or (verdict.reason if verdict else refusal)
        found += [] if why or verdict else [room]
    return found, refusal


async def _pause(room: Room, reason: str, around: Surroundings) -> None:
    """Until somebody resumes it, or for some minutes: what goes round must not do so unseen."""
    log.error("room_paused", room=room.id, reason=reason)
    await around.decided.pause(room.id, reason, BRIDGE, PAUSE)
    around.loops.forget(room.id)
    minutes = round(PAUSE / 60)
    await around.notices.say(
        notice_id("paused", room.id, repr(around.clock.time())),
        text_to_markdown((Paragraph((Text(
            f"⏸ This room is paused for {minutes} minutes: {reason}. Nothing is carried until "
            "then, or until it is resumed."
        ),)),)),
        room.id,
        room.listeners(),
    )  # fmt: skip


def lets_edit_out(
    room: Room, post: PostMessage, now: Message, stored: StoredMessage, kind: Kind
) -> bool:
    """Whether the channel of a copy is shown what the message says now."""
    member = room.member(post.channel)
    if member is None or not member.listens:
        return False
    sieve = member.options.sieve
    if sieve is OPEN:
        return True
    kinds = kinds_of(now, stored.author, threaded=stored.root is not None)
    return not sieve.refuses(Seen(frozenset({*kinds, kind}), stored.author, now))


def lets_out(member: Member, new: NewMessage) -> bool:
    """Whether the channel is shown this message."""
    sieve = member.options.sieve
    if sieve is OPEN:
        return True
    return not sieve.refuses(seen_message(new.message, new.author, threaded=new.root is not None))


async def named_author(
    event: Event, sieves: Sequence[MessageFilter], around: Surroundings
) -> Person | None:
    """Who did it; under the name that people know where a sieve asks for it."""
    author = author_of(event)
    if author is None or not any(one.asks_who for one in sieves):
        return author
    name = await around.people.name_of(event.account, author)
    return author.model_copy(update={"name": name})


def author_of(event: Event) -> Person | None:
    """Who did it, as far as the event itself tells."""
    if isinstance(event, MessagePosted):
        return event.author
    if isinstance(event, MessageEdited | FilesAwaited):
        actor = event.message.actor
        return Person(id=event.actor, name=actor.name or "", bot=actor.role == "assistant")
    actor = getattr(event, "actor", None)
    return None if actor is None else Person(id=actor, name=split_key(actor)[-1])


def taken_back(event: Event, rooms: Sequence[Room]) -> Event:
    """An edit by which an author keeps a message to its channel takes it back from the others, as
    a deletion does."""
    if not isinstance(event, MessageEdited):
        return event
    if not any(_is_private(event, room.options.private) for room in rooms):
        return event
    return MessageDeleted(
        account=event.account, place=event.place, time=event.time, audience=event.audience,
        actor=event.actor, target=event.target,
    )  # fmt: skip


def _is_private(event: Event, beginnings: tuple[str, ...]) -> bool:
    """Whether its author says so in its first words, in whatever type they are set."""
    if not beginnings or not isinstance(event, Said):
        return False
    first = next((part for part in event.message.content if isinstance(part, TextPart)), None)
    if first is None:
        return False
    said = first.text.lstrip(_BEFORE_WORDS).casefold()
    return said.startswith(beginnings) or said.lstrip(_TYPE).startswith(beginnings)
