"""Rooms of the configuration -> rooms with the channels that platforms have."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
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
) -> Rooms:
    """The rooms with their channels; a missing channel is left out and added to `problems`."""
    ids = await store.room_ids([RoomId(name) for name in settings.rooms])
    places = Places(connectors, store)
    rooms: list[Room] = []
    accounts: dict[ChannelRef, str] = {}
    links = await store.room_links()
    linked: dict[str, list[RoomLink]] = {}
    for link in links:
        linked.setdefault(link.room, []).append(link)
    for name, entry in settings.rooms.items():
        await asyncio.sleep(0)  # a bridge that runs hears its platforms meanwhile
        finding = _Finding(name, entry, accounts, problems)
        for wanted in in_order(entry.members):
            for member_settings in accounts_meant(wanted, settings.accounts):
                await finding.add(member_settings, places, several=wanted.is_pattern)
        mine = linked.get(name, ())
        members = await _with_links(finding.members, mine, entry, connectors, places)
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
        (link, wanted)
        for link in links
        if link.room.startswith(DIRECT) and link.linked and link.account in connectors
        if (wanted := direct_of(settings, link.account)) is not None
    ]
    ids = await store.room_ids([link.room for link, _ in begun])
    found: list[Room] = []
    for link, wanted in begun:
        member = Member(link.account, link.channel)
        memberships = tuple(membership_with(membership, settings) for membership in wanted.agents)
        found.append(Room(link.room, ids[link.room], (member,), memberships))
    return found


DIRECT = "direct:"  # prefix of the names of such rooms; names in a configuration have no colon


def direct_of(settings: Settings, account: AccountId) -> DirectSettings | None:
    """The settings of direct messages to this account; None if no agent answers them."""
    return next((one for one in settings.direct if matches(one.account, account)), None)


@dataclass
class _Finding:
    """Collects the members of one room; adds missing channels to `problems`."""

    room: str
    entry: RoomSettings
    accounts: dict[ChannelRef, str]
    problems: list[str]
    members: list[Member] = field(default_factory=list[Member])
    here: set[ChannelRef] = field(default_factory=set[ChannelRef])

    async def add(self, wanted: MemberSettings, places: Places, *, several: bool) -> None:
        """`several`: add all channels that it matches, which may be none."""
        try:
            if several:
                for channel, name in await places.find_all(wanted):
                    if channel not in self.here and self._speaks(wanted.account, channel):
                        self._take(wanted, channel, name)
                return
            channel = await places.find(wanted)
            known = "" if wanted.channel == channel.channel else wanted.channel.lstrip("#")
            name = await places.name_of(AccountId(wanted.account), channel)
            self._take(wanted, channel, name or known)
        except ConfigError as error:
            self.problems.append(f"room {self.room!r}: {error}")
            log.error("channel_not_found", room=self.room, error=str(error))  # noqa: TRY400

    def _speaks(self, account: str, channel: ChannelRef) -> bool:
        """Whether the account posts in the channel; a pattern omits channels of other accounts."""
        return self.accounts.get(channel, account) == account

    def _take(self, wanted: MemberSettings, channel: ChannelRef, name: str) -> None:
        check_once(wanted, channel, self.accounts, self.here)
        self.here.add(channel)
        options = member_options(self.entry, wanted)
        self.members.append(Member(AccountId(wanted.account), channel, wanted.flow, name, options))


def in_order(members: Sequence[MemberSettings]) -> list[MemberSettings]:
    """Members that name one channel before patterns, because their options take precedence."""
    return sorted(members, key=lambda member: member.is_pattern)


def accounts_meant(wanted: MemberSettings, accounts: Iterable[str]) -> list[MemberSettings]:
    """A member for each account that its glob matches."""
    if not is_glob(wanted.account):
        return [wanted]
    meant = [name for name in accounts if matches(wanted.account, name)]
    return [wanted.model_copy(update={"account": name}) for name in meant]


async def _with_links(
    members: Sequence[Member],
    links: Sequence[RoomLink],
    entry: RoomSettings,
    connectors: Mapping[AccountId, Connector],
    places: Places,
) -> list[Member]:
    """The members after the links of commands, which override the file."""
    found = list(members)
    for link in links:
        here = [member for member in found if member.channel == link.channel]
        if not link.linked:
            found = [member for member in found if member not in here]
        elif not here and link.account in connectors:
            plain = MemberSettings(account=link.account, channel=link.channel.channel)
            options = member_options(entry, plain)
            name = await places.name_of(link.account, link.channel)
            found.append(Member(link.account, link.channel, name=name, options=options))
    return found


def _form(room: Room, settings: Settings) -> RoomForm:
    """A digest of the room's configuration, and its members."""
    channels = tuple(member.channel.key for member in room.members)
    agents = tuple(f"agent:{membership.agent}" for membership in room.agents)
    known = settings.rooms.get(room.id)
    text = "" if known is None else known.model_dump_json(exclude_defaults=True)
    digest = hashlib.sha256("\n".join([text, *channels, *agents]).encode()).hexdigest()
    return RoomForm(room.id, digest, channels + agents)


def membership_with(wanted: MembershipSettings, settings: Settings) -> AgentMembership:
    """The membership, with the agent's tools and history limit where it has none of its own."""
    agent = settings.agents.get(wanted.agent)
    membership = membership_of(wanted)
    if wanted.tools is None and agent is not None:
        membership = replace(membership, tools=agent.tools)
    usual = getattr(agent and agent.options, "history_tokens", None)
    budget = wanted.history_tokens or usual
    return replace(membership, history_tokens=budget) if budget else membership


def check_once(
    wanted: MemberSettings,
    channel: ChannelRef,
    accounts: dict[ChannelRef, str],
    here: Collection[ChannelRef],
) -> None:
    """Raises ConfigError for a channel that is in this room already, or belongs to another
    account: each of the two would take the other's posts for a stranger's and carry them on."""
    if channel in here:
        raise ConfigError(f"channel {wanted.channel!r} is in this room already; remove one line")
    account = accounts.setdefault(channel, wanted.account)
    if account != wanted.account:
        raise ConfigError(
            f"channel {wanted.channel!r} of account {wanted.account!r} is the one that account "
            f"{account!r} speaks in already; give it one account in all rooms"
        )
