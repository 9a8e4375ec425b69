"""Which turns belong together: the key of a session, and what an agent may know in it. Pure."""

from __future__ import annotations

from bridge.model import ActorId, ChannelRef, MessageId, RoomId
from bridge.model.archive_records import NewMessage, StoredMessage, View
from bridge.model.refs import join_key
from bridge.router.rooms.rooms import AgentMembership, Room

Asked = NewMessage | StoredMessage


def session_of(membership: AgentMembership, room: RoomId, asked: Asked) -> str:
    """Turns of one session are answered one after the other, and know of one another."""
    match membership.session:
        case "room":
            return join_key(membership.agent, room)
        case "channel":
            place = asked.place
            return join_key(membership.agent, room, "channel", place.channel.key if place else "")
        case "thread":
            return join_key(membership.agent, room, "thread", _thread_of(asked))
        case "person":
            return join_key(membership.agent, room, "person", asked.author.id)


def view_of(room: Room, membership: AgentMembership, asked: Asked) -> View:
    """What of the room the agent is shown."""
    member = None if room.shows_all_history else f"agent:{membership.agent}"
    match membership.session:
        case "room":
            return View(member=member)
        case "channel":
            return View(channel=asked.place.channel if asked.place else None, member=member)
        case "thread":
            return View(thread=_thread_of(asked), member=member)
        case "person":
            return View(person=asked.author.id, member=member)


def spots_of(asked: Asked) -> tuple[str, ...]:
    """Where in its room it was said, the narrowest first: each of these may be held by another."""
    place = asked.place
    channel = [channel_spot(place.channel)] if place else []
    return (thread_spot(_thread_of(asked)), person_spot(asked.author.id), *channel, ROOM)


ROOM = "room"


def channel_spot(channel: ChannelRef) -> str:
    return join_key("channel", channel.key)


def thread_spot(root: MessageId) -> str:
    return join_key("thread", root)


def person_spot(actor: ActorId) -> str:
    return join_key("person", actor)


def spot_of(membership: AgentMembership, asked: Asked) -> str:
    """The spot of a session of this seat."""
    match membership.session:
        case "channel" if asked.place:
            return channel_spot(asked.place.channel)
        case "thread":
            return thread_spot(_thread_of(asked))
        case "person":
            return person_spot(asked.author.id)
        case _:
            return ROOM


def _thread_of(asked: Asked) -> MessageId:
    """A message outside of threads begins one of its own."""
    return asked.root or MessageId(asked.message.message_id)
