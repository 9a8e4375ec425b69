"""Rooms of the configuration -> rooms with the channels of the platforms."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import structlog

from bridge.app.rooms.channel_lookup import Places
from bridge.app.settings.agent_memberships import DirectSettings, MembershipSettings, membership_of
from bridge.app.settings.file import Settings
from bridge.app.settings.rooms import MemberSettings, RoomSettings, member_options, room_options
from bridge.content.text.globs import is_glob, matches
from bridge.errors import ConfigError
from bridge.model import AccountId, ChannelRef, RoomId
from bridge.model.room_records import RoomForm, RoomLink
from bridge.ports.connector import Connector
from bridge.ports.store.whole import Store
from bridge.router import AgentMembership, Member, Room, Rooms
from bridge.router.rooms.rooms import Talk

log = structlog.get_logger()


async def find_rooms(
    settings: Settings,
    connectors: Mapping[AccountId, Connector],
    store: Store,
    problems: list[str],
    serves: Callable[[AccountId, ChannelRef], bool] = lambda _account, _channel: True,
) -> Rooms:
    """The rooms with their channels; a missing channel is left out and added to `problems`.
    `serves`: whether a channel may be in a room."""
    ids = await store.room_ids([RoomId(name) for name in settings.rooms])
    places = Places(connectors, store)
    rooms: list[Room] = []
    accounts: dict[ChannelRef, str] = {}
    links = await store.room_links()
    linked: dict[str, list[RoomLink]] = {}
    for link in links:
        linked.setdefault(link.room, []).append(link)
    for name, entry in settings.rooms.items():
        await asyncio.sleep(0)  # lets a running bridge receive events meanwhile
        finding = _Finding(name, entry, accounts, problems)
        for entry_member in in_order(entry.members):
            for member_settings in matching_accounts(entry_member, settings.accounts):
                await finding.add(member_settings, places, several=entry_member.is_pattern)
        mine = linked.get(name, ())
        members = await _with_links(finding.members, mine, entry, connectors, places)
        members = [member for member in members if serves(member.account, member.channel)]
        memberships = tuple(membership_with(membership, settings) for membership in entry.agents)
        own_id, whole = RoomId(name), room_options(entry)
        rooms.append(
            Room(
                own_id, ids[own_id], tuple(members), memberships, entry.undelivered, whole,
                talk=Talk(entry.agents_talk, entry.agents_turns, entry.hand_over),
            )
        )  # fmt: skip
    await places.close()
    rooms += await direct_rooms(settings, connectors, store, links)
    forms = await asyncio.to_thread(lambda: [_form(room, settings) for room in rooms])
    standings = await store.stand_rooms(forms)
    return await asyncio.to_thread(
        lambda: Rooms(
            replace(room, epoch=standing.epoch, joined=standing.joined)
            for room, standing in zip(rooms, standings, strict=True)
        )
    )


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


def _form(room: Room, settings: Settings) -> RoomForm:
    """A digest of the room's configuration, and its members."""
    channels = tuple(member.channel.key for member in room.members)
    agents = tuple(f"agent:{membership.agent}" for membership in room.agents)
    room_settings = settings.rooms.get(room.id)
    text = "" if room_settings is None else room_settings.model_dump_json(exclude_defaults=True)
    digest = hashlib.sha256("\n".join([text, *channels, *agents]).encode()).hexdigest()
    return RoomForm(room.id, digest, channels + agents, room.options.metadata)


def membership_with(membership_settings: MembershipSettings, settings: Settings) -> AgentMembership:
    """The membership, with the agent's tools and history limit where it has none of its own."""
    agent = settings.agents.get(membership_settings.agent)
    membership = membership_of(membership_settings)
    if membership_settings.tools is None and agent is not None:
        membership = replace(membership, tools=agent.tools)
    agents_limit = getattr(agent and agent.options, "history_tokens", None)
    history_tokens = membership_settings.history_tokens or agents_limit
    return replace(membership, history_tokens=history_tokens) if history_tokens else membership


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
