"""Which agents of a room answer a message: those that it names, the one that holds its spot, or the
one whose route fits best.

A message that names an agent, or answers its words, is for that agent. All other messages that
agents listen to are answered by the agent with the most specific route, and by those that sit
`beside`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import structlog

from bridge.content.messages.parts import message_text
from bridge.model import MessageId, MessagePosted, split_key
from bridge.model.archive_records import NewMessage
from bridge.ports.clock import Clock
from bridge.ports.store.agents import AgentStore
from bridge.ports.store.people import PeopleStore
from bridge.ports.store.turns import TurnStore
from bridge.router.rooms.accounts import all_accounts
from bridge.router.rooms.answer_conditions import (
    ANYWHERE,
    NOWHERE,
    Rank,
    RoutedMessage,
    collide,
    rank_of,
)
from bridge.router.rooms.rooms import AgentMembership, Room
from bridge.router.turns.access import AgentAccess
from bridge.router.turns.handovers import HandOvers

log = structlog.get_logger()

_STOP = frozenset({"stop", "cancel", "halt"})
WITHIN = 3600.0  # seconds for which turns that agents and bots called are counted
_IN_ITS_THREAD: Rank = (0, 16)
_NAMED = "its name was called"
_REPLIED = "the message replies to it"
_CONVENES = "it convenes this room, and hears all that is said"
_HANDED_OVER = "the conversation was handed over to it"


class _SelectionStore(AgentStore, PeopleStore, TurnStore, Protocol):
    """What `AgentSelection` needs of the store."""


@dataclass(frozen=True)
class Chosen:
    """An agent that answers, and in words why it was chosen; `hears`: the message is not for it,
    and it need not answer."""

    membership: AgentMembership
    reason: str
    hears: bool = False


@dataclass(frozen=True)
class AgentSelection:
    """Decides which agents of a room answer a message."""

    store: _SelectionStore
    handovers: HandOvers
    access: AgentAccess
    clock: Clock

    async def of(self, room: Room, event: MessagePosted, new: NewMessage) -> Sequence[Chosen]:
        """Return the agents that answer the message, of those that admit its author; none where a
        person has taken over. An author whom an addressed agent does not admit is told so. The
        room's convener hears every message. Raises StoreError."""
        answering = await self._admitted(room, event, new)
        convener = room.convener
        if convener is None or any(chosen.membership is convener for chosen in answering):
            return answering
        return [*answering, Chosen(convener, _CONVENES, hears=True)]

    async def _admitted(
        self, room: Room, event: MessagePosted, new: NewMessage
    ) -> Sequence[Chosen]:
        addressed = await self._addressed(room, event, new)
        if not addressed:
            return ()
        admitted: list[Chosen] = []
        channel = event.place.channel
        member = room.member(channel)
        text, _ = message_text(event.message)
        for chosen in addressed:
            membership = chosen.membership
            if not await self.access.refuses(membership, room, new.author.id, channel):
                admitted.append(chosen)
            elif member and (event.addresses_us or is_addressed(membership, text, new)):
                await self.access.post_refusal(membership, room, member, new.author.id, new.id)
        return admitted

    async def _addressed(
        self, room: Room, event: MessagePosted, new: NewMessage
    ) -> Sequence[Chosen]:
        """The agents that the message is for."""
        text, _ = message_text(event.message)
        handover = self.handovers.at(room.id, new)
        if handover is not None and handover.agent is None:
            return ()
        named = [
            Chosen(membership, _NAMED if is_named(membership.agent, text) else _REPLIED)
            for membership in room.agents
            if is_addressed(membership, text, new)
        ]
        if named:
            return await self._may_call(named, room, event)
        if event.author.bot:
            return ()
        routed = await self._routed_message(room, event, new, text)
        chosen = await self._chosen(room, event, new, routed)
        if chosen and handover is not None:
            holder = room.membership(handover.agent or "")
            return chosen if holder is None else [Chosen(holder, _HANDED_OVER)]
        return chosen

    async def _may_call(
        self, named: Sequence[Chosen], room: Room, event: MessagePosted
    ) -> Sequence[Chosen]:
        """People may call all of them; bots those that hear bots, until agents and bots have called
        one another as often as the room allows."""
        if not event.author.bot:
            return named
        listening = [chosen for chosen in named if chosen.membership.bots]
        if not listening:
            return ()
        since = self.clock.time() - WITHIN
        left = room.talk.turns - await self.store.called_by_others(room.id, since)
        if left < len(listening):
            log.warning("agent_turns_limited", room=room.id, by=event.author.id)
        return listening[: max(left, 0)]

    async def _chosen(
        self, room: Room, event: MessagePosted, new: NewMessage, routed: RoutedMessage
    ) -> Sequence[Chosen]:
        """Those that listen and whose routes fit: the best, and all that sit beside."""
        root = new.root or new.id
        ranks: list[tuple[Rank, AgentMembership]] = []
        in_thread: set[str] = set()
        for membership in room.agents:
            rank = rank_of(membership.routes, routed)
            if rank == NOWHERE:
                continue
            listens = membership.listen == "threads"
            takes_part = listens and await self.store.was_called(membership.agent, root)
            if takes_part:
                in_thread.add(membership.agent)
                rank = max(rank, _IN_ITS_THREAD)
            if event.addresses_us or takes_part or membership.listen == "always":
                ranks.append((rank, membership))
        alone = [(rank, membership) for rank, membership in ranks if not membership.beside]
        best = max((rank for rank, _ in alone), default=NOWHERE)
        first = next((membership for rank, membership in alone if rank == best), None)
        always = [
            membership
            for _, membership in ranks
            if membership.beside and membership.listen != "mentions"
        ]
        if first is None and event.addresses_us and ranks:
            first = ranks[0][1]
        return [
            Chosen(membership, _why(membership, event, in_its_thread=membership.agent in in_thread))
            for _, membership in ranks
            if membership is first or membership in always
        ]

    async def _routed_message(
        self, room: Room, event: MessagePosted, new: NewMessage, text: str
    ) -> RoutedMessage:
        member = room.member(event.place.channel)
        author_names = {new.author.id, new.author.name}
        if any(route.people for membership in room.agents for route in membership.routes):
            author_names |= await all_accounts(self.store, new.author.id)
        name = member.name if member else ""
        return RoutedMessage(event.place.channel, name, author_names, new.root is not None, text)


def _why(membership: AgentMembership, event: MessagePosted, *, in_its_thread: bool) -> str:
    if in_its_thread:
        return "it takes part in this thread"
    if event.addresses_us:
        return "the bridge was addressed, and it is the agent for that here"
    if membership.beside:
        return "it listens beside the others"
    routes = " where one of its routes fits" if membership.routes else ""
    return f"it listens to all that is said{routes}"


def is_addressed(membership: AgentMembership, text: str, new: NewMessage) -> bool:
    """Whether the text names the agent, or the message replies to the agent."""
    return is_named(membership.agent, text) or agent_of_answer(new.reply_to) == membership.agent


def agent_of_answer(message: MessageId | None) -> str | None:
    """Return the agent whose answer has this id; None for other messages."""
    kind, *rest = split_key(message or "")
    return rest[0] if kind == "agent" and len(rest) == 2 else None


def wants_stop(membership: AgentMembership, event: MessagePosted) -> bool:
    """Whether the text asks the agent to stop, and is no question."""
    text, _ = message_text(event.message)
    words = re.sub(rf"@{re.escape(membership.agent)}\b", " ", text, flags=re.IGNORECASE)
    return words.strip(" \n\t,.:!").casefold() in _STOP


def is_named(agent: str, text: str) -> bool:
    """Whether `@agent` is a word of its own in the text."""
    return re.search(rf"(?<![\w@])@{re.escape(agent)}(?![\w-])", text, re.IGNORECASE) is not None


def ambiguities(memberships: Sequence[AgentMembership]) -> list[tuple[int, int, str]]:
    """Return the pairs of agents of which neither goes before the other, by their indexes, with the
    reason."""
    pairs: list[tuple[int, int, str]] = []
    for at, first in enumerate(memberships):
        for at_second, second in enumerate(memberships[at + 1 :], at + 1):
            if first.agent == second.agent:
                pairs.append((at, at_second, "they are the same agent"))
            elif not (first.beside or second.beside) and (collision := _collision(first, second)):
                pairs.append((at, at_second, collision))
    return pairs


def _collision(first: AgentMembership, second: AgentMembership) -> str:
    if not first.routes and not second.routes:
        # A mention that names nobody is for the first of them.
        return "both answer always" if first.listen == second.listen == "always" else ""
    for at, route in enumerate(first.routes):
        for at_second, other_route in enumerate(second.routes):
            if collide(route, other_route):
                return f"route {at} of the one and route {at_second} of the other may fit the same"
    plain = [membership for membership in (first, second) if not membership.routes]
    routed = second if plain and plain[0] is first else first
    if plain and any(route.rank == ANYWHERE for route in routed.routes):
        return "a route without conditions is no more specific than none"
    return ""
