"""Presses on cards that propose agents: whoever asked the question may decide, and whoever operates
the room's agents. An invited agent answers the question for which it was proposed, and the
conversation is handed over to it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from typing import Protocol

from bridge.content.cards.interactions import Interaction
from bridge.content.text.globs import any_matches
from bridge.content.text.tree import Text
from bridge.errors import BridgeError
from bridge.model import ActionPressed, ActorId, MessageId, RoomId, TurnId
from bridge.model.admission import Admission
from bridge.model.archive_records import StoredMessage
from bridge.model.turn_records import NewTurn
from bridge.ports.store.admissions import AdmissionStore
from bridge.ports.store.messages import MessageStore
from bridge.ports.store.people import PeopleStore
from bridge.router.commands.channels import Linker
from bridge.router.commands.command import may_operate
from bridge.router.outbound.notices import Notices, PressAnswers, plain_markdown
from bridge.router.rooms.accounts import all_accounts
from bridge.router.rooms.people import People
from bridge.router.rooms.rooms import Room, Rooms
from bridge.router.turns.floor import Floor
from bridge.router.turns.handovers import HandOvers
from bridge.router.turns.proposals import NO_THANKS, question_of
from bridge.router.turns.queue import TurnQueue
from bridge.router.turns.sessions import session_of, spot_of


class _ProposalsStore(AdmissionStore, MessageStore, PeopleStore, Protocol):
    """What `Proposals` needs of the store."""


class Proposals:
    """Takes people's decisions about agents that were proposed; the first one counts."""

    def __init__(
        self,
        store: _ProposalsStore,
        rooms: Rooms,
        people: People,
        notices: Notices,
        answers: PressAnswers,
        linker: Linker,
        hand_overs: HandOvers,
        floor: Floor,
        queue: TurnQueue,
        new_id: Callable[[], str],
        admins: Collection[str],
    ) -> None:
        self._store = store
        self._rooms = rooms
        self._people = people
        self._notices = notices
        self._answers = answers
        self._linker = linker
        self._hand_overs = hand_overs
        self._floor = floor
        self._queue = queue
        self._new_id = new_id
        self._admins = tuple(admins)
        self._deciding = asyncio.Lock()

    async def press(
        self, card: MessageId, event: ActionPressed, interaction: Interaction, key: str,
        rooms: Sequence[Room],
    ) -> str:  # fmt: skip
        """Take a press on a card. Returns the outcome. Raises StoreError."""
        question = await self._store.message(question_of(card))
        if not rooms or question is None:
            return "press: the question is not known"
        room = rooms[0]
        if not await self._may(room, question, event.actor):
            await self._answer(event, key, room, card, "Only who asked, or an admin, may decide.")
            return "press: not theirs to decide"
        async with self._deciding:
            stored = await self._store.message(card)
            if stored is None or len(stored.message.content) == 1:  # its buttons are gone
                return "press: it is decided"
            name = await self._people.stored_name(event.actor)
            if interaction.id == NO_THANKS:
                await self._decided(card, f"🤝 {name} said: no, thanks.")
                return "press: nobody is invited"
            try:
                invited = await self._linker.invite(room.id, str(interaction.value))
            except BridgeError as error:
                await self._answer(event, key, room, card, error.public)
                return f"press: not invited: {error}"
            await self._decided(card, f"🤝 {name} invited {invited.name}.")
        await self._hand_over(room.id, invited.name, question, event.actor)
        return f"press: {invited.name} is invited"

    async def _hand_over(
        self, room_id: RoomId, agent: str, question: StoredMessage, by: ActorId
    ) -> None:
        """The agent answers the question, and what is said after it."""
        room = self._rooms.by_id[room_id]
        membership = room.membership(agent)
        if membership is None:
            return
        await self._floor.happens(room, ActorId(f"agent:{agent}"), "invite")
        await self._hand_overs.assign(room, spot_of(membership, question), agent, by)
        turn = NewTurn(
            TurnId(self._new_id()), agent, room.id, MessageId(question.message.message_id),
            session_of(membership, room.id, question),
            reason="it was proposed, and invited for this",
        )  # fmt: skip
        await self._store.admit(Admission(outcome="invited", turns=(turn,)))
        await self._queue.take(turn)

    async def _may(self, room: Room, question: StoredMessage, actor: ActorId) -> bool:
        if may_operate(room, actor, self._admins):
            return True
        accounts = await all_accounts(self._store, actor)
        return question.author.id in accounts or any_matches(self._admins, accounts)

    async def _decided(self, card: MessageId, text: str) -> None:
        await self._notices.change(card, plain_markdown(text))

    async def _answer(
        self, event: ActionPressed, key: str, room: Room, card: MessageId, text: str
    ) -> None:
        await self._answers.post(event, key, room, card, (Text(text),))
