"""The names of people in a room: their own, with a mark where two look alike.

A name is decided when its owner first speaks in a room, and kept. It changes only when the owner
takes another name, or when somebody of another workspace with the same name speaks there, too: that
person's own channel shows the bare name, so the copies of the first one must not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from types import MappingProxyType

from bridge.content.text.globs import matches
from bridge.content.text.look_alikes import skeleton
from bridge.content.text.names import name_with_mark
from bridge.model import AccountId, ActorId, Person, RoomId, split_key
from bridge.model.people_records import DisplayName
from bridge.model.refs import BRIDGE_NAME
from bridge.ports.connector import Connector
from bridge.ports.store.people import PeopleStore
from bridge.router.rooms.accounts import all_accounts
from bridge.router.rooms.features import platform_name
from bridge.router.rooms.rooms import Member, Room
from bridge.runtime.keyed_locks import KeyedLocks

_OURS = frozenset(map(skeleton, (BRIDGE_NAME, "UACS Bridge")))
_SUFFIX = re.compile(r"[(\[{]([^()\[\]{}]+)[)\]}]\W*$")
_REMEMBERED = 20_000
_NO_CONNECTORS: Mapping[AccountId, Connector] = MappingProxyType({})
_PLACEHOLDER = re.compile(r"\{(name|platform|account)\}")


class DisplayNames:
    """Decides under which name each person is shown in a room. It caches the store, so a known name
    costs one look into a dict."""

    def __init__(
        self,
        store: PeopleStore,
        admins: Sequence[str] = (),
        connectors: Mapping[AccountId, Connector] = _NO_CONNECTORS,
    ) -> None:
        self._store = store
        self._admins = admins
        self._connectors = connectors
        self._names: dict[tuple[RoomId, ActorId], tuple[str, str]] = {}
        self._deciding = KeyedLocks[RoomId]()

    async def name_in(self, room: Room, author: Person) -> str:
        """Return the name of this author where the room is shown. Raises StoreError."""
        remembered = self._names.get((room.id, author.id))
        if remembered is not None and remembered[0] == author.name:
            return remembered[1]
        async with self._deciding.hold(room.id):
            name = await self._decided(room, author)
        if len(self._names) >= _REMEMBERED:
            self._names.pop(next(iter(self._names)))
        self._names[room.id, author.id] = (author.name, name)
        return name

    def platform_name(self, platform: str) -> str:
        return platform_name(self._connectors, platform)

    def forget(self, actors: Iterable[ActorId]) -> None:
        """Decide the names of these accounts anew: they were linked or unlinked."""
        forgotten = set(actors)
        self._names = {key: name for key, name in self._names.items() if key[1] not in forgotten}

    async def _decided(self, room: Room, author: Person) -> str:
        stored = await self._store.shown_name(room.id, author.id)
        if stored is not None and stored.name == author.name:
            return stored.shown
        own = await all_accounts(self._store, author.id)
        rivals = await self._rivals(room, author.name, own)
        mine = DisplayName(room.id, author.id, author.name, author.name)
        names = [mine]
        if rivals or await self._is_taken(room, author, own):
            names = [await self._distinct_name(room, mine, rivals)]
            names += await self._renamed_rivals(room, rivals, author)
        await self._store.save_names(names)
        for renamed in names[1:]:
            self._names.pop((room.id, renamed.actor), None)
        return names[0].shown

    async def _rivals(self, room: Room, name: str, own: set[ActorId]) -> list[DisplayName]:
        alike = await self._store.names_like(room.id, name)
        return [name for name in alike if name.actor not in own]

    async def _is_taken(self, room: Room, author: Person, own: set[ActorId]) -> bool:
        """Whether the name is an agent's, the bridge's or one of its bots', an admin's, that of
        somebody who is known elsewhere in the room's workspaces, or looks as if it had a mark
        already."""
        name_key = skeleton(author.name)
        agents = {skeleton(membership.agent) for membership in room.agents}
        ours = _OURS | agents | self._names_of_bots(room)
        if name_key in ours or self._looks_suffixed(author.name, room):
            return True
        elsewhere = {_home(member) for member in room.members} - {_home_of(author.id)}
        others = [p.id for p in await self._store.people_named(author.name) if p.id not in own]
        return any(_home_of(other) in elsewhere or self._is_admin(other) for other in others)

    def _looks_suffixed(self, name: str, room: Room) -> bool:
        match = _SUFFIX.search(name)
        if match is None:
            return False
        platforms = {m.channel.platform for m in room.members}
        suffixes = platforms | {*map(self.platform_name, platforms)}
        suffixes |= {m.account for m in room.members}
        inner = skeleton(match[1])
        return any(inner.startswith(skeleton(suffix)) for suffix in suffixes)

    def _names_of_bots(self, room: Room) -> set[str]:
        """The names of our bots where the room is shown."""
        ours = (self._connectors.get(member.account) for member in room.members)
        people = (connector.abilities.people for connector in ours if connector)
        return {skeleton(known.own_name) for known in people if known} - {""}

    def _is_admin(self, actor: ActorId) -> bool:
        return any(matches(glob, actor) for glob in self._admins)

    async def _renamed_rivals(
        self, room: Room, rivals: Sequence[DisplayName], author: Person
    ) -> list[DisplayName]:
        """New names of those who had the bare name, and whose copies now stand beside the author's
        own posts."""
        renamed: list[DisplayName] = []
        for rival in rivals:
            if rival.shown == rival.name and _home_of(rival.actor) != _home_of(author.id):
                others = [other for other in rivals if other.actor != rival.actor]
                mine = DisplayName(room.id, author.id, author.name, author.name)
                renamed.append(await self._distinct_name(room, rival, [mine, *others]))
        return renamed

    async def _distinct_name(
        self, room: Room, shown_name: DisplayName, rivals: Sequence[DisplayName]
    ) -> DisplayName:
        own = await all_accounts(self._store, shown_name.actor)
        called = self.platform_name(_home_of(shown_name.actor)[0])
        for suffix in _suffixes(room, shown_name.actor, [rival.actor for rival in rivals], called):
            name_in = name_with_mark(shown_name.name, suffix)
            if not await self._rivals(room, name_in, own):
                return DisplayName(shown_name.room, shown_name.actor, shown_name.name, name_in)
        raise AssertionError("suffixes never end")


def in_form(
    template: str, display_name: str, author: Person, platform: str, account: AccountId
) -> str:
    """The name in the form that a channel's `names` option gives; `platform` is as people call it.
    A template that does not tell people apart contains the marked name."""
    is_distinct = "{platform}" in template or "{account}" in template
    values = {
        "name": author.name if is_distinct else display_name,
        "platform": platform,
        "account": account,
    }
    return _PLACEHOLDER.sub(lambda match: values[match[1]], template)


def _suffixes(room: Room, actor: ActorId, rivals: Sequence[ActorId], called: str) -> Iterator[str]:
    """The suffixes that may follow the name, best first: the platform, as people call it, the
    account there, numbers."""
    platform, workspace = _home_of(actor)
    homes = [_home_of(rival) for rival in rivals]
    if platform not in {home[0] for home in homes}:
        yield called
    accounts = {_home(m): m.account for m in room.members if m.channel.platform == platform}
    account = accounts.get((platform, workspace))
    if account and [*accounts.values()].count(account) == 1 and (platform, workspace) not in homes:
        yield account
    for number in count(2):
        yield f"{called} {number}"


def _home(member: Member) -> tuple[str, str]:
    return member.channel.platform, member.channel.workspace


def _home_of(actor: ActorId) -> tuple[str, str]:
    platform, workspace, *_ = [*split_key(actor), ""]
    return platform, workspace
