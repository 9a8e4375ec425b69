"""Whether a turn may begin: nobody has taken over, who asks is admitted, and all can pay for it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import structlog

from bridge.model import ActorId, MessageId, PersonId
from bridge.model.archive_records import StoredMessage
from bridge.model.floor import FloorWish
from bridge.model.turn_records import StoredTurn
from bridge.ports.store.messages import MessageStore
from bridge.router.outbound.notices import Notices, notice_id, plain_markdown
from bridge.router.rooms.rooms import AgentMembership, Room, Rooms
from bridge.router.turns.access import AgentAccess
from bridge.router.turns.floor import Floor
from bridge.router.turns.handovers import HandOvers
from bridge.router.turns.quotas import Quotas

log = structlog.get_logger()


class TurnAdmission:
    """Looks at a turn when its time comes: much may have changed since it was queued."""

    def __init__(
        self,
        store: MessageStore,
        rooms: Rooms,
        hand_overs: HandOvers,
        floor: Floor,
        access: AgentAccess,
        quotas: Quotas,
        notices: Notices,
        person_of: Callable[[ActorId], Awaitable[PersonId | None]],
    ) -> None:
        self._store = store
        self._rooms = rooms
        self._hand_overs = hand_overs
        self._floor = floor
        self._access = access
        self._quotas = quotas
        self._notices = notices
        self._person_of = person_of

    async def admit(self, turn: StoredTurn) -> str:
        """Let a turn begin, and count it, once however often it is tried. Returns why it may not
        begin; empty where it may. A refusal that nobody sees is posted to whoever asked. Raises
        StoreError."""
        question, room = await self._question(turn), self._rooms.by_id.get(turn.room)
        membership = None if room is None else room.membership(turn.agent)
        if question is None:
            return ""  # the runner fails the turn
        if turn.called_by == "floor":
            return ""  # a convener hears what it has not to answer
        payer = await self._payer(question)
        refusal = ""
        if room is not None and membership is not None:
            refusal = await self._refusal(turn, question, room, membership, payer)
        if refusal:
            return refusal
        if turn.attempts == 0:
            await self._quotas.count_turn(turn.room, turn.agent, payer, question.author.id)
        return ""

    async def refuses_aside(
        self, room: Room, agent: str, actor: ActorId, *, bot: bool, count: bool
    ) -> str:
        """Return why an agent does not answer what somebody says to it alone; "" where it does,
        which counts for the quotas if `count` is set. Raises StoreError."""
        membership = room.membership(agent)
        if membership is None:
            return f"there is no agent {agent!r} in this room"
        if bot and not membership.bots:
            return f"{agent} does not answer bots"
        if refusal := await self._access.refuses(membership, room, actor, None):
            return refusal
        if self._floor.state(room, ActorId(f"agent:{agent}")) != "granted":
            return f"{agent} does not have the floor"
        payer = await self._person_of(actor) or actor
        refusal = await self._quotas.refuses(room.id, agent, payer, actor)
        if count and not refusal:
            await self._quotas.count_turn(room.id, agent, payer, actor)
        return refusal

    async def _refusal(
        self,
        turn: StoredTurn,
        question: StoredMessage,
        room: Room,
        membership: AgentMembership,
        payer: str,
    ) -> str:
        if self._is_held(turn, question):
            return "a person has taken over"
        channel = question.place.channel if question.place else None
        if refusal := await self._access.refuses(membership, room, question.author.id, channel):
            return refusal
        refusal = await self._quotas.refuses(turn.room, turn.agent, payer, question.author.id)
        if refusal:
            log.info("quota_exceeded", room=room.id, agent=turn.agent, why=refusal)
        elif self._floor.state(room, actor := ActorId(f"agent:{turn.agent}")) != "granted":
            refusal = await self._floor.refuses(room, FloorWish(actor, turn.agent))
        if refusal:
            await self._post_refusal(room, turn, question, refusal)
        return refusal

    async def is_taken(self, turn: StoredTurn) -> bool:
        """Whether a person has taken over where the turn was asked. Raises StoreError."""
        question = await self._question(turn)
        return question is not None and self._is_held(turn, question)

    def _is_held(self, turn: StoredTurn, question: StoredMessage) -> bool:
        hand_over = self._hand_overs.at(turn.room, question)
        return hand_over is not None and hand_over.agent is None

    async def may_stop(self, turn: StoredTurn, actor: ActorId) -> bool:
        """Whether the actor may stop the turn: everybody who may ask the agent. Raises
        StoreError."""
        room = self._rooms.by_id.get(turn.room)
        membership = None if room is None else room.membership(turn.agent)
        if room is None or membership is None:
            return False
        question = await self._question(turn)
        channel = question.place.channel if question and question.place else None
        return not await self._access.refuses(membership, room, actor, channel)

    async def ends(self, turn: StoredTurn) -> None:
        """Count what the turn used, which its answer says. Raises StoreError."""
        answer, question = await self._store.message(turn.answer_id), await self._question(turn)
        usage = (answer.message.metadata or {}).get("usage") if answer else None
        if question is not None and isinstance(usage, dict):
            await self._quotas.count_usage(
                turn.room, turn.agent, await self._payer(question), question.author.id, usage
            )

    async def _question(self, turn: StoredTurn) -> StoredMessage | None:
        return await self._store.message(turn.origin or turn.trigger)

    async def _payer(self, question: StoredMessage) -> str:
        return await self._person_of(question.author.id) or question.author.id

    async def _post_refusal(
        self, room: Room, turn: StoredTurn, question: StoredMessage, refusal: str
    ) -> None:
        member = room.member(question.place.channel) if question.place else None
        await self._notices.post(
            notice_id("spent", turn.id),
            plain_markdown(f"⏳ {turn.agent} does not answer: {refusal}."),
            room.id,
            [member] if member else room.listeners(),
            root=question.root,
            reply_to=MessageId(question.message.message_id),
        )
