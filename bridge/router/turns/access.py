"""Who may reach an agent: the lists at its seat, codes that people gave in direct messages, and
whom the room admits at all.

Read from the store at the start; whatever changes is written there first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from typing import Protocol

import structlog

from bridge.content.markdown import text_to_markdown
from bridge.content.text.globs import matches
from bridge.content.text.tree import Paragraph, Text
from bridge.errors import InvalidData
from bridge.model import AccountId, ActorId, ChannelRef, MessageId, MessagePosted
from bridge.model.turn_records import PAIRING_WINDOW, Pairing, PairingCode
from bridge.ports.clock import Clock
from bridge.ports.connector import Connector
from bridge.ports.store.agents import AgentStore
from bridge.ports.store.people import PeopleStore
from bridge.router.outbound.notices import Notices, notice_id
from bridge.router.rooms.bans import BansAndPauses
from bridge.router.rooms.codes import digest_of, new_code
from bridge.router.rooms.rooms import AgentMembership, Member, Room, Rooms
from bridge.router.runtime import metrics
from bridge.router.turns.groups import Memberships
from bridge.uacs import TextPart

log = structlog.get_logger()

CODE_SECONDS = 600.0
_OF_GROUPS = ("group:", "guest:")
_UNSEEN = "it cannot be seen now whether they are among those whom it allows"
ALL = "*"  # a pairing with every agent
_TOLD_AGAIN = 3600.0  # seconds after which somebody is told once more that they are not admitted
_CODE = re.compile(r"\s*(?:pair\s+)?([0-9a-z]{4}-[0-9a-z]{4})\s*", re.IGNORECASE)


class _DoorsStore(AgentStore, PeopleStore, Protocol):
    """What `AgentAccess` needs of the store."""


class AgentAccess:
    """A cache in front of the store: to ask costs next to nothing."""

    def __init__(
        self,
        store: _DoorsStore,
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
        self._groups = Memberships(connectors, rooms, clock)
        self._paired: set[tuple[ActorId, str]] = set()

    async def load(self) -> None:
        self._paired = {(one.actor, one.agent) for one in await self._store.pairings()}

    async def refuses(
        self, membership: AgentMembership, room: Room, actor: ActorId, channel: ChannelRef | None
    ) -> str:
        """Why this person does not reach the agent; empty where nothing speaks against it. All
        accounts of one person are that person."""
        who = {actor, *(one.actor for one in await self._store.accounts_of(actor))}
        if any(self._bans.bars(one, room.id) for one in who):
            return "they are blocked, or opted out"
        if _any(membership.deny, who):
            return "they are denied"
        groups = await self._groups_of(membership.deny, who, channel)
        if groups is None:
            return _UNSEEN
        if _any(membership.deny, groups):
            return "they are denied"
        paired = any(
            (one, agent) in self._paired for one in who for agent in (membership.agent, ALL)
        )
        if paired or _any(membership.allow, who):
            return ""
        groups = await self._groups_of(membership.allow, who, channel)
        if _any(membership.allow, groups or frozenset()):
            return ""
        if membership.allow:
            return "they are not among those whom it allows" if groups is not None else _UNSEEN
        return "they are not paired" if channel and self.is_direct(channel) else ""

    async def _groups_of(
        self, globs: tuple[str, ...], who: set[ActorId], channel: ChannelRef | None
    ) -> frozenset[str] | None:
        """Those of all their accounts, as far as the globs ask for them; None where a platform does
        not say: then it is not known whether they may."""
        wanted = tuple(one for one in globs if one.startswith(_OF_GROUPS))
        found: set[str] = set()
        for actor in who if wanted else ():
            if (groups := await self._groups.of(actor, wanted, channel)) is None:
                return None
            found |= groups
        return frozenset(found)

    def is_direct(self, channel: ChannelRef) -> bool:
        """Whether it is between one person and our bot alone."""
        connector = self._connectors.get(self._rooms.account_of(channel) or AccountId(""))
        direct_messages = connector.abilities.direct_messages if connector else None
        return direct_messages is not None and direct_messages.is_direct(channel)

    async def tell(
        self,
        membership: AgentMembership,
        room: Room,
        member: Member,
        actor: ActorId,
        asked: MessageId,
    ) -> None:
        """Say that they do not reach it, once in a while, where they asked."""
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
        since = int(self._clock.time() // _TOLD_AGAIN)
        own_id = notice_id("not admitted", room.id, membership.agent, actor, str(since))
        await self._notices.say(own_id, _plain(text), room.id, [member], reply_to=asked)

    # --- codes ------------------------------------------------------------------------------------

    async def hear_code(self, event: MessagePosted) -> str | None:
        """The outcome where somebody gives a code in a direct message; None for all else. The
        message is not kept: nobody shall read a code."""
        code = _code_in(event)
        if code is None or event.author.bot or not self.is_direct(event.place.channel):
            return None
        room = next(iter(self._rooms.hearing(event.account, event.place.channel)), None)
        member = None if room is None else room.member(event.place.channel)
        if room is None or member is None:
            return None
        used = await self._store.use_pairing_code(digest_of(code), event.author.id)
        await self.load()
        log.info("pairing_code_used", actor=event.author.id, result=used)
        text = {
            "paired": "You are paired: agents answer you here from now on.",
            "wrong": "This code is not known, or not good any more; ask for a new one.",
            "too_many": "Too many codes were wrong; try again in "
            f"{int(PAIRING_WINDOW // 60)} minutes.",
        }[used]
        own_id = notice_id("pairing", event.place.channel.key, event.native_id)
        await self._notices.say(own_id, _plain(text), room.id, [member])
        return f"pairing: {used}"

    async def unpair(self, actor: ActorId, agent: str | None) -> bool:
        """Whether they were paired so."""
        done = await self._store.unpair(actor, agent)
        await self.load()
        return done

    async def pairings(self) -> list[Pairing]:
        return list(await self._store.pairings())


async def begin_pairing(
    store: AgentStore, clock: Clock, agent: str, by: str, minutes: float
) -> str:
    """A code for one person, to be told to them alone: good once, for some minutes."""
    if not 0 < minutes <= 24 * 60:
        raise InvalidData(f"A code is good for 1 to 1440 minutes, not {minutes:g}")
    code = new_code()
    expires = clock.time() + minutes * 60
    await store.put_pairing_code(PairingCode(digest_of(code), agent, by, expires))
    return code


def _code_in(event: MessagePosted) -> str | None:
    first = event.message.content[0]
    if len(event.message.content) > 1 or not isinstance(first, TextPart):
        return None
    found = _CODE.fullmatch(first.text)
    return found and found.group(1)


def _any(globs: tuple[str, ...], who: Set[str]) -> bool:
    return any(matches(glob, one) for glob in globs for one in who)


def _plain(text: str) -> str:
    return text_to_markdown((Paragraph((Text(text),)),))
