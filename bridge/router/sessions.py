"""Which turns belong together: the key of a session, and what an agent may know in it. Pure."""

from __future__ import annotations

from bridge.model import MessageId, RoomId
from bridge.model.refs import join_key
from bridge.ports.store import NewMessage, StoredMessage, View
from bridge.router.rooms import AgentSeat

Asked = NewMessage | StoredMessage


def session_of(seat: AgentSeat, room: RoomId, asked: Asked) -> str:
    """Turns of one session are answered one after the other, and know of one another."""
    match seat.session:
        case "room":
            return join_key(seat.agent, room)
        case "channel":
            place = asked.place
            return join_key(seat.agent, room, "channel", place.channel.key if place else "")
        case "thread":
            return join_key(seat.agent, room, "thread", _thread_of(asked))
        case "person":
            return join_key(seat.agent, room, "person", asked.author.id)


def view_of(seat: AgentSeat, asked: Asked) -> View:
    """What of the room the agent is shown."""
    match seat.session:
        case "room":
            return View()
        case "channel":
            return View(channel=asked.place.channel if asked.place else None)
        case "thread":
            return View(thread=_thread_of(asked))
        case "person":
            return View(person=asked.author.id)


def _thread_of(asked: Asked) -> MessageId:
    """A message outside of threads begins one of its own."""
    return asked.root or MessageId(asked.message.message_id)
