"""Which agents of a room answer a message: who is named, who holds the spot, whose route fits best.

What is said to an agent by its name, or in answer to its words, is for it. All else that agents
listen to is answered by the one whose route is the most specific, and by those that sit `beside`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import structlog

from bridge.content.messages.parts import message_text
from bridge.model import MessageId, MessagePosted, split_key
from bridge.model.archive_records import NewMessage
from bridge.router.inbound.context import Surroundings
from bridge.router.rooms.answer_conditions import ANYWHERE, NOWHERE, Asking, Rank, collide, rank_of
from bridge.router.rooms.rooms import AgentMembership, Room

log = structlog.get_logger()

_STOP = frozenset({"stop", "cancel", "halt"})
WITHIN = 3600.0  # seconds for which turns that agents and bots called are counted


async def agents_asked(
    room: Room, event: MessagePosted, new: NewMessage, around: Surroundings
) -> Sequence[AgentMembership]:
    """The agents that shall answer, as far as they admit whoever asks. Where a person has taken
    over, none does."""
    wanted = await _wanted(room, event, new, around)
    if not wanted:
        return ()
    admitted: list[AgentMembership] = []
    channel = event.place.channel
    member = room.member(channel)
    text, _ = message_text(event.message)
    for seat in wanted:
        if not await around.doors.refuses(seat, room, new.author.id, channel):
            admitted.append(seat)
        elif member and (event.addresses_us or is_addressed(seat, text, new)):
            await around.doors.tell(seat, room, member, new.author.id, new.id)
    return admitted


async def _wanted(
    room: Room, event: MessagePosted, new: NewMessage, around: Surroundings
) -> Sequence[AgentMembership]:
    """Whom the message is for."""
    if not room.agents:
        return ()
    text, _ = message_text(event.message)
    holding = around.holdings.at(room.id, new)
    if holding is not None and holding.agent is None:
        return ()
    if named := [seat for seat in room.agents if is_addressed(seat, text, new)]:
        return await _may_call(named, room, event, around)
    if event.author.bot:
        return ()
    asked = await _asking(room, event, new, text, around)
    chosen = await _chosen(room, event, new, asked, around)
    if chosen and holding is not None:
        holder = next((seat for seat in room.agents if seat.agent == holding.agent), None)
        return chosen if holder is None else [holder]
    return chosen


async def _may_call(
    named: Sequence[AgentMembership], room: Room, event: MessagePosted, around: Surroundings
) -> Sequence[AgentMembership]:
    """People may; bots where the seat hears them, until it has gone round often enough."""
    if not event.author.bot:
        return named
    hearing = [seat for seat in named if seat.bots]
    if not hearing:
        return ()
    left = room.talk.turns - await called_by_others(room, around)
    if left < len(hearing):
        log.warning("agents_called_too_often", room=room.id, by=event.author.id)
    return hearing[: max(left, 0)]


async def called_by_others(room: Room, around: Surroundings) -> int:
    """How many turns agents and bots called since a person last did."""
    return await around.store.called_by_others(room.id, around.clock.time() - WITHIN)


async def _chosen(
    room: Room, event: MessagePosted, new: NewMessage, asked: Asking, around: Surroundings
) -> Sequence[AgentMembership]:
    """Those that listen and whose routes fit: the best, and all that sit beside."""
    root = new.root or new.id
    ranks: list[tuple[Rank, AgentMembership]] = []
    for seat in room.agents:
        rank = rank_of(seat.routes, asked)
        if rank == NOWHERE:
            continue
        takes_part = seat.listen == "threads" and await around.takes_part(seat.agent, root)
        if takes_part:
            rank = max(rank, _IN_ITS_THREAD)
        if event.addresses_us or takes_part or seat.listen == "always":
            ranks.append((rank, seat))
    alone = [(rank, seat) for rank, seat in ranks if not seat.beside]
    best = max((rank for rank, _ in alone), default=NOWHERE)
    first = next((seat for rank, seat in alone if rank == best), None)
    always = [seat for _, seat in ranks if seat.beside and seat.listen != "mentions"]
    if first is None and event.addresses_us and ranks:
        first = ranks[0][1]
    return [seat for _, seat in ranks if seat is first or seat in always]


_IN_ITS_THREAD: Rank = (0, 16)


async def _asking(
    room: Room, event: MessagePosted, new: NewMessage, text: str, around: Surroundings
) -> Asking:
    member = room.member(event.place.channel)
    who = {new.author.id, new.author.name}
    if any(route.people for seat in room.agents for route in seat.routes):
        who |= {one.actor for one in await around.store.accounts_of(new.author.id)}
    name = member.name if member else ""
    return Asking(event.place.channel, name, who, new.root is not None, text)


def is_addressed(seat: AgentMembership, text: str, new: NewMessage) -> bool:
    """By its name, or because its own words are answered."""
    return is_named(seat.agent, text) or said_by(new.reply_to) == seat.agent


def said_by(message: MessageId | None) -> str | None:
    """The agent whose answer has this id; None for all that others said."""
    kind, *rest = split_key(message or "")
    return rest[0] if kind == "agent" and len(rest) == 2 else None


def wants_stop(seat: AgentMembership, event: MessagePosted) -> bool:
    """Whether the text is no question but the wish that the agent stops."""
    text, _ = message_text(event.message)
    words = re.sub(rf"@{re.escape(seat.agent)}\b", " ", text, flags=re.IGNORECASE)
    return words.strip(" \n\t,.:!").casefold() in _STOP


def is_named(agent: str, text: str) -> bool:
    """Whether `@agent` stands in the text as a word of its own."""
    return re.search(rf"(?<![\w@])@{re.escape(agent)}(?![\w-])", text, re.IGNORECASE) is not None


def ambiguities(seats: Sequence[AgentMembership]) -> list[tuple[int, int, str]]:
    """Pairs of seats of which neither goes before the other, and why."""
    found: list[tuple[int, int, str]] = []
    for first, one in enumerate(seats):
        for second, other in enumerate(seats[first + 1 :], first + 1):
            if one.agent == other.agent:
                found.append((first, second, "they are the same agent"))
            elif not (one.beside or other.beside) and (why := _collision(one, other)):
                found.append((first, second, why))
    return found


def _collision(one: AgentMembership, other: AgentMembership) -> str:
    if not one.routes and not other.routes:
        # A mention that names nobody is for the first of them.
        return "both answer always" if one.listen == other.listen == "always" else ""
    for at, route in enumerate(one.routes):
        for at_other, another in enumerate(other.routes):
            if collide(route, another):
                return f"route {at} of the one and route {at_other} of the other may fit the same"
    plain = [seat for seat in (one, other) if not seat.routes]
    routed = other if plain and plain[0] is one else one
    if plain and any(route.rank == ANYWHERE for route in routed.routes):
        return "a route without conditions is no more specific than none"
    return ""
