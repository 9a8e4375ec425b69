"""Rooms of the configuration -> rooms with the channels of the platforms."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

import structlog

from bridge.app.rooms.channel_lookup import Listed, Places
from bridge.app.settings.agent_memberships import DirectSettings, MembershipSettings, membership_of
from bridge.app.settings.rooms import MemberSettings, RoomSettings, member_options, room_options
from bridge.app.settings.sections import AgentSettings, Settings
from bridge.content.text.globs import is_glob, matches
from bridge.errors import ConfigError
from bridge.model import AccountId, ChannelRef, RoomId
from bridge.model.room_records import RoomForm, RoomLink, RoomStanding
from bridge.ports.connector import Connector
from bridge.ports.store.whole import Store
from bridge.router import AgentMembership, Member, Room, Rooms
from bridge.router.rooms.rooms import Talk

log = structlog.get_logger()

_KNOWN_AT_ONCE = 200  # rooms that are known already, in about 1 ms
_UNFORMED = RoomForm(RoomId(""), "", ())


@dataclass(frozen=True)
class _Surroundings:
    """What the search for every room depends on."""

    agents: Mapping[str, AgentSettings]
    accounts: tuple[str, ...]
    connectors: Mapping[AccountId, Connector]
    listed: Mapping[AccountId, Listed]


@dataclass(frozen=True)
class _Found:
    """A room that was found: `own` are the members that its settings name; `members` also those of
    links; `form` is that of `room`."""

    entry: RoomSettings
    links: tuple[RoomLink, ...]
    own: tuple[Member, ...]
    members: tuple[Member, ...]
    room: Room
    form: RoomForm


class RoomFinder:
    """Finds the channels of the rooms whenever the configuration may have changed. It remembers
    what it found: a room whose settings and whose surroundings stay is not looked for again.
    Searches run one at a time, so that none replaces the result of a later one by an older list of
    channels.

    `serves`: whether a channel may be in a room.
    """

    def __init__(
        self,
        store: Store,
        serves: Callable[[AccountId, ChannelRef], bool] = lambda _account, _channel: True,
    ) -> None:
        self._store = store
        self._serves = serves
        self._surroundings: _Surroundings | None = None
        self._found: dict[str, _Found] = {}
        self._one_at_a_time = asyncio.Lock()

    async def find(
        self,
        settings: Settings,
        connectors: Mapping[AccountId, Connector],
        problems: list[str],
        current: Rooms | None = None,
    ) -> Rooms:
        """Return the rooms with their channels: `current` itself if it has these rooms. A missing
        channel is left out and added to `problems`.

        Raises:
            StoreError: The store cannot be read or written.
        """
        async with self._one_at_a_time:
            return await self._find(settings, connectors, problems, current)

    async def _find(
        self,
        settings: Settings,
        connectors: Mapping[AccountId, Connector],
        problems: list[str],
        current: Rooms | None,
    ) -> Rooms:
        before = self._surroundings
        places = Places(connectors, self._store, before.listed if before else {})
        await places.list_all(_accounts_in_rooms(settings))
        now = _Surroundings(
            settings.agents, tuple(settings.accounts), dict(connectors), places.listed
        )
        search = Search(
            settings, connectors, places, problems, self._found if now == before else {}
        )
        links = await self._store.room_links()
        linked: dict[str, list[RoomLink]] = {}
        for link in links:
            linked.setdefault(link.room, []).append(link)
        ids = await self._store.room_ids([RoomId(name) for name in settings.rooms])
        found: list[_Found] = []
        for number, (name, entry) in enumerate(settings.rooms.items()):
            mine = tuple(linked.get(name, ()))
            if (one := search.known(name, entry, mine)) is None:
                await asyncio.sleep(0)  # lets a running bridge receive events meanwhile
                one = await search.find(ids[RoomId(name)], name, entry, mine)
            elif number % _KNOWN_AT_ONCE == 0:
                await asyncio.sleep(0)
            found.append(one)
        await places.close()
        direct = await direct_rooms(settings, connectors, self._store, links)
        found = await asyncio.to_thread(lambda: [self._formed(one) for one in found])
        rooms = [one.room for one in found] + direct
        forms = [one.form for one in found] + [_form(room) for room in direct]
        standings = await self._store.stand_rooms(forms)
        placed = await asyncio.to_thread(_placed, rooms, standings, current)
        self._surroundings = now
        self._found = {one.room.id: one for one in found if one.room.id not in search.incomplete}
        return placed

    def _formed(self, found: _Found) -> _Found:
        """With the members that are served, and the form of that room."""
        members = tuple(m for m in found.members if self._serves(m.account, m.channel))
        if found.form is not _UNFORMED and members == found.room.members:
            return found
        room = replace(found.room, members=members)
        return replace(found, room=room, form=_form(room, found.entry))


class Search:
    """One search for the channels of all rooms. `incomplete` are the rooms with problems."""

    def __init__(
        self,
        settings: Settings,
        connectors: Mapping[AccountId, Connector],
        places: Places,
        problems: list[str],
        found_before: Mapping[str, _Found],
    ) -> None:
        self._settings = settings
        self._connectors = connectors
        self._places = places
        self._problems = problems
        self._before = found_before
        self._accounts: dict[ChannelRef, str] = {}
        self.incomplete: set[str] = set()

    def known(self, name: str, entry: RoomSettings, links: tuple[RoomLink, ...]) -> _Found | None:
        """Return the room as it was found before; None if it must be looked for."""
        before = self._before.get(name)
        if before is None or before.entry is not entry or before.links != links:
            return None
        accounts = self._accounts
        same = (accounts.setdefault(m.channel, m.account) == m.account for m in before.own)
        return before if all(same) else None

    async def find(
        self, conversation: UUID, name: str, entry: RoomSettings, links: tuple[RoomLink, ...]
    ) -> _Found:
        count = len(self._problems)
        finding = _Finding(name, entry, self._accounts, self._problems)
        for entry_member in in_order(entry.members):
            for member_settings in matching_accounts(entry_member, self._settings.accounts):
                await finding.add(member_settings, self._places, several=entry_member.is_pattern)
        if len(self._problems) > count:
            self.incomplete.add(name)
        own = tuple(finding.members)
        members = await _with_links(own, links, entry, self._connectors, self._places)
        agents = tuple(membership_with(membership, self._settings) for membership in entry.agents)
        talk = Talk(entry.agents_talk, entry.agents_turns, entry.hand_over)
        room = Room(
            RoomId(name), conversation, (), agents, entry.undelivered, room_options(entry),
            talk=talk,
        )  # fmt: skip
        return _Found(entry, links, own, tuple(members), room, _UNFORMED)


def _accounts_in_rooms(settings: Settings) -> set[AccountId]:
    named = {member.account for room in settings.rooms.values() for member in room.members}
    return {
        AccountId(name)
        for glob in named
        for name in settings.accounts
        if name == glob or (is_glob(glob) and matches(glob, name))
    }


def _placed(
    rooms: Sequence[Room], standings: Sequence[RoomStanding], current: Rooms | None
) -> Rooms:
    """The rooms with their epochs; those of `current` that are equal are the same objects."""
    by_id = current.by_id if current else {}
    placed: list[Room] = []
    for room, standing in zip(rooms, standings, strict=True):
        new = replace(room, epoch=standing.epoch, joined=standing.joined)
        before = by_id.get(room.id)
        placed.append(before if before is not None and before == new else new)
    if current is None or len(placed) != len(current.all):
        return Rooms(placed)
    same = all(one is before for one, before in zip(placed, current.all, strict=True))
    return current if same else Rooms(placed)


async def direct_rooms(
    settings: Settings,
    connectors: Mapping[AccountId, Connector],
    store: Store,
    links: Sequence[RoomLink],
) -> list[Room]:
    """A room for each direct message to the bridge's bots that agents answer."""
    begun = [
        (link, direct)
        for link in links
        if link.room.startswith(DIRECT) and link.linked and link.account in connectors
        if (direct := direct_of(settings, link.account)) is not None
    ]
    ids = await store.room_ids([link.room for link, _ in begun])
    rooms: list[Room] = []
    for link, direct in begun:
        member = Member(link.account, link.channel)
        memberships = tuple(membership_with(membership, settings) for membership in direct.agents)
        rooms.append(Room(link.room, ids[link.room], (member,), memberships))
    return rooms


DIRECT = "direct:"  # prefix of the names of such rooms; names in a configuration have no colon


def direct_of(settings: Settings, account: AccountId) -> DirectSettings | None:
    """The settings of direct messages to this account; None if no agent answers them."""
    return next((direct for direct in settings.direct if matches(direct.account, account)), None)


@dataclass
class _Finding:
    """Collects the members of one room; adds missing channels to `problems`."""

    room: str
    entry: RoomSettings
    accounts: dict[ChannelRef, str]
    problems: list[str]
    members: list[Member] = field(default_factory=list[Member])
    channels: set[ChannelRef] = field(default_factory=set[ChannelRef])

    async def add(self, member: MemberSettings, places: Places, *, several: bool) -> None:
        """Add the member's channel; with `several`, all channels that its pattern matches."""
        try:
            if several:
                for channel, name in await places.find_all(member):
                    if channel not in self.channels and self._speaks(member.account, channel):
                        self._take(member, channel, name)
                return
            channel = await places.find(member)
            fallback_name = "" if member.channel == channel.channel else member.channel.lstrip("#")
            name = await places.name_of(AccountId(member.account), channel)
            self._take(member, channel, name or fallback_name)
        except ConfigError as error:
            self.problems.append(f"room {self.room!r}: {error}")
            log.error("channel_not_found", room=self.room, error=str(error))  # noqa: TRY400

    def _speaks(self, account: str, channel: ChannelRef) -> bool:
        """Whether the account posts in the channel; a pattern omits channels of other accounts."""
        return self.accounts.get(channel, account) == account

    def _take(self, member: MemberSettings, channel: ChannelRef, name: str) -> None:
        check_once(member, channel, self.accounts, self.channels)
        self.channels.add(channel)
        options = member_options(self.entry, member)
        self.members.append(Member(AccountId(member.account), channel, member.flow, name, options))


def in_order(members: Sequence[MemberSettings]) -> list[MemberSettings]:
    """Members that name one channel before patterns, because their options take precedence."""
    return sorted(members, key=lambda member: member.is_pattern)


def matching_accounts(
    member_settings: MemberSettings, accounts: Iterable[str]
) -> list[MemberSettings]:
    """A member for each account that its glob matches."""
    if not is_glob(member_settings.account):
        return [member_settings]
    matching = [name for name in accounts if matches(member_settings.account, name)]
    return [member_settings.model_copy(update={"account": name}) for name in matching]


async def _with_links(
    members: Sequence[Member],
    links: Sequence[RoomLink],
    entry: RoomSettings,
    connectors: Mapping[AccountId, Connector],
    places: Places,
) -> list[Member]:
    """The members after the links of commands, which override the file."""
    room_members = list(members)
    for link in links:
        linked_members = [member for member in room_members if member.channel == link.channel]
        if not link.linked:
            room_members = [member for member in room_members if member not in linked_members]
        elif not linked_members and link.account in connectors:
            plain = MemberSettings(account=link.account, channel=link.channel.channel)
            options = member_options(entry, plain)
            name = await places.name_of(link.account, link.channel)
            room_members.append(Member(link.account, link.channel, name=name, options=options))
    return room_members


def _form(room: Room, entry: RoomSettings | None = None) -> RoomForm:
    """A digest of the room's configuration, and its members."""
    channels = tuple(member.channel.key for member in room.members)
    agents = tuple(f"agent:{membership.agent}" for membership in room.agents)
    text = "" if entry is None else entry.model_dump_json(exclude_defaults=True)
    digest = hashlib.sha256("\n".join([text, *channels, *agents]).encode()).hexdigest()
    return RoomForm(room.id, digest, channels + agents, room.options.metadata)


def membership_with(membership_settings: MembershipSettings, settings: Settings) -> AgentMembership:
    """The membership, with the agent's tools and history limit where it has none of its own."""
    agent = settings.agents.get(membership_settings.agent)
    agents_limit = getattr(agent and agent.options, "history_tokens", None)
    return membership_of(membership_settings, agent.tools if agent else (), agents_limit)


def check_once(
    member: MemberSettings,
    channel: ChannelRef,
    accounts: dict[ChannelRef, str],
    channels: Collection[ChannelRef],
) -> None:
    """Check that a channel appears once in its room and belongs to one account.

    Two accounts in one channel would each relay the other's posts.

    Raises:
        ConfigError: The channel is in `channels`, or another account posts in it.
    """
    if channel in channels:
        raise ConfigError(f"channel {member.channel!r} is in this room already; remove one line")
    account = accounts.setdefault(channel, member.account)
    if account != member.account:
        raise ConfigError(
            f"channel {member.channel!r} of account {member.account!r} is the one that account "
            f"{account!r} speaks in already; give it one account in all rooms"
        )
