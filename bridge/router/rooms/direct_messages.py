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
from bridge.router.rooms.accounts import all_accounts
from bridge.router.rooms.features import platform_name
from bridge.router.rooms.options import MemberOptions, RoomOptions
from bridge.router.rooms.rooms import Member, Room
from bridge.router.signals import Signal

_CONVERSATIONS = UUID("6d8c0d52-6a7e-5d5b-8a53-0b6a4f8a9c27")  # our own UUIDv5 namespace
_KIND = "between"
_DIRECT_OPTIONS = MemberOptions(names="{name} ({platform})", threads="flat")
_OPTIONS = RoomOptions(greet=False, private=(), announce=frozenset(), history="shared")


class _DirectsStore(AuthorStore, DirectStore, PeopleStore, Protocol):
    """What `DirectMessages` needs of the store."""


class DirectMessages:
    """Knows who accepts direct messages of which room. It caches the store, so a question costs one
    look into a dict."""

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
        self._accounts: dict[ChannelRef, AccountId] = {}
        self._pairs: set[frozenset[ActorId]] = set()
        self._opened = direct_channel_opened

    async def load(self) -> None:
        """Read who accepts direct messages from the store. Raises StoreError."""
        ends, pairs = await self._store.direct_ends(), await self._store.direct_pairs()
        self._ends.clear()
        for end in ends:
            self._ends.setdefault(end.actor, []).append(end)
        self._at = {(end.account, end.channel): end for end in ends}
        self._accounts = {end.channel: end.account for end in ends}
        self._pairs = {frozenset(pair) for pair in pairs}

    async def opt_in(self, actor: ActorId, account: AccountId, room: RoomId) -> DirectEnd:
        """Let people of the room write to this account. Returns the direct channel. Raises
        StoreError, and InvalidData or PlatformError where our bot may not write to the account."""
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
        """End direct messages in all rooms. Returns whether the account accepted any. Raises
        StoreError."""
        done = await self._store.remove_direct_ends(actor)
        await self.load()
        return done

    def end_at(self, account: AccountId, channel: ChannelRef) -> DirectEnd | None:
        """Return whose direct messages with our bot this channel holds; None for other channels."""
        return self._at.get((account, channel)) if self._at else None

    def accepts(self, room: RoomId, account: AccountId, channel: ChannelRef) -> bool:
        """Whether the person in this direct channel still accepts the messages of a room of two
        people; True for other rooms."""
        between = split_key(room)[0] == _KIND
        return not between or self.end_at(account, channel) is not None

    def end_of(self, actor: ActorId) -> DirectEnd | None:
        """Return the newest direct channel of the account; None where it accepts no direct
        messages."""
        ends = self._ends.get(actor)
        return ends[-1] if ends else None

    def account_of(self, channel: ChannelRef) -> AccountId | None:
        """Return the account that serves a direct channel; None for other channels."""
        return self._accounts.get(channel)

    def channels(self, account: AccountId) -> list[ChannelRef]:
        """Return the direct channels that the account serves."""
        return [channel for own, channel in self._at if own == account]

    def shared_room(self, first: ActorId, second: ActorId) -> RoomId | None:
        """Return a room in which both accept direct messages; None where there is none."""
        theirs = {end.room for end in self._ends.get(second, ())}
        return next((end.room for end in self._ends.get(first, ()) if end.room in theirs), None)

    def reachable(self, actor: ActorId) -> list[DirectEnd]:
        """Return those to whom this account may write: on another platform, or in another
        workspace."""
        others = (self.end_of(end) for end in self._ends)
        return [
            end
            for end in others
            if end and _home(end.actor) != _home(actor) and self.shared_room(actor, end.actor)
        ]

    def partners(self, actor: ActorId) -> list[DirectEnd]:
        """Return those whom the account may write to and has written with before."""
        return [
            direct_end
            for direct_end in self.reachable(actor)
            if frozenset((actor, direct_end.actor)) in self._pairs
        ]

    async def meet(self, first: ActorId, second: ActorId) -> None:
        """Note that the two write to one another. Raises StoreError."""
        pair = frozenset((first, second))
        if pair not in self._pairs:
            await self._store.put_direct_pair(first, second)
            self._pairs.add(pair)

    async def named(self, actor: ActorId, words: Sequence[str]) -> tuple[DirectEnd, int]:
        """Return the person whom the first words name, and how many words the name has. Raises
        InvalidData, which says what to do, and StoreError."""
        reachable = self.reachable(actor)
        accounts = await all_accounts(self._store, ActorId(words[0]))
        mentioned = [end for end in reachable if end.actor in accounts]
        if mentioned:
            return max(mentioned, key=lambda end: end.at), 1
        names = {end.actor: skeleton(await self._name(end.actor)) for end in reachable}
        for count in range(min(len(words), 6), 0, -1):
            words_name = skeleton(" ".join(words[:count]).removeprefix("@"))
            matches = [end for end in reachable if _is_called(words_name, end, names[end.actor])]
            if len(matches) == 1:
                return matches[0], count
            if matches:
                ids = ", ".join(end.actor for end in matches)
                raise InvalidData(f"That could be any of: {ids}. Give the id in place of the name")
        reachable_names = ", ".join([await self.called(end) for end in reachable]) or "nobody yet"
        raise InvalidData(
            f"Nobody of that name wants direct messages. You may write to: {reachable_names}"
        )

    async def _name(self, actor: ActorId) -> str:
        person = await self._store.person(actor)
        return person.name if person else split_key(actor)[-1]

    async def called(self, end: DirectEnd) -> str:
        """Return the person's name with the platform. Raises StoreError."""
        platform = platform_name(self._connectors, end.channel.platform)
        return f"{await self._name(end.actor)} ({platform})"

    # --- the rooms of two ---------------------------------------------------------------------

    def room_of(self, first: ActorId, second: ActorId) -> Room | None:
        """Return the two people as a room of two channels; None where not both accept direct
        messages."""
        if self.shared_room(first, second) is None:
            return None
        ends = [end for end in map(self.end_of, sorted((first, second))) if end is not None]
        members = tuple(Member(end.account, end.channel, options=_DIRECT_OPTIONS) for end in ends)
        own_id = _room_id(first, second)
        return Room(own_id, conversation_between(first, second), members, options=_OPTIONS)

    def find(self, room: RoomId) -> Room | None:
        """Return the room of two people with this id; None for any other id."""
        match split_key(room):
            case [kind, first, second] if kind == _KIND:
                return self.room_of(ActorId(first), ActorId(second))
            case _:
                return None

    def home(self, room: Room, actor: ActorId) -> Member | None:
        """Return the channel where this member of a room of two and our bot are alone."""
        end = self.end_of(actor)
        return room.member(end.channel) if end else None

    def rooms_at(self, end: DirectEnd) -> list[Room]:
        """Return the rooms of two people that this direct channel takes part in."""
        rooms = (self.room_of(end.actor, partner.actor) for partner in self.partners(end.actor))
        return [room for room in rooms if room is not None]

    def partner(self, room: RoomId, actor: ActorId) -> DirectEnd | None:
        """Return the other person of a room of two."""
        match split_key(room):
            case [kind, *actors] if kind == _KIND and actor in actors:
                partner_actor = ActorId(
                    next((member_actor for member_actor in actors if member_actor != actor), actor)
                )
                return (
                    self.end_of(partner_actor) if self.shared_room(actor, partner_actor) else None
                )
            case _:
                return None


def conversation_between(first: ActorId, second: ActorId) -> UUID:
    """Return the id of the conversation of two people."""
    return uuid5(_CONVERSATIONS, _room_id(first, second))


def _room_id(first: ActorId, second: ActorId) -> RoomId:
    return RoomId(join_key(_KIND, *sorted((first, second))))


def direct_timeline(room: Room) -> Timeline:
    """Return the timeline of two people, which is no room's and no channel's."""
    return Timeline(room.conversation, "thread", str(room.id), {"kind": _KIND})


def _is_called(searched: str, end: DirectEnd, name: str) -> bool:
    return searched in (name, skeleton(f"{name} ({end.channel.platform})"))


def _home(actor: ActorId) -> tuple[str, str]:
    platform, workspace, *_ = [*split_key(actor), ""]
    return platform, workspace
