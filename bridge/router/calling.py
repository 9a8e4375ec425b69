"""What an agent's answer sets in motion: it hands over, or calls other agents by their names."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import structlog

from bridge.content.agent_parts import hand_over_of
from bridge.content.markdown import text_to_markdown
from bridge.content.parts import message_text
from bridge.content.text import Paragraph, Text
from bridge.model import MessageId, TurnId
from bridge.ports.clock import Clock
from bridge.ports.store import Admission, NewTurn, Store, StoredMessage, StoredTurn
from bridge.router.gating import WITHIN, is_named
from bridge.router.holdings import Holdings
from bridge.router.notices import Notices, notice_id
from bridge.router.rooms import AgentSeat, Room, Rooms
from bridge.router.sessions import session_of, spot_of
from bridge.router.voice import answer_id

log = structlog.get_logger()

PERSON = "person"  # what an agent hands over to that is no agent


class Calling:
    """Looks at answers that are complete. Agents that call one another are counted from the last
    turn that a person called: at most so many as the room allows."""

    def __init__(
        self,
        store: Store,
        rooms: Rooms,
        holdings: Holdings,
        notices: Notices,
        clock: Clock,
        new_id: Callable[[], str],
    ) -> None:
        self._store = store
        self._rooms = rooms
        self._holdings = holdings
        self._notices = notices
        self._clock = clock
        self._new_id = new_id

    async def after(self, turn: StoredTurn) -> Sequence[NewTurn]:
        """Turns that this one calls; they are queued when this returns."""
        room = self._rooms.by_id.get(turn.room)
        seat = None if room is None else room.seat(turn.agent)
        answer = await self._store.message(answer_id(turn))
        origin = await self._store.message(turn.origin or turn.trigger)
        if room is None or seat is None or answer is None or origin is None:
            return ()
        if answer.state != "complete":
            return ()
        called = await self._handed(room, seat, answer, origin)
        if called is None:
            called = _named(room, seat, answer)
        called = await self._within_bounds(room, called)
        turns = tuple(self._turn(room, one, answer, origin) for one in called)
        if turns:
            await self._store.admit(Admission(outcome="agents called", turns=turns))
        return turns

    async def _handed(
        self, room: Room, seat: AgentSeat, answer: StoredMessage, origin: StoredMessage
    ) -> list[AgentSeat] | None:
        """Whom it hands over to; None where it does not hand over."""
        found = next(filter(None, map(hand_over_of, answer.message.content)), None)
        if found is None:
            return None
        to, why = found
        spot, by = spot_of(seat, origin), answer.author.id
        if to == PERSON:
            await self._holdings.take(room, spot, by, f"A person (asked by {seat.agent})", why)
            return []
        other = room.seat(to)
        if other is None or other is seat:
            log.warning("not_handed_over", room=room.id, agent=seat.agent, to=to)
            return []
        await self._holdings.hand(room, spot, to, by, why)
        return [other]

    async def _within_bounds(self, room: Room, called: Sequence[AgentSeat]) -> Sequence[AgentSeat]:
        if not called:
            return ()
        since = self._clock.time() - WITHIN
        before = await self._store.called_by_others(room.id, since)
        left = max(room.talk.turns - before, 0)
        if left < len(called):
            log.warning("agents_called_too_often", room=room.id, turns=before)
            text = (
                f"Agents answered one another {before} times; they go on when a person says "
                "something to them."
            )
            await self._notices.say(
                notice_id("round", room.id, repr(self._clock.time())),
                text_to_markdown((Paragraph((Text(text),)),)),
                room.id,
                room.listeners(),
            )
        return called[:left]

    def _turn(
        self, room: Room, seat: AgentSeat, answer: StoredMessage, origin: StoredMessage
    ) -> NewTurn:
        return NewTurn(
            TurnId(self._new_id()),
            seat.agent,
            room.id,
            MessageId(answer.message.message_id),
            session_of(seat, room.id, origin),
            MessageId(origin.message.message_id),
            "agent",
        )


def _named(room: Room, seat: AgentSeat, answer: StoredMessage) -> list[AgentSeat]:
    if room.talk.agents == "off":
        return []
    text, _ = message_text(answer.message)
    return [one for one in room.agents if one is not seat and is_named(one.agent, text)]
