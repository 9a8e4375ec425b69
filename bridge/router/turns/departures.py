"""Agents that have to leave: a convener sent them away, or nobody asked them for long."""

from __future__ import annotations

from collections.abc import Mapping

import structlog

from bridge.model.floor import FloorChange
from bridge.model.turn_records import HandOver
from bridge.ports.agent import Agent, IsInvited
from bridge.ports.clock import Clock
from bridge.ports.store.turns import TurnStore
from bridge.router.rooms.rooms import Room, Rooms
from bridge.router.signals import MemberSilenced
from bridge.router.turns.handovers import HandOvers

log = structlog.get_logger()

_LOOK = 15.0  # seconds between two looks at who is idle
_MOST_TURNS = 1000  # newest turns of a room that are looked at
_TIMED_OUT = "@timedOut"


class Departures:
    """Ends the hand-overs to agents that leave."""

    def __init__(
        self,
        store: TurnStore,
        rooms: Rooms,
        agents: Mapping[str, Agent],
        hand_overs: HandOvers,
        clock: Clock,
    ) -> None:
        self._store = store
        self._rooms = rooms
        self._agents = agents
        self._hand_overs = hand_overs
        self._clock = clock

    async def member_silenced(self, silenced: MemberSilenced) -> None:
        """Give back what an agent held that has to leave a room. Raises StoreError."""
        room = self._rooms.by_id.get(silenced.room)
        agent = silenced.actor.removeprefix("agent:")
        if room is None or not silenced.away:
            return
        for spot in self._hand_overs.spots_of(room.id, agent):
            await self._hand_overs.end(room, spot, agent, "it was sent away")

    async def watch(self) -> None:
        """Look every few seconds, until cancelled."""
        while True:
            await self._clock.sleep(_LOOK)
            try:
                await self.look()
            except Exception:
                log.exception("idle_agents_look_failed")

    async def look(self) -> None:
        """Send away the agents that hold a conversation and that nobody has asked for as long as
        they are invited. Raises StoreError."""
        for hand_over in self._hand_overs.all:
            room = self._rooms.by_id.get(hand_over.room)
            agent = self._agents.get(hand_over.agent or "")
            if room is None or not isinstance(agent, IsInvited) or agent.invited_seconds is None:
                continue
            if await self._is_idle(hand_over, agent.invited_seconds):
                await self._send_away(room, hand_over, agent)

    async def _is_idle(self, hand_over: HandOver, seconds: float) -> bool:
        since = self._clock.time() - seconds
        if hand_over.at >= since:
            return False
        turns = await self._store.turns_of_room(hand_over.room, since=since, limit=_MOST_TURNS)
        return all(turn.agent != hand_over.agent for turn in turns)

    async def _send_away(self, room: Room, hand_over: HandOver, agent: IsInvited) -> None:
        name = hand_over.agent or ""
        log.info("idle_agent_sent_away", room=room.id, agent=name)
        await self._hand_overs.end(room, hand_over.spot, name, "nobody asked it for long")
        change = FloorChange("uninvite", f"agent:{name}", "nobody asked it for long", _TIMED_OUT)
        await agent.tell(str(room.conversation), change)
