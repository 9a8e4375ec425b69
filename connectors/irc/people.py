"""Who somebody is: a nick, or the nick that an account uses now."""

from __future__ import annotations

from bridge.errors import NotFound
from bridge.model import ActorId, ChannelRef, Person
from connectors.irc import ids
from connectors.irc.decode import split_person
from connectors.irc.session import Session


class People:
    """The people of one network, and our own bot."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @property
    def own_name(self) -> str:
        return self._session.speaker.link.state.nick if self._session.speaker else ""

    async def person(self, actor: ActorId) -> Person | None:
        """None for who is not of this network. Names are nicks, as far as they are known now."""
        if (several := split_person(actor)) is not None:
            return several
        parts = ids.split_actor(actor)
        if parts is None or parts[0] != self._session.network:
            return None
        return Person(id=actor, name=_nick(self._session, parts[1]) or parts[1].lstrip("~"))


class DirectMessages:
    """The direct messages of one person and the bot."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def is_direct(self, channel: ChannelRef) -> bool:
        return ids.is_direct(channel)

    async def open(self, actor: ActorId) -> ChannelRef:
        """The direct messages of the person and the bot. Raises NotFound where they are not
        there."""
        network, parts = self._session.network, ids.split_actor(actor)
        nick = _nick(self._session, parts[1]) if parts and parts[0] == network else None
        if nick is None:
            raise NotFound(
                f"{actor!r} is not on this network now, or shares no channel with the bot"
            )
        native = parts[1] if parts else ""
        return ids.direct_ref(network, nick, "" if native.startswith("~") else native)


def _nick(session: Session, native: str) -> str | None:
    if session.speaker is None:
        return None
    state = session.speaker.link.state
    if not native.startswith("~"):
        return state.nick_of_account(native)
    folded = state.support.fold(native[1:])
    places = (state.members(channel) for channel in state.channels)
    return next((members[folded] for members in places if folded in members), None)
