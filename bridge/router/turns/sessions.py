"""Which turns belong together: the key of a session, and what an agent may know in it. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from bridge.model import ActorId, ChannelRef, MessageId, RoomId
from bridge.model.archive_records import NewMessage, StoredMessage, View
from bridge.model.refs import join_key
from bridge.model.turn_records import StoredTurn
from bridge.router.rooms.rooms import AgentMembership, Room

Question = NewMessage | StoredMessage


@dataclass(frozen=True)
class TurnContext:
    """A turn with its room, and with its `origin`: the message of a person or a bot that led to it,
    if only by the answer of another agent."""

    turn: StoredTurn
    room: Room
    origin: StoredMessage


def session_of(membership: AgentMembership, room: RoomId, question: Question) -> str:
    """Return the key of the question's session: turns of one session run one after the other, and
    their agent knows of all of them."""
    match membership.session:
        case "room":
            return join_key(membership.agent, room)
        case "channel":
            place = question.place
            return join_key(membership.agent, room, "channel", place.channel.key if place else "")
        case "thread":
            return join_key(membership.agent, room, "thread", _thread_of(question))
        case "person":
            return join_key(membership.agent, room, "person", question.author.id)


def view_of(room: Room, membership: AgentMembership, question: Question) -> View:
    """Return the part of the room that the agent is shown."""
    member = None if room.shows_all_history else f"agent:{membership.agent}"
    match membership.session:
        case "room":
            return View(member=member)
        case "channel":
            return View(channel=question.place.channel if question.place else None, member=member)
        case "thread":
            return View(thread=_thread_of(question), member=member)
        case "person":
            return View(person=question.author.id, member=member)


def spots_of(question: Question) -> tuple[str, ...]:
    """Return the keys of the places where the question stands, the narrowest first. Each may be
    handed over by itself."""
    place = question.place
    channel = [channel_spot(place.channel)] if place else []
    return (thread_spot(_thread_of(question)), person_spot(question.author.id), *channel, ROOM)


ROOM = "room"


def channel_spot(channel: ChannelRef) -> str:
    return join_key("channel", channel.key)


def thread_spot(root: MessageId) -> str:
    return join_key("thread", root)


def person_spot(actor: ActorId) -> str:
    return join_key("person", actor)


def spot_of(membership: AgentMembership, question: Question) -> str:
    """Return the key of the place that a session of this membership stands for."""
    match membership.session:
        case "channel" if question.place:
            return channel_spot(question.place.channel)
        case "thread":
            return thread_spot(_thread_of(question))
        case "person":
            return person_spot(question.author.id)
        case _:
            return ROOM


def _thread_of(question: Question) -> MessageId:
    """A message outside of threads begins one of its own."""
    return question.root or MessageId(question.message.message_id)
