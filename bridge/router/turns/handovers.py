"""Who answers at a spot of a room in place of all others: an agent that was handed over to, or a
person who took over.

Read from the store at the start; whatever changes is written there first, and said in the room.
"""

from __future__ import annotations

import structlog

from bridge.content.cards.tree import Button
from bridge.content.text.tree import Text
from bridge.model import ActorId, MessageId, RoomId, split_key
from bridge.model.turn_records import HandOver
from bridge.ports.clock import Clock
from bridge.ports.store.agents import AgentStore
from bridge.router.outbound.notices import Notices, notice_id, plain_markdown
from bridge.router.rooms.rooms import Room
from bridge.router.signals import Signal
from bridge.router.turns.sessions import Question, spots_of

log = structlog.get_logger()

_DEEPEST = 8  # agents that wait for one another
GIVE_BACK = "bridge.give_back"  # the id of the button; its value is the spot


class HandOvers:
    """Knows who answers at a place of a room in place of all others. It caches the store, so a
    question costs one look into a dict."""

    def __init__(
        self,
        store: AgentStore,
        notices: Notices,
        clock: Clock,
        hand_over_taken: Signal[RoomId],
    ) -> None:
        self._store = store
        self._notices = notices
        self._clock = clock
        self._by_spot: dict[tuple[RoomId, str], HandOver] = {}
        self._hand_over_taken = hand_over_taken

    async def load(self) -> None:
        """Read the hand-overs from the store. Raises StoreError."""
        self._by_spot = {
            (holding.room, holding.spot): holding for holding in await self._store.holdings()
        }

    def at(self, room: RoomId, question: Question) -> HandOver | None:
        """Return the hand-over of the narrowest place where the question stands; None where there
        is none."""
        if not self._by_spot:
            return None
        hand_overs = (self._by_spot.get((room, spot)) for spot in spots_of(question))
        return next((hand_over for hand_over in hand_overs if hand_over is not None), None)

    @property
    def all(self) -> tuple[HandOver, ...]:
        """Every hand-over that is in effect."""
        return tuple(self._by_spot.values())

    def spots_of(self, room: RoomId, agent: str) -> tuple[str, ...]:
        """Return the places of a room where this agent answers in place of all others."""
        held = ((h.spot, h.agent) for h in self._by_spot.values() if h.room == room)
        return tuple(spot for spot, holder in held if holder == agent)

    async def take(self, room: Room, spot: str, by: ActorId, name: str, reason: str = "") -> str:
        """Let a person answer at this place in place of agents, stop what agents are writing there,
        and tell the room. Returns the answer for that person. Raises StoreError."""
        await self._hold(room, spot, None, by)
        await self._hand_over_taken.emit(room.id)
        because = f" ({reason})" if reason else ""
        text = (
            f"🙋 {name} has taken over{because}: no agent answers {_where(spot)} until it is given "
            "back."
        )
        await self._post(room, spot, text, button=True)
        return "You have taken over."

    async def assign(self, room: Room, spot: str, agent: str, by: str, reason: str = "") -> str:
        """Let another agent answer at this place, and tell the room. Returns the answer for whoever
        asked. Raises StoreError."""
        now = self._by_spot.get((room.id, spot))
        if now is not None and (now.agent, now.by) == (agent, by):
            return f"{agent} answers here already."
        await self._hold(room, spot, agent, by, self._earlier(room, spot, agent))
        because = f": {reason}" if reason else ""
        await self._post(room, spot, f"🔁 @{agent} answers {_where(spot)} from now on{because}")
        return f"Handed over to {agent}."

    async def end(self, room: Room, spot: str, agent: str, reason: str = "") -> None:
        """End the hand-over to an agent: whoever answered before it answers again. Nothing happens
        where the agent is not the one who answers. Raises StoreError."""
        ended = self._by_spot.get((room.id, spot))
        if ended is None or ended.agent != agent:
            return
        because = f": {reason}" if reason else ""
        if ended.earlier:
            *earlier, (former, by) = ended.earlier
            await self._hold(room, spot, former, by, tuple(earlier))
            text = f"↩️ @{agent} is done{because}. @{former} answers {_where(spot)} again."
        else:
            await self._store.release(room.id, spot)
            del self._by_spot[room.id, spot]
            log.info("handover_ended", room=room.id)
            text = f"↩️ @{agent} is done{because}."
        await self._post(room, spot, text)

    def holder(self, room: RoomId, spot: str) -> str | None:
        """Return the agent that answers at a place in place of all others; None for none."""
        hand_over = self._by_spot.get((room, spot))
        return None if hand_over is None else hand_over.agent

    def caller_at(self, room: RoomId, spot: str, agent: str) -> str | None:
        """Return the name of the agent that handed over to the one who answers at this place; None
        where that is another agent, or a person had decided it."""
        hand_over = self._by_spot.get((room, spot))
        if hand_over is None or hand_over.agent != agent:
            return None
        kind, *name = split_key(hand_over.by)
        return name[0] if kind == "agent" and len(name) == 1 else None

    async def give_back(self, room: Room, spot: str) -> str:
        """Let agents answer at this place as they are configured, and tell the room. Returns the
        answer for whoever asked. Raises StoreError."""
        if not await self._store.release(room.id, spot):
            return "Nobody has taken over here."
        del self._by_spot[room.id, spot]
        log.info("handover_ended", room=room.id)
        await self._post(room, spot, f"↩️ Agents answer {_where(spot)} again.")
        return "Given back."

    def _earlier(self, room: Room, spot: str, agent: str) -> tuple[tuple[str, str], ...]:
        """Who gets the place back after the agent. One that is among them gets it now: what was
        handed over since is over."""
        now = self._by_spot.get((room.id, spot))
        if now is None or now.agent is None:
            return ()
        waiting = (*now.earlier, (now.agent, now.by))
        names = [name for name, _ in waiting]
        kept = waiting[: names.index(agent)] if agent in names else waiting
        return kept[-_DEEPEST:]

    async def _hold(
        self,
        room: Room,
        spot: str,
        agent: str | None,
        by: str,
        earlier: tuple[tuple[str, str], ...] = (),
    ) -> None:
        hand_over = HandOver(room.id, spot, agent, by, self._clock.time(), earlier)
        await self._store.hold(hand_over)
        self._by_spot[room.id, spot] = hand_over
        log.info("handover_started", room=room.id, agent=agent, by=by)

    async def _post(self, room: Room, spot: str, text: str, *, button: bool = False) -> None:
        """In every channel of the room, in the thread where it is about one."""
        kind, *rest = split_key(spot)
        buttons = [Button((Text("Give back"),), id=GIVE_BACK, value=spot)] if button else []
        await self._notices.post(
            notice_id("held", room.id, spot, repr(self._clock.time())),
            plain_markdown(text),
            room.id,
            room.listeners(),
            timeline=room.timeline,
            root=MessageId(rest[0]) if kind == "thread" else None,
            buttons=buttons,
        )


def _where(spot: str) -> str:
    kind = spot.partition(":")[0]
    return {"thread": "in this thread", "channel": "in that channel", "person": "them"}.get(
        kind, "in this room"
    )
