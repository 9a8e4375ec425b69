"""People take over from agents, hand over from one to another, and give back: by a command or a
button."""

from __future__ import annotations

from collections.abc import Sequence

from bridge.content.text.globs import matches
from bridge.errors import InvalidData
from bridge.model import ActionPressed, ActorId, Place, message_id_of
from bridge.router.commands.targets import person_meant
from bridge.router.inbound.context import Surroundings
from bridge.router.rooms.rooms import Room
from bridge.router.turns.sessions import ROOM, channel_spot, person_spot, thread_spot


async def take_over(
    room: Room, actor: ActorId, place: Place, words: Sequence[str], around: Surroundings
) -> str:
    """A person answers in place of agents; the answer is for them."""
    _check(room, actor, around)
    spot = await _spot(room, place, words, around)
    name = await around.reference_names.name_of(actor)
    return await around.holdings.take(room, spot, actor, name)


async def hand_over(
    room: Room, actor: ActorId, place: Place, words: Sequence[str], around: Surroundings
) -> str:
    """Another agent answers in place of whoever would."""
    _check(room, actor, around)
    agent, *rest = words
    agent = agent.removeprefix("@")
    if room.seat(agent) is None:
        known = ", ".join(seat.agent for seat in room.agents) or "none"
        raise InvalidData(f"There is no agent {agent!r} in this room; there are: {known}")
    spot = await _spot(room, place, rest, around)
    return await around.holdings.hand(room, spot, agent, actor)


async def give_back(
    room: Room, actor: ActorId, place: Place, words: Sequence[str], around: Surroundings
) -> str:
    """Agents answer again as they are configured."""
    _check(room, actor, around)
    return await around.holdings.give_back(room, await _spot(room, place, words, around))


async def press_to_give_back(
    event: ActionPressed, spot: str, rooms: Sequence[Room], around: Surroundings
) -> str:
    """The outcome of a press on the button of the notice."""
    if not rooms or not may_operate(rooms[0], event.actor, around.admins):
        return "press: not theirs to give back"
    for room in rooms:
        await around.holdings.give_back(room, spot)
    return "press: given back"


def is_admin(actor: ActorId, admins: Sequence[str]) -> bool:
    """`admins` are actor ids, or globs of them (`platform:workspace:*`)."""
    return any(matches(one, actor) for one in admins)


def may_operate(room: Room, actor: ActorId, admins: Sequence[str]) -> bool:
    """Admins, and those whom one of the room's seats names."""
    operators = [glob for seat in room.agents for glob in seat.operators]
    return is_admin(actor, admins) or is_admin(actor, operators)


def _check(room: Room, actor: ActorId, around: Surroundings) -> None:
    if not may_operate(room, actor, around.admins):
        raise InvalidData(
            f"Only admins, and the operators of this room's agents, may do that. You are {actor}"
        )


async def _spot(room: Room, place: Place, words: Sequence[str], around: Surroundings) -> str:
    """What is meant: a person; the thread in which it is said; the room, where agents know it as
    a whole; else the channel."""
    if words:
        return person_spot(await person_meant(words, room, around.store))
    if place.thread:
        known = await around.store.resolve(place.channel, place.thread)
        stored = await around.store.message(known) if known else None
        root = (stored.root if stored else None) or known
        return thread_spot(root or message_id_of(place.channel, place.thread))
    if any(seat.session == "room" for seat in room.agents):
        return ROOM
    return channel_spot(place.channel)
