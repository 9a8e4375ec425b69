"""Direct messages between people of different platforms: who may be written to, and where.

Both must have said that they want them, in channels of one room. What they write to one another
has the two of them for its audience: nobody else is shown it, no agent reads it, no room has it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol
from uuid import UUID, uuid5

from bridge.content.text.look_alikes import skeleton
from bridge.errors import InvalidData
from bridge.model import AccountId, ActorId, ChannelRef, RoomId, join_key, split_key
from bridge.model.archive_records import Timeline
from bridge.model.room_records import DirectEnd
from bridge.ports.clock import Clock
from bridge.ports.connector import Connector
from bridge.ports.store.authors import AuthorStore
from bridge.ports.store.direct_messages import DirectStore
from bridge.ports.store.people import PeopleStore
from bridge.router.rooms.features import platform_name
from bridge.router.rooms.options import MemberOptions, RoomOptions
from bridge.router.rooms.rooms import Member, Room
from bridge.router.signals import Signal

_CONVERSATIONS = UUID("6d8c0d52-6a7e-5d5b-8a53-0b6a4f8a9c27")  # our own UUIDv5 namespace
_KIND = "between"
_SHOWN = MemberOptions(names="{name} ({platform})", threads="flat")
_OPTIONS = RoomOptions(greets=False, private=(), tells=frozenset(), history="shared")


class _DirectsStore(AuthorStore, DirectStore, PeopleStore, Protocol):
    """What `DirectMessages` needs of the store."""


class DirectMessages:
    """A cache in front of the store: to ask costs next to nothing."""

    def __init__(
        self,
        store: _DirectsStore,
        connectors: Mapping[AccountId, Connector],
        clock: Clock,
        direct_channel_opened: Signal[DirectEnd],
    ) -> None:
        self._store = store
        self._connectors = connectors
        self._clock = clock
        self._ends: dict[ActorId, list[DirectEnd]] = {}
        self._at: dict[tuple[AccountId, ChannelRef], DirectEnd] = {}
        self._pairs: set[frozenset[ActorId]] = set()
        self._opened = direct_channel_opened

    async def load(self) -> None:
        self._ends.clear()
        self._at.clear()
        for end in await self._store.direct_ends():
            self._ends.setdefault(end.actor, []).append(end)
            self._at[end.account, end.channel] = end
        self._pairs = {frozenset(pair) for pair in await self._store.direct_pairs()}

    async def opt_in(self, actor: ActorId, account: AccountId, room: RoomId) -> DirectEnd:
        """From now on people of the room may write to them. Raises InvalidData or PlatformError
        where our bot may not write to them itself."""
        connector = self._connectors.get(account)
        direct_messages = connector.abilities.direct_messages if connector else None
        if direct_messages is None:
            raise InvalidData("Nobody can be written to directly on this platform")
        channel = await direct_messages.open(actor)
        end = DirectEnd(actor, account, channel, room, self._clock.time())
        await self._store.put_direct_end(end)
        await self.load()
        await self._opened.emit(end)
        return end

    async def opt_out(self, actor: ActorId) -> bool:
        """In all rooms. Whether they were in any."""
        done = await self._store.remove_direct_ends(actor)
        await self.load()
        return done

    def end_at(self, account: AccountId, channel: ChannelRef) -> DirectEnd | None:
        """Whose direct messages these are."""
        return self._at.get((account, channel)) if self._at else None

    def wants(self, room: RoomId, account: AccountId, channel: ChannelRef) -> bool:
        """Whether whoever is alone with our bot there still wants what the other one of a room of
        two writes; other rooms are none of their business."""
        between = split_key(room)[0] == _KIND
        return not between or self.end_at(account, channel) is not None

    def end_of(self, actor: ActorId) -> DirectEnd | None:
        found = self._ends.get(actor)
        return found[-1] if found else None

    def channels(self, account: AccountId) -> list[ChannelRef]:
        return [channel for known, channel in self._at if known == account]

    def shared_room(self, one: ActorId, other: ActorId) -> RoomId | None:
        """A room in which both want it."""
        theirs = {end.room for end in self._ends.get(other, ())}
        return next((end.room for end in self._ends.get(one, ()) if end.room in theirs), None)

    def reachable(self, actor: ActorId) -> list[DirectEnd]:
        """Those to whom this one may write: on another platform, or in another workspace."""
        others = (self.end_of(other) for other in self._ends)
        return [
            other
            for other in others
            if other and _home(other.actor) != _home(actor) and self.shared_room(actor, other.actor)
        ]

    def partners(self, actor: ActorId) -> list[DirectEnd]:
        """Those of them who have written to one another already."""
        return [
            one for one in self.reachable(actor) if frozenset((actor, one.actor)) in self._pairs
        ]

    async def meet(self, one: ActorId, other: ActorId) -> None:
        """They write to one another from now on."""
        pair = frozenset((one, other))
        if pair not in self._pairs:
            await self._store.put_direct_pair(one, other)
            self._pairs.add(pair)

    async def named(self, actor: ActorId, words: Sequence[str]) -> tuple[DirectEnd, int]:
        """Whom the first words mean, and how many of them are the name. Raises InvalidData, which
        says what to do."""
        reachable = self.reachable(actor)
        accounts = await self._accounts(words[0])
        meant = [one for one in reachable if one.actor in accounts]
        if meant:
            return max(meant, key=lambda one: one.at), 1
        names = {one.actor: skeleton(await self._name(one.actor)) for one in reachable}
        for count in range(min(len(words), 6), 0, -1):
            wanted = skeleton(" ".join(words[:count]).removeprefix("@"))
            found = [one for one in reachable if _is_called(wanted, one, names[one.actor])]
            if len(found) == 1:
                return found[0], count
            if found:
                ids = ", ".join(one.actor for one in found)
                raise InvalidData(f"That could be any of: {ids}. Give the id in place of the name")
        known = ", ".join([await self.called(one) for one in reachable]) or "nobody yet"
        raise InvalidData(f"Nobody of that name wants direct messages. You may write to: {known}")

    async def _accounts(self, word: str) -> set[str]:
        """All accounts of whoever is mentioned."""
        actor = ActorId(word)
        return {word, *(one.actor for one in await self._store.accounts_of(actor))}

    async def _name(self, actor: ActorId) -> str:
        person = await self._store.person(actor)
        return person.name if person else split_key(actor)[-1]

    async def called(self, end: DirectEnd) -> str:
        """Their name, and their platform."""
        platform = platform_name(self._connectors, end.channel.platform)
        return f"{await self._name(end.actor)} ({platform})"

    # --- the rooms of two ---------------------------------------------------------------------

    def room_of(self, one: ActorId, other: ActorId) -> Room | None:
        """The two as a room of two channels, as long as both want it."""
        if self.shared_room(one, other) is None:
            return None
        ends = [end for end in map(self.end_of, sorted((one, other))) if end is not None]
        members = tuple(Member(end.account, end.channel, options=_SHOWN) for end in ends)
        own_id = _room_id(one, other)
        return Room(own_id, conversation_between(one, other), members, options=_OPTIONS)

    def find(self, room: RoomId) -> Room | None:
        """By its id; None for any other room."""
        match split_key(room):
            case [kind, one, other] if kind == _KIND:
                return self.room_of(ActorId(one), ActorId(other))
            case _:
                return None

    def home(self, room: Room, actor: ActorId) -> Member | None:
        """Where this one of the two and our bot are alone."""
        end = self.end_of(actor)
        return room.member(end.channel) if end else None

    def rooms_at(self, end: DirectEnd) -> list[Room]:
        found = (self.room_of(end.actor, other.actor) for other in self.partners(end.actor))
        return [room for room in found if room is not None]

    def partner(self, room: RoomId, actor: ActorId) -> DirectEnd | None:
        """The other one of a room of two."""
        match split_key(room):
            case [kind, *two] if kind == _KIND and actor in two:
                other = ActorId(next((one for one in two if one != actor), actor))
                return self.end_of(other) if self.shared_room(actor, other) else None
            case _:
                return None


def conversation_between(one: ActorId, other: ActorId) -> UUID:
    """The Conversation of what two people write to one another."""
    return uuid5(_CONVERSATIONS, _room_id(one, other))


def _room_id(one: ActorId, other: ActorId) -> RoomId:
    return RoomId(join_key(_KIND, *sorted((one, other))))


def direct_timeline(room: Room) -> Timeline:
    """The Conversation of two people; no room's, and no channel's."""
    return Timeline(room.conversation, "thread", str(room.id), {"kind": _KIND})


def _is_called(wanted: str, end: DirectEnd, name: str) -> bool:
    return wanted in (name, skeleton(f"{name} ({end.channel.platform})"))


def _home(actor: ActorId) -> tuple[str, str]:
    platform, workspace, *_ = [*split_key(actor), ""]
    return platform, workspace
