"""Presses of buttons: each goes to the agent whose card it is, or is done by the bridge itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import cast

from bridge.content.cards.interactions import SCHEMA_ID as INTERACTION
from bridge.content.cards.interactions import Interaction, WrongInput, describe_interaction
from bridge.content.cards.reader import Cards
from bridge.content.messages.authors import agent_of, receives_presses
from bridge.content.messages.metadata import BridgeMetadata, with_bridge_metadata
from bridge.content.text.tree import List, ListItem, Paragraph, Strong, Text
from bridge.model import (
    ActionPressed,
    AnswerStopped,
    MessageId,
    MessagePosted,
    OperationId,
    Person,
    TurnId,
    edit_of,
    message_id_of,
)
from bridge.model.admission import Admission
from bridge.model.archive_records import Change, NewMessage, StoredMessage
from bridge.model.refs import BRIDGE
from bridge.model.turn_records import NewTurn
from bridge.ports.store.messages import MessageStore
from bridge.router.commands.hand_over import HandOverCommands
from bridge.router.commands.proposals import Proposals
from bridge.router.inbound.context import Admitted, Planned, Press, ended
from bridge.router.inbound.threads import canonical_id, canonical_root
from bridge.router.outbound.failures import DeliveryFailures
from bridge.router.outbound.notices import PressAnswers
from bridge.router.rooms.programs import is_outside
from bridge.router.rooms.rooms import Room
from bridge.router.turns.access import AgentAccess
from bridge.router.turns.answer import RETRY, asked_again
from bridge.router.turns.approvals import Approvals, approval_of
from bridge.router.turns.handovers import GIVE_BACK
from bridge.router.turns.proposals import INVITE, NO_THANKS
from bridge.router.turns.sessions import session_of
from bridge.uacs import Actor, JsonTree, Message, StructuredDataPart, TextPart, to_timestamp

_MOST_LISTED = 10  # inputs that are wrong
_LONGEST = 300  # characters of a label, and of what is wrong


@dataclass(frozen=True)
class StopAnswers:
    """The platform's own Stop ends the answers that it was pressed on, or those that are being
    written in its thread."""

    store: MessageStore

    async def __call__(self, admitted: Admitted) -> Admitted | Planned:
        event = admitted.event
        if not isinstance(event, AnswerStopped):
            return admitted
        if not event.targets and event.place.thread:
            root = await canonical_root(self.store, event.place)
            return Planned(admission=Admission("stop"), stopped_threads=((root, event.actor),))
        channel = event.place.channel
        answers = [await canonical_id(self.store, channel, target) for target in event.targets]
        stopped = tuple((answer, event.actor) for answer in answers if answer)
        return Planned(admission=Admission("stop"), stopped_answers=stopped)


@dataclass(frozen=True)
class ForwardPress:
    """Passes a press on, as a message that no channel shows, to the agent or program whose card it
    is; buttons of the bridge's own messages are its own to carry out."""

    store: MessageStore
    cards: Cards
    own_buttons: OwnButtons
    ask_again: AskAgain
    answers: PressAnswers

    async def __call__(self, admitted: Admitted) -> Admitted | Planned:
        event = admitted.event
        if not isinstance(event, ActionPressed):
            return admitted
        message_id = await canonical_id(self.store, event.place.channel, event.target)
        stored = await self.store.message(message_id) if message_id else None
        if stored is None:
            return ended("press: the message is not known")
        if not receives_presses(stored.message):
            return ended("press: nobody behind this bridge hears it")
        interaction = self.cards.interaction(stored.message, event.token, event.values)
        own_id = MessageId(stored.message.message_id)
        if self.own_buttons.asks_approval(own_id):
            return ended(await self.own_buttons.decide(own_id, event, interaction, admitted.key))
        if interaction is None:
            return ended("press: no such action")
        if stored.message.actor.id == BRIDGE:
            key, rooms = admitted.key, admitted.rooms
            return ended(await self.own_buttons.press(own_id, event, interaction, key, rooms))
        agent = agent_of(stored.message)
        if agent is not None and interaction.id == RETRY:
            return await self.ask_again.of(event, stored, Press(interaction, agent), admitted.rooms)
        if wrong := self._wrong_inputs(event, stored, interaction):
            return ended(await self._send_back(admitted, event, own_id, wrong))
        return replace(
            admitted,
            press=Press(interaction, agent),
            event=_as_post(event, interaction, admitted.key),
        )

    def _wrong_inputs(
        self, event: ActionPressed, stored: StoredMessage, interaction: Interaction
    ) -> list[WrongInput]:
        """Platforms name the inputs that they showed, programs whatever they like."""
        all_present = is_outside(event.place.channel)
        return self.cards.wrong_inputs(
            stored.message, interaction, event.values, all_present=all_present
        )

    async def _send_back(
        self, admitted: Admitted, event: ActionPressed, card: MessageId,
        wrong: Sequence[WrongInput],
    ) -> str:  # fmt: skip
        """The plan of an invalid form: its author gets nothing; the person who pressed gets the
        fault of each input."""
        faults = [
            ListItem((Paragraph((Strong((Text(_short(each.label) or "?"),)),
                                 Text(f": {_short(each.error)}"))),))
            for each in wrong[:_MOST_LISTED]
        ]  # fmt: skip
        words = Text("This was not sent. Change what is wrong, and send it again:")
        channel = event.place.channel
        room = next((room for room in admitted.rooms if room.member(channel)), None)
        if room is not None:
            fault_list = List(tuple(faults))
            await self.answers.post(event, admitted.key, room, card, (words,), fault_list)
        reasons = "; ".join(
            f"{each.field.id or each.field.at} {each.reason}" for each in wrong[:_MOST_LISTED]
        )
        return f"press: wrong input: {reasons}"


@dataclass(frozen=True)
class OwnButtons:
    """Buttons of messages that the bridge itself wrote."""

    approvals: Approvals
    handovers: HandOverCommands
    failures: DeliveryFailures
    proposals: Proposals

    def asks_approval(self, message: MessageId) -> bool:
        return bool(approval_of(message))

    async def decide(
        self, message: MessageId, event: ActionPressed, interaction: Interaction | None, key: str
    ) -> str:
        """Returns the outcome of a press on a request for approval."""
        return await self.approvals.press(message, event, interaction, key)

    async def press(
        self,
        message: MessageId,
        event: ActionPressed,
        interaction: Interaction,
        key: str,
        rooms: Sequence[Room],
    ) -> str:
        """Returns the outcome of a press on any other message of the bridge."""
        if interaction.id in (INVITE, NO_THANKS):
            return await self.proposals.press(message, event, interaction, key, rooms)
        if interaction.id == GIVE_BACK:
            return await self.handovers.press_to_give_back(event, str(interaction.value), rooms)
        return await self.failures.retry(message)


@dataclass(frozen=True)
class AskAgain:
    """Asks the question of an answer that failed once more."""

    store: MessageStore
    cards: Cards
    access: AgentAccess
    new_id: Callable[[], str]

    async def of(
        self, event: ActionPressed, failed: StoredMessage, press: Press, rooms: Sequence[Room]
    ) -> Planned:
        """The button of the answer goes."""
        question = await self.store.message(MessageId(str(press.interaction.value)))
        if question is None:
            return ended("press: the question is not known")
        turns = turns_for(press, rooms, question, self.new_id)
        for room in rooms:
            membership = room.membership(press.agent or "")
            channel = event.place.channel
            if membership and await self.access.refuses(membership, room, event.actor, channel):
                return ended("press: not theirs to ask")
        if not turns:
            return ended("press: the agent is not in the room any more")
        posts = await self.store.posts_of(MessageId(failed.message.message_id))
        edits = tuple(edit_of(post, OperationId(self.new_id())) for post in posts)
        message = self.cards.with_fallbacks(asked_again(failed.message))
        change = Change(message, "edited", event.time.timestamp(), edits)
        return Planned(admission=Admission("press: asked again", turns=turns, changes=(change,)))


def turns_for(
    press: Press, rooms: Sequence[Room], question: NewMessage | StoredMessage,
    new_id: Callable[[], str],
) -> tuple[NewTurn, ...]:  # fmt: skip
    """One turn, in the first of the rooms in which the agent sits. Programs read presses among the
    room's events."""
    if press.agent is None:
        return ()
    trigger = MessageId(question.message.message_id)
    for room in rooms:
        if membership := room.membership(press.agent):
            session = session_of(membership, room.id, question)
            turn = NewTurn(
                TurnId(new_id()), membership.agent, room.id, trigger, session,
                reason="somebody pressed a button of its",
            )  # fmt: skip
            return (turn,)
    return ()


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"


def _as_post(event: ActionPressed, interaction: Interaction, key: str) -> MessagePosted:
    """The press as a message: the interaction, and a line that says the same."""
    message = Message(
        message_id=message_id_of(event.place.channel, f"press {key}"),
        timestamp=to_timestamp(event.time),
        actor=Actor(id=event.actor, role="human"),
        content=(
            StructuredDataPart(
                schema_id=INTERACTION, data=cast("JsonTree", interaction.model_dump(mode="json"))
            ),
            TextPart(text=f"pressed {describe_interaction(interaction)}", format="plain"),
        ),
    )
    return MessagePosted(
        account=event.account,
        place=event.place,
        time=event.time,
        audience=event.audience,
        native_id=f"press {key}",
        message=with_bridge_metadata(message, BridgeMetadata(fallbacks={"0": (1,)})),
        author=Person(id=event.actor, name=""),
        reply_to=event.target,
        addresses_us=True,
    )
