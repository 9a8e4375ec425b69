"""Whether a turn may begin: nobody has taken over, who asks is admitted, and all can pay for it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import structlog

from bridge.content.markdown import text_to_markdown
from bridge.content.text.tree import Paragraph, Text
from bridge.model import ActorId, MessageId, PersonId
from bridge.model.archive_records import StoredMessage
from bridge.model.turn_records import StoredTurn
from bridge.ports.store.messages import MessageStore
from bridge.router.outbound.notices import Notices, notice_id
from bridge.router.rooms.rooms import Room, Rooms
from bridge.router.turns.access import AgentAccess
from bridge.router.turns.handovers import HandOvers
from bridge.router.turns.publisher import answer_id
from bridge.router.turns.quotas import Quotas

log = structlog.get_logger()


class TurnAdmission:
    """Looks at a turn when its time comes: much may have changed since it was queued."""

    def __init__(
        self,
        store: MessageStore,
        rooms: Rooms,
        hand_overs: HandOvers,
        access: AgentAccess,
        quotas: Quotas,
        notices: Notices,
        person_of: Callable[[ActorId], Awaitable[PersonId | None]],
    ) -> None:
        self._store = store
        self._rooms = rooms
        self._hand_overs = hand_overs
        self._access = access
        self._quotas = quotas
        self._notices = notices
        self._person_of = person_of

    async def refuses(self, turn: StoredTurn) -> str:
        """Why it does not begin; empty when it may. Whoever asked is told what they cannot see."""
        asked, room = await self._asked(turn), self._rooms.by_id.get(turn.room)
        membership = None if room is None else room.membership(turn.agent)
        if asked is None or room is None or membership is None:
            return ""  # who runs it finds out, and says so
        if self._held(turn, asked):
            return "a person has taken over"
        channel = asked.place.channel if asked.place else None
        if why := await self._access.refuses(membership, room, asked.author.id, channel):
            return why
        why = await self._quotas.refuses(turn.room, turn.agent, await self._payer(asked))
        if why:
            await self._tell(room, turn, asked, why)
        return why

    async def is_taken(self, turn: StoredTurn) -> bool:
        """Whether a person has taken over where it was asked."""
        asked = await self._asked(turn)
        return asked is not None and self._held(turn, asked)

    def _held(self, turn: StoredTurn, asked: StoredMessage) -> bool:
        holding = self._hand_overs.at(turn.room, asked)
        return holding is not None and holding.agent is None

    async def may_stop(self, turn: StoredTurn, actor: ActorId) -> bool:
        """Whoever may ask may stop."""
        room = self._rooms.by_id.get(turn.room)
        membership = None if room is None else room.membership(turn.agent)
        if room is None or membership is None:
            return False
        asked = await self._asked(turn)
        channel = asked.place.channel if asked and asked.place else None
        return not await self._access.refuses(membership, room, actor, channel)

    async def begins(self, turn: StoredTurn) -> None:
        """It is counted once, however often it is tried."""
        if turn.attempts == 0 and (asked := await self._asked(turn)):
            await self._quotas.asked(turn.room, turn.agent, await self._payer(asked))

    async def ends(self, turn: StoredTurn) -> None:
        """What it cost is in its answer."""
        answer, asked = await self._store.message(answer_id(turn)), await self._asked(turn)
        usage = (answer.message.metadata or {}).get("usage") if answer else None
        if asked is not None and isinstance(usage, dict):
            await self._quotas.used(turn.room, turn.agent, await self._payer(asked), usage)

    async def _asked(self, turn: StoredTurn) -> StoredMessage | None:
        return await self._store.message(turn.origin or turn.trigger)

    async def _payer(self, asked: StoredMessage) -> str:
        return await self._person_of(asked.author.id) or asked.author.id

    async def _tell(self, room: Room, turn: StoredTurn, asked: StoredMessage, why: str) -> None:
        log.info("quota_exceeded", room=room.id, agent=turn.agent, why=why)
        here = room.member(asked.place.channel) if asked.place else None
        await self._notices.say(
            notice_id("spent", turn.id),
            text_to_markdown((Paragraph((Text(f"⏳ {turn.agent} does not answer: {why}."),)),)),
            room.id,
            [here] if here else room.listeners(),
            root=asked.root,
            reply_to=MessageId(asked.message.message_id),
        )
