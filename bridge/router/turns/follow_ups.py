"""What an agent's answer sets in motion: it hands over, or calls other agents by their names."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager

import structlog

from bridge.content.messages.agent_parts import (
    BACK,
    PERSON,
    floor_change_of,
    hand_over_of,
    is_hidden,
    proposed_by,
)
from bridge.content.messages.parts import message_text
from bridge.model import ActorId, MessageId, RoomId, TurnId
from bridge.model.archive_records import StoredMessage
from bridge.model.turn_records import NewTurn, StoredTurn
from bridge.ports.agent import Agent, HasAddresses
from bridge.ports.clock import Clock
from bridge.ports.store.agents import AgentStore
from bridge.router.outbound.notices import Notices, notice_id, plain_markdown
from bridge.router.rooms.rooms import AgentMembership, Room, Rooms
from bridge.router.turns.floor import Floor
from bridge.router.turns.handovers import HandOvers
from bridge.router.turns.proposals import ProposalCards
from bridge.router.turns.selection import WITHIN, is_named
from bridge.router.turns.sessions import TurnContext, session_of, spot_of
from bridge.runtime.keyed_locks import KeyedLocks
from bridge.uacs import Message

log = structlog.get_logger()


class FollowUps:
    """Looks at answers that are complete. Agents that call one another are counted from the last
    turn that a person called: at most so many as the room allows."""

    def __init__(
        self,
        store: AgentStore,
        rooms: Rooms,
        agents: Mapping[str, Agent],
        hand_overs: HandOvers,
        floor: Floor,
        notices: Notices,
        proposals: ProposalCards,
        clock: Clock,
    ) -> None:
        self._store = store
        self._rooms = rooms
        self._agents = agents
        self._hand_overs = hand_overs
        self._floor = floor
        self._notices = notices
        self._proposals = proposals
        self._clock = clock
        self._counting = KeyedLocks[RoomId]()

    @asynccontextmanager
    async def of(self, context: TurnContext, answer: Message) -> AsyncGenerator[Sequence[NewTurn]]:
        """Give the turns that this answer calls to the block, which queues them with the answer;
        hand the conversation over after it. The ids of the turns follow from the asked turn, so
        that one that runs again calls once. Raises StoreError."""
        turn, origin = context.turn, context.origin
        room = self._rooms.by_id.get(turn.room, context.room)
        membership = room.membership(turn.agent)
        if membership is None:
            yield ()
            return
        hand_over = self._hand_over_in(room, answer)
        mentioned = (
            _named(room, membership, answer)
            if hand_over is None
            else self._next(room, membership, hand_over[0], origin)
        )
        hearing = _hearing(room, membership, turn, answer, origin)
        why = f"{turn.agent} called it by its name"
        if hand_over is not None:
            gave = "gave the conversation back" if hand_over[0] == BACK else "handed over"
            why = f"{turn.agent} {gave} to it"
        async with self._counting.hold(room.id):
            before = await self._called_before(room) if mentioned else 0
            called = mentioned[: max(room.talk.turns - before, 0)]
            called_turns = tuple(
                _turn(room, membership_called, turn, answer, origin, number, why)
                for number, membership_called in enumerate(called)
            )
            yield (*called_turns, *hearing)
        if len(called) < len(mentioned):
            await self._post_limit(room, before)
        await self._propose(room, membership, answer, origin)
        await self._change_floor(room, membership, answer, origin)
        if hand_over is not None and (called or not mentioned or hand_over[0] == BACK):
            await self._hand_over(room, membership, hand_over, origin, answer)

    async def _propose(
        self, room: Room, membership: AgentMembership, answer: Message, origin: StoredMessage
    ) -> None:
        """Ask the room about the agents that an answer proposes, without those it has."""
        proposed = [one for part in answer.content for one in proposed_by(part)]
        absent = [one for one in proposed if room.membership(one.who) is None]
        if absent:
            own_id = MessageId(answer.message_id)
            await self._proposals.offer(room, membership.agent, absent, own_id, origin)

    async def _change_floor(
        self, room: Room, membership: AgentMembership, answer: Message, origin: StoredMessage
    ) -> None:
        """Do what an answer says of the floor: the agent gives its own back, or, as the convener,
        decides about others."""
        for change in filter(None, map(floor_change_of, answer.content)):
            if change.act == "yield":
                await self._floor.happens(room, ActorId(answer.actor.id), "yield")
                spot = spot_of(membership, origin)
                await self._hand_overs.end(room, spot, membership.agent, change.reason)
            elif membership.convener:
                await self._floor.change(room, change)
            else:
                log.warning("floor_change_rejected", room=room.id, agent=membership.agent)

    async def failed(self, context: TurnContext) -> None:
        """Give the conversation back to the agent that had handed over to one that could not
        answer. Where a person handed over, it stays. Raises StoreError."""
        turn, origin = context.turn, context.origin
        room = self._rooms.by_id.get(turn.room, context.room)
        membership = room.membership(turn.agent)
        if membership is None:
            return
        spot = spot_of(membership, origin)
        if self._hand_overs.caller_at(room.id, spot, turn.agent) is not None:
            await self._hand_overs.end(room, spot, turn.agent, "it could not answer")

    async def hand_over_by(self, context: TurnContext, answer: Message) -> None:
        """Hand over as an answer says that was kept before the bridge stopped; nothing happens
        where that was done. Raises StoreError."""
        room = self._rooms.by_id.get(context.turn.room, context.room)
        membership = room.membership(context.turn.agent)
        hand_over = self._hand_over_in(room, answer)
        if membership is not None:
            await self._propose(room, membership, answer, context.origin)
            await self._change_floor(room, membership, answer, context.origin)
        if membership is not None and hand_over is not None:
            await self._hand_over(room, membership, hand_over, context.origin, answer)

    def _hand_over_in(self, room: Room, answer: Message) -> tuple[str, str] | None:
        """The hand-over in an answer. An agent of the room may be named by an address of its."""
        found = next(filter(None, map(hand_over_of, answer.content)), None)
        if found is None or ("://" not in found[0] and not found[0].startswith("tag:")):
            return found
        to, reason = found
        for membership in room.agents:
            agent = self._agents.get(membership.agent)
            known = agent.addresses if isinstance(agent, HasAddresses) else ()
            if to.rstrip("/") in [address.rstrip("/") for address in known]:
                return membership.agent, reason
        return found

    def _next(
        self, room: Room, membership: AgentMembership, to: str, origin: StoredMessage
    ) -> list[AgentMembership]:
        """Who is called by a hand-over: the new holder, or the agent that gets its place back."""
        if to == BACK:
            spot = spot_of(membership, origin)
            to = self._hand_overs.caller_at(room.id, spot, membership.agent) or PERSON
        return _new_holder(room, membership, to)

    async def _called_before(self, room: Room) -> int:
        return await self._store.called_by_others(room.id, self._clock.time() - WITHIN)

    async def _hand_over(
        self,
        room: Room,
        membership: AgentMembership,
        hand_over: tuple[str, str],
        origin: StoredMessage,
        answer: Message,
    ) -> None:
        to, reason = hand_over
        spot, by = spot_of(membership, origin), ActorId(answer.actor.id)
        if to == PERSON:
            await self._hand_overs.take(
                room, spot, by, f"A person (asked by {membership.agent})", reason
            )
        elif to in (BACK, self._hand_overs.caller_at(room.id, spot, membership.agent)):
            await self._hand_overs.end(room, spot, membership.agent, reason)
        elif _new_holder(room, membership, to):
            await self._hand_overs.assign(room, spot, to, by, reason)
        else:
            log.warning("handover_rejected", room=room.id, agent=membership.agent, to=to)
            await self._post_unknown(room, membership.agent, to)

    async def _post_unknown(self, room: Room, agent: str, to: str) -> None:
        text = f"⚠️ {agent} wanted to hand over to {to}, who is not in this room."
        own_id = notice_id("unknown", room.id, repr(self._clock.time()))
        await self._notices.post(own_id, plain_markdown(text), room.id, room.listeners())

    async def _post_limit(self, room: Room, before: int) -> None:
        log.warning("agent_turns_limited", room=room.id, turns=before)
        text = (
            f"Agents answered one another {before} times; they go on when a person says "
            "something to them."
        )
        await self._notices.post(
            notice_id("round", room.id, repr(self._clock.time())),
            plain_markdown(text),
            room.id,
            room.listeners(),
        )


def _turn(
    room: Room,
    membership: AgentMembership,
    caller: StoredTurn,
    answer: Message,
    origin: StoredMessage,
    number: int,
    reason: str,
) -> NewTurn:
    return NewTurn(
        TurnId(f"{caller.id}.{number}"),
        membership.agent,
        room.id,
        MessageId(answer.message_id),
        session_of(membership, room.id, origin),
        MessageId(origin.message.message_id),
        "agent",
        reason,
    )


def _hearing(
    room: Room,
    membership: AgentMembership,
    turn: StoredTurn,
    answer: Message,
    origin: StoredMessage,
) -> tuple[NewTurn, ...]:
    """The turn in which the room's convener hears the answer of another agent."""
    convener = room.convener
    if convener is None or convener is membership or all(map(is_hidden, answer.content)):
        return ()
    return (
        NewTurn(
            TurnId(f"{turn.id}.convener"), convener.agent, room.id, MessageId(answer.message_id),
            session_of(convener, room.id, origin), MessageId(origin.message.message_id), "floor",
            "it convenes this room, and hears all that is said",
        ),
    )  # fmt: skip


def _new_holder(room: Room, membership: AgentMembership, to: str) -> list[AgentMembership]:
    other = None if to == PERSON else room.membership(to)
    return [] if other is None or other is membership else [other]


def _named(room: Room, membership: AgentMembership, answer: Message) -> list[AgentMembership]:
    if room.talk.agents == "off":
        return []
    text, _ = message_text(answer)
    return [
        agent for agent in room.agents if agent is not membership and is_named(agent.agent, text)
    ]
