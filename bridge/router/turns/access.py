"""Who may reach an agent: the lists at its seat, codes that people gave in direct messages, and
whom the room admits at all.

Read from the store at the start; whatever changes is written there first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Protocol

import structlog

from bridge.content.text.globs import any_matches
from bridge.errors import InvalidData, PlatformError
from bridge.model import AccountId, ActorId, ChannelRef, MessageId, MessagePosted, split_key
from bridge.model.turn_records import PAIRING_WINDOW, Pairing, PairingCode
from bridge.ports.clock import Clock
from bridge.ports.connector import Connector
from bridge.ports.store.agents import AgentStore
from bridge.ports.store.people import PeopleStore
from bridge.router.outbound.notices import Notices, notice_id, plain_markdown
from bridge.router.rooms.accounts import all_accounts
from bridge.router.rooms.bans import BansAndPauses
from bridge.router.rooms.codes import digest_of, new_code
from bridge.router.rooms.rooms import AgentMembership, Member, Room, Rooms
from bridge.router.runtime import metrics

log = structlog.get_logger()

CODE_SECONDS = 600.0
_OF_GROUPS = ("group:", "guest:")
_GROUPS_SECONDS = 60.0
_MOST_GROUPS = 10_000  # people whose groups are remembered
_GROUPS_DEADLINE = 5.0
_GroupsKey = tuple[ActorId, tuple[str, ...]]
_UNKNOWN_GROUPS = "it cannot be seen now whether they are among those whom it allows"
ALL = "*"  # a pairing with every agent
_REFUSAL_REPEATED_AFTER = 3600.0  # seconds after which a person gets a refusal again


class _AccessStore(AgentStore, PeopleStore, Protocol):
    """What `AgentAccess` needs of the store."""


class AgentAccess:
    """Decides who may reach an agent. It caches the pairings, so most questions need no look into
    the store."""

    def __init__(
        self,
        store: _AccessStore,
        connectors: Mapping[AccountId, Connector],
        rooms: Rooms,
        bans: BansAndPauses,
        notices: Notices,
        clock: Clock,
    ) -> None:
        self._store = store
        self._connectors = connectors
        self._rooms = rooms
        self._bans = bans
        self._notices = notices
        self._clock = clock
        self._groups = PlatformGroups(connectors, rooms, clock)
        self._paired: set[tuple[ActorId, str]] = set()

    async def load(self) -> None:
        """Read the pairings from the store. Raises StoreError."""
        self._paired = {(pairing.actor, pairing.agent) for pairing in await self._store.pairings()}

    async def refuses(
        self, membership: AgentMembership, room: Room, actor: ActorId, channel: ChannelRef | None
    ) -> str:
        """Return why this person does not reach the agent; empty where nothing forbids it. All
        accounts of one person count as that person. Raises StoreError."""
        accounts = await all_accounts(self._store, actor)
        if any(self._bans.is_banned(account, room.id) for account in accounts):
            return "they are blocked, or opted out"
        if any_matches(membership.deny, accounts):
            return "they are denied"
        groups = await self._groups_of(membership.deny, accounts, channel)
        if groups is None:
            return _UNKNOWN_GROUPS
        if any_matches(membership.deny, groups):
            return "they are denied"
        paired = any(
            (account, agent) in self._paired
            for account in accounts
            for agent in (membership.agent, ALL)
        )
        if paired or any_matches(membership.allow, accounts):
            return ""
        groups = await self._groups_of(membership.allow, accounts, channel)
        if any_matches(membership.allow, groups or frozenset()):
            return ""
        if membership.allow:
            return (
                "they are not among those whom it allows" if groups is not None else _UNKNOWN_GROUPS
            )
        return "they are not paired" if channel and self.is_direct(channel) else ""

    async def _groups_of(
        self, globs: tuple[str, ...], accounts: set[ActorId], channel: ChannelRef | None
    ) -> frozenset[str] | None:
        """Those of all their accounts, as far as the globs ask for them; None where a platform does
        not say: then it is not known whether they may."""
        group_globs = tuple(glob for glob in globs if glob.startswith(_OF_GROUPS))
        all_groups: set[str] = set()
        for actor in accounts if group_globs else ():
            if (groups := await self._groups.of(actor, group_globs, channel)) is None:
                return None
            all_groups |= groups
        return frozenset(all_groups)

    def is_direct(self, channel: ChannelRef) -> bool:
        """Whether only one person and our bot are in the channel."""
        connector = self._connectors.get(self._rooms.account_of(channel) or AccountId(""))
        direct_messages = connector.abilities.direct_messages if connector else None
        return direct_messages is not None and direct_messages.is_direct(channel)

    async def post_refusal(
        self,
        membership: AgentMembership,
        room: Room,
        member: Member,
        actor: ActorId,
        question: MessageId,
    ) -> None:
        """Post that the agent does not answer this person, at most once an hour. Raises
        StoreError."""
        metrics.NOT_ADMITTED.labels(membership.agent).inc()
        if self.is_direct(member.channel):
            text = (
                f"{membership.agent} does not know you yet. Ask an admin of this bridge for a code "
                "(uacs-bridge pair new), and say it here."
            )
        else:
            text = (
                f"{membership.agent} does not answer everybody here; ask an admin of this bridge."
            )
        since = int(self._clock.time() // _REFUSAL_REPEATED_AFTER)
        own_id = notice_id("not admitted", room.id, membership.agent, actor, str(since))
        await self._notices.post(own_id, plain_markdown(text), room.id, [member], reply_to=question)

    # --- codes ------------------------------------------------------------------------------------

    async def use_code(self, event: MessagePosted, code: str) -> str | None:
        """Pair the author of a direct message, which is this code. Returns the outcome, or None for
        a message that is not a direct one. The message is not archived: nobody may read a code.
        Raises StoreError."""
        if not self.is_direct(event.place.channel):
            return None
        room = next(iter(self._rooms.receiving_from(event.account, event.place.channel)), None)
        member = None if room is None else room.member(event.place.channel)
        if room is None or member is None:
            return None
        outcome = await self._store.use_pairing_code(digest_of(code), event.author.id)
        await self.load()
        log.info("pairing_code_used", actor=event.author.id, result=outcome)
        text = {
            "paired": "You are paired: agents answer you here from now on.",
            "wrong": "This code is not known, or not good any more; ask for a new one.",
            "too_many": "Too many codes were wrong; try again in "
            f"{int(PAIRING_WINDOW // 60)} minutes.",
        }[outcome]
        own_id = notice_id("pairing", event.place.channel.key, event.native_id)
        await self._notices.post(own_id, plain_markdown(text), room.id, [member])
        return f"pairing: {outcome}"

    async def unpair(self, actor: ActorId, agent: str | None) -> bool:
        """End the pairing of an account with an agent, or (None) with all. Returns whether there
        was one. Raises StoreError."""
        done = await self._store.unpair(actor, agent)
        await self.load()
        return done

    async def pairings(self) -> list[Pairing]:
        """Return all pairings. Raises StoreError."""
        return list(await self._store.pairings())


class PlatformGroups:
    """The groups of people on their platforms, and whether they are guests: asked for when the
    lists of an agent's membership name such, and remembered for a minute."""

    def __init__(
        self, connectors: Mapping[AccountId, Connector], rooms: Rooms, clock: Clock
    ) -> None:
        self._connectors = connectors
        self._rooms = rooms
        self._clock = clock
        self._groups: dict[_GroupsKey, tuple[float, frozenset[str]]] = {}

    async def of(
        self, actor: ActorId, globs: Sequence[str], channel: ChannelRef | None
    ) -> frozenset[str] | None:
        """Return the groups of an account that the globs name; None where the platform does not
        answer."""
        key = (actor, tuple(globs))
        until, groups = self._groups.get(key, (0.0, frozenset[str]()))
        if until > self._clock.monotonic():
            return groups
        connector = self._connectors.get(self._account_of(actor, channel) or AccountId(""))
        platform_groups = connector.abilities.groups if connector else None
        if platform_groups is None:
            return frozenset()
        try:
            async with asyncio.timeout(_GROUPS_DEADLINE):
                groups = await platform_groups.of_actor(actor, globs)
        except (PlatformError, TimeoutError) as error:
            log.warning("group_lookup_failed", actor=actor, error=str(error))
            return None
        if len(self._groups) >= _MOST_GROUPS:
            self._groups.pop(next(iter(self._groups)))
        self._groups[key] = (self._clock.monotonic() + _GROUPS_SECONDS, groups)
        return groups

    def _account_of(self, actor: ActorId, channel: ChannelRef | None) -> AccountId | None:
        """The account that can see this person: the one that received their message, else one in
        their workspace. A guest from another organisation is visible to the receiving account."""
        platform, *rest = split_key(actor)
        channel_there = channel if channel is not None and channel.platform == platform else None
        if channel_there is not None and [channel_there.workspace] == rest[:1]:
            return self._rooms.account_of(channel_there)
        account = self._rooms.account_seeing(platform, rest[0]) if rest else None
        return account or (
            self._rooms.account_of(channel_there) if channel_there is not None else None
        )


async def begin_pairing(
    store: AgentStore, clock: Clock, agent: str, by: str, minutes: float
) -> str:
    """Return a new code for one person, which is good once, for some minutes. Raises InvalidData
    for a wrong number of minutes, and StoreError."""
    if not 0 < minutes <= 24 * 60:
        raise InvalidData(f"A code is good for 1 to 1440 minutes, not {minutes:g}")
    code = new_code()
    expires = clock.time() + minutes * 60
    await store.put_pairing_code(PairingCode(digest_of(code), agent, by, expires))
    return code
