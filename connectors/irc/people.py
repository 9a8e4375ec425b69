"""Who somebody is: a nick, or the nick that an account uses now."""

from __future__ import annotations

from bridge.errors import NotFound
from bridge.model import ActorId, ChannelRef, Person
from connectors.irc import ids
from connectors.irc.decode import split_person
from connectors.irc.session import Session


def look_up_person(session: Session, actor: ActorId) -> Person | None:
    """None for who is not of this network. Names are nicks, as far as they are known now."""
    if (several := split_person(actor)) is not None:
        return several
    found = ids.split_actor(actor)
    if found is None or found[0] != session.network:
        return None
    return Person(id=actor, name=_nick(session, found[1]) or found[1].lstrip("~"))


def direct_channel(session: Session, actor: ActorId) -> ChannelRef:
    """The direct messages of the person and the bot. Raises NotFound where they are not there."""
    found = ids.split_actor(actor)
    nick = _nick(session, found[1]) if found and found[0] == session.network else None
    if nick is None:
        raise NotFound(f"{actor!r} is not on this network now, or shares no channel with the bot")
    native = found[1] if found else ""
    return ids.direct_ref(session.network, nick, "" if native.startswith("~") else native)


def _nick(session: Session, native: str) -> str | None:
    if session.speaker is None:
        return None
    state = session.speaker.link.state
    if not native.startswith("~"):
        return state.nick_of_account(native)
    folded = state.support.fold(native[1:])
    places = (state.members(channel) for channel in state.channels)
    return next((members[folded] for members in places if folded in members), None)
