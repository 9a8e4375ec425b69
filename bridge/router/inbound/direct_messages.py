"""What somebody says to our bot alone: it goes to the person whom it answers, or is a command.

Where agents answer there, too, all else is for them.
"""

from __future__ import annotations

import structlog

from bridge.content.markdown import text_to_markdown
from bridge.content.text.tree import Break, Inline, Paragraph, Text
from bridge.errors import BridgeError
from bridge.model import CommandGiven, Event, MessagePosted, split_key
from bridge.model.room_records import DirectEnd
from bridge.router.commands.direct import direct_command
from bridge.router.commands.parser import read_words
from bridge.router.inbound.context import Passage, Surroundings
from bridge.router.outbound.notices import notice_id
from bridge.router.rooms.rooms import Member, Room
from bridge.uacs import TextPart

log = structlog.get_logger()

_WHOM = (
    "To whom? Answer one of their messages (as a reply, or in its thread), or begin with "
    '"dm @NAME".'
)


async def hear_direct(passage: Passage, around: Surroundings) -> str | None:
    """Only where somebody wanted it: what is said to our bot elsewhere was not even kept."""
    event = passage.event
    end = around.directs.end_at(event.account, event.place.channel)
    if end is None:
        return None
    key = passage.row.raw.dedupe_key
    match event:
        case CommandGiven():
            return await _run(event.text, end, key, around)
        case MessagePosted():
            if split_key(event.author.id)[-1] != split_key(end.actor)[-1]:
                return "direct: another's"
            if _is_command(text := _said(event)):
                return await _run(text, end, key, around)
            return await _carry(passage, event, end, around)
        case _:
            passage.rooms = await _rooms_of(event, end, around)
            others = passage.rooms or around.rooms.hearing(event.account, event.place.channel)
            return None if others else "direct: it is nobody else's"


async def _carry(
    passage: Passage, event: MessagePosted, end: DirectEnd, around: Surroundings
) -> str | None:
    with_agents = bool(around.rooms.hearing(event.account, event.place.channel))
    partner = await _partner(event, end, around, alone=not with_agents)
    room = around.directs.room_of(end.actor, partner.actor) if partner else None
    if with_agents and room is None:
        return None
    if partner is None or room is None:
        await _say(end, _WHOM, passage.row.raw.dedupe_key, around)
        return "direct: to nobody"
    shared = around.directs.shared_room(end.actor, partner.actor)
    if shared and (why := around.decided.refuses_actor(end.actor, shared)):
        return f"not admitted: {why}"
    audience = (end.actor, partner.actor)
    passage.event = _by(event, end).model_copy(update={"audience": audience, "addresses_us": False})
    passage.rooms, passage.direct = [room], room
    return None


def _by(event: MessagePosted, end: DirectEnd) -> MessagePosted:
    """Under the id that its author has elsewhere: where two are alone, there may be no server."""
    author = event.author.model_copy(update={"id": end.actor})
    actor = event.message.actor.model_copy(update={"id": end.actor})
    message = event.message.model_copy(update={"actor": actor})
    return event.model_copy(update={"author": author, "message": message})


async def _partner(
    event: MessagePosted, end: DirectEnd, around: Surroundings, *, alone: bool
) -> DirectEnd | None:
    """Whose message it answers; where they and our bot are `alone`, what answers none is for the
    only one with whom they ever wrote."""
    answered = event.reply_to or event.place.thread
    if answered is None:
        partners = around.directs.partners(end.actor) if alone else ()
        return partners[0] if len(partners) == 1 else None
    known = await around.store.resolve(event.place.channel, answered)
    for post in await around.store.posts_of(known) if known else ():
        if found := around.directs.partner(post.room, end.actor):
            return found
    return None


async def _rooms_of(event: Event, end: DirectEnd, around: Surroundings) -> list[Room]:
    """The two in whose messages it happened; of many messages at once: all."""
    target = getattr(event, "target", None)
    if target is None:
        return around.directs.rooms_at(end)
    known = await around.store.resolve(event.place.channel, target)
    posts = await around.store.posts_of(known) if known else ()
    found = (around.directs.find(post.room) for post in posts)
    return list({room.id: room for room in found if room is not None}.values())


# --- commands -----------------------------------------------------------------------------------


def _said(event: MessagePosted) -> str:
    first = event.message.content[0]
    alone = len(event.message.content) == 1
    return first.text.strip() if alone and isinstance(first, TextPart) else ""


def _is_command(text: str) -> bool:
    return read_words(text)[0] == "dm"


async def _run(text: str, end: DirectEnd, key: str, around: Surroundings) -> str:
    name, words = read_words(text)
    if name != "dm":
        await _say(end, "Here it is: dm on, dm off, or dm @NAME and what to say.", key, around)
        return "command: not known"
    try:
        answer = await direct_command(end.actor, end.account, end.room, words, key, around)
    except BridgeError as error:
        log.info("command_failed", command="dm", error=str(error))
        answer = error.public
    await _say(end, answer, key, around)
    return "command: dm"


async def _say(end: DirectEnd, text: str, key: str, around: Surroundings) -> None:
    """The bridge's own words, to this person alone."""
    lines: list[Inline] = []
    for line in text.split("\n"):
        lines += [Break(), Text(line)] if lines else [Text(line)]
    await around.notices.say(
        notice_id("answer", end.channel.key, key),
        text_to_markdown((Paragraph(tuple(lines)),)),
        end.room,
        [Member(end.account, end.channel)],
    )
