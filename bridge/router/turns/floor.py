"""Who may speak in the rooms that have a convener: an agent that decides for all agents and
programs there. People always may.

Read from the store at the start; whatever changes is written there first, and said in the room.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import cast

import orjson
import structlog

from bridge.errors import BridgeError
from bridge.model import ActorId, RoomId
from bridge.model.floor import FloorAct, FloorChange, FloorMember, FloorView, FloorWish
from bridge.model.refs import PROGRAMS, join_key
from bridge.openfloor.machines import FLOOR, FloorState
from bridge.ports.agent import Agent, Convenes, HasAddresses, IsInvited
from bridge.ports.clock import Clock
from bridge.ports.store.key_values import ROUTER_VALUES, KeyValueStore
from bridge.router.outbound.notices import Notices, notice_id, plain_markdown
from bridge.router.rooms.rooms import Room
from bridge.router.runtime.background import Background
from bridge.router.signals import MemberSilenced, Signal

log = structlog.get_logger()

_PREFIX = "floor:"  # of the keys under which the store has the floors
_DEADLINE = 5.0  # seconds in which a convener answers a wish
_WORDS: Mapping[FloorAct, str] = {
    "grant": "🗣️ @{convener} gives {member} the floor",
    "revoke": "🤫 @{convener} takes the floor from {member}",
    "uninvite": "👋 @{convener} sends {member} away",
}


class Floor:
    """Knows who may speak, and asks conveners."""

    def __init__(
        self,
        store: KeyValueStore,
        agents: Mapping[str, Agent],
        notices: Notices,
        background: Background,
        clock: Clock,
        member_silenced: Signal[MemberSilenced],
    ) -> None:
        self._store = store
        self._agents = agents
        self._notices = notices
        self._background = background
        self._clock = clock
        self._member_silenced = member_silenced
        self._states: dict[RoomId, dict[ActorId, FloorState]] = {}

    async def load(self) -> None:
        """Read the floors from the store. Raises StoreError."""
        for key in await self._store.value_keys(ROUTER_VALUES, _PREFIX):
            stored = await self._store.get_value(ROUTER_VALUES, key)
            states = orjson.loads(stored) if stored else {}
            self._states[RoomId(key.removeprefix(_PREFIX))] = {
                ActorId(actor): cast("FloorState", state)
                for actor, state in states.items()
                if FLOOR.has(state)
            }

    def state(self, room: Room, actor: ActorId) -> FloorState:
        """Return whether an agent or a program may speak in a room."""
        convener = room.convener
        if convener is None or actor == _actor(convener.agent):
            return FLOOR.first
        return self._states.get(room.id, {}).get(actor, FLOOR.first)

    def view(self, room: Room) -> FloorView | None:
        """Return the floor of a room as its agents see it; None where nobody convenes."""
        if room.convener is None:
            return None
        agents = [_actor(membership.agent) for membership in room.agents]
        states = {actor: self.state(room, actor) for actor in agents}
        return FloorView(
            _actor(room.convener.agent),
            tuple(
                FloorMember(actor, actor.removeprefix("agent:"), speaks=state == "granted")
                for actor, state in states.items()
                if state != "absent"
            ),
        )

    async def refuses(self, room: Room, wish: FloorWish) -> str:
        """Return why an agent or a program may not speak now; "" where it may. One that has not got
        the floor asks the convener for it; a convener that does not answer forbids nothing. Raises
        StoreError."""
        state, convener = self.state(room, wish.actor), room.convener
        if state == "granted" or convener is None:
            return ""
        if state == "absent":
            return f"{convener.agent} has sent it away"
        agent = self._agents.get(convener.agent)
        if not isinstance(agent, Convenes):
            return ""
        try:
            async with asyncio.timeout(_DEADLINE):
                decided = await agent.decide(str(room.conversation), wish)
        except (BridgeError, TimeoutError) as error:
            log.warning("convener_silent", room=room.id, convener=agent.name, error=str(error))
            return ""
        for change in decided:
            await self.change(room, change)
        granted = self.state(room, wish.actor) == "granted"
        return "" if granted else f"{convener.agent} has not given it the floor"

    async def change(self, room: Room, change: FloorChange) -> None:
        """Do what the convener of a room decided, and tell the room. What changes nothing, and what
        is about a person or about nobody here, does nothing. Raises StoreError."""
        convener, member = room.convener, self._member(room, change.to)
        if convener is None or member is None or member == _actor(convener.agent):
            log.info("floor_change_ignored", room=room.id, act=change.act, to=change.to)
            return
        if not await self._step(room, member, change.act):
            return
        if change.act in ("revoke", "uninvite"):
            away = change.act == "uninvite"
            await self._member_silenced.emit(MemberSilenced(room.id, member, away, change.reason))
            agent = self._agents.get(member.removeprefix("agent:"))
            if isinstance(agent, IsInvited):
                self._background.spawn(agent.tell(str(room.conversation), change), "floor change")
        if words := _WORDS.get(change.act):
            name = member.removeprefix("agent:") if _is_agent(member) else member.split(":")[-1]
            because = f": {change.reason}." if change.reason else "."
            text = words.format(convener=convener.agent, member=f"@{name}") + because
            await self._notices.post(
                notice_id("floor", room.id, member, repr(self._clock.time())),
                plain_markdown(text), room.id, room.listeners(), timeline=room.timeline,
            )  # fmt: skip

    async def happens(self, room: Room, actor: ActorId, act: FloorAct) -> bool:
        """Note what an agent or a program did itself, or what people did with it: it gave the floor
        back, or was invited. Returns whether that changes what it may do. Raises StoreError."""
        return room.convener is not None and await self._step(room, actor, act)

    async def _step(self, room: Room, actor: ActorId, act: FloorAct) -> bool:
        """Go on to the next state of a member. Returns whether it is another one."""
        states = self._states.setdefault(room.id, {})
        state = states.get(actor, FLOOR.first)
        following = FLOOR.after(state, act)
        if following == state:
            return False
        changed: dict[ActorId, FloorState] = {**states, actor: following}
        kept: dict[ActorId, FloorState] = {
            who: known for who, known in changed.items() if known != FLOOR.first
        }
        key = f"{_PREFIX}{room.id}"
        await self._store.put_value(ROUTER_VALUES, key, orjson.dumps(kept).decode())
        self._states[room.id] = kept
        log.info("floor_changed", room=room.id, actor=actor, state=following, act=act)
        return True

    def _member(self, room: Room, to: str) -> ActorId | None:
        """The agent or program that is meant; None for people and strangers."""
        for membership in room.agents:
            agent = self._agents.get(membership.agent)
            known = agent.addresses if isinstance(agent, HasAddresses) else ()
            if to == _actor(membership.agent) or to.rstrip("/") in [a.rstrip("/") for a in known]:
                return _actor(membership.agent)
        program = join_key(*PROGRAMS)
        if to.startswith(f"{program}:"):
            return ActorId(to.partition("/")[0])  # its token, whichever of its speakers is meant
        return None


def _actor(agent: str) -> ActorId:
    return ActorId(f"agent:{agent}")


def _is_agent(actor: ActorId) -> bool:
    return actor.startswith("agent:")
