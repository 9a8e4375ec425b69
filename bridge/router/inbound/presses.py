"""Presses of buttons: told to the agent whose card it is, or done by the bridge itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from bridge.content.cards.interactions import SCHEMA_ID as INTERACTION
from bridge.content.cards.interactions import Interaction, WrongInput, told
from bridge.content.messages.metadata import BridgeMetadata, with_bridge_metadata
from bridge.content.text.tree import List, ListItem, Paragraph, Strong, Text
from bridge.model import (
    ActionPressed,
    MessageId,
    MessagePosted,
    OperationId,
    Person,
    TurnId,
    edit_of,
    message_id_of,
)
from bridge.model.archive_records import Change, NewMessage, StoredMessage
from bridge.model.refs import BRIDGE
from bridge.model.turn_records import NewTurn
from bridge.ports.cards import agent_of, hears_presses
from bridge.router.commands.hand_over import press_to_give_back
from bridge.router.inbound.context import Passage, Press, Surroundings
from bridge.router.rooms.programs import is_outside
from bridge.router.rooms.rooms import Room
from bridge.router.turns.answer import RETRY, asked_again
from bridge.router.turns.approvals import approval_of
from bridge.router.turns.handovers import GIVE_BACK
from bridge.router.turns.sessions import session_of
from bridge.uacs import Actor, JsonTree, Message, StructuredDataPart, TextPart, to_timestamp

_MOST_TOLD = 10  # inputs that are wrong
_LONGEST = 300  # characters of a label, and of what is wrong


async def press_heard(passage: Passage, event: ActionPressed, around: Surroundings) -> str | None:
    """None where it goes on as a message to its agent or program, else what came of it."""
    known = await around.resolve(event.place.channel, event.target)
    stored = await around.store.message(known) if known else None
    if stored is None:
        return "press: the message is not known"
    if not hears_presses(stored.message):
        return "press: nobody behind this bridge hears it"
    found = around.cards.interaction(stored.message, event.token, event.values)
    own_id = MessageId(stored.message.message_id)
    if approval_of(own_id):
        return await around.approvals.press(own_id, event, found, passage.row.raw.dedupe_key)
    if found is None:
        return "press: no such action"
    agent = agent_of(stored.message)
    if stored.message.actor.id == BRIDGE and found.id == GIVE_BACK:
        return await press_to_give_back(event, str(found.value), passage.rooms, around)
    if stored.message.actor.id == BRIDGE:
        return await around.told.retry(own_id)
    if agent is not None and found.id == RETRY:
        return await _ask_again(passage, event, stored, Press(found, agent), around)
    if wrong := _wrong_inputs(event, stored, found, around):
        return await _send_back(passage, event, own_id, wrong, around)
    passage.press = Press(found, agent)
    passage.event = _as_post(event, found, passage.row.raw.dedupe_key)
    return None


def _wrong_inputs(
    event: ActionPressed, stored: StoredMessage, found: Interaction, around: Surroundings
) -> list[WrongInput]:
    """Platforms tell the inputs that they showed, programs whatever they like."""
    all_told = is_outside(event.place.channel)
    return around.cards.wrong_inputs(stored.message, found, event.values, all_told=all_told)


async def _send_back(
    passage: Passage, event: ActionPressed, card: MessageId, wrong: Sequence[WrongInput],
    around: Surroundings,
) -> str:  # fmt: skip
    """Its author hears nothing of it; whoever pressed is told what each input says of it."""
    lines = [
        ListItem((Paragraph((Strong((Text(_short(one.label) or "?"),)),
                             Text(f": {_short(one.error)}"))),))
        for one in wrong[:_MOST_TOLD]
    ]  # fmt: skip
    words = Text("This was not sent. Change what is wrong, and send it again:")
    for room in passage.rooms:
        if room.member(event.place.channel):
            key = passage.row.raw.dedupe_key
            told = List(tuple(lines))
            await around.press_answers.say(event, key, room, card, (words,), told)
            break
    named = "; ".join(f"{one.asked.id or one.asked.at} {one.reason}" for one in wrong[:_MOST_TOLD])
    return f"press: wrong input: {named}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"


def turns_for(
    press: Press, rooms: Sequence[Room], asked: NewMessage | StoredMessage, around: Surroundings
) -> list[NewTurn]:
    """One turn, in the first of the rooms in which the agent sits. Programs read what was pressed
    among the room's events."""
    if press.agent is None:
        return []
    trigger = MessageId(asked.message.message_id)
    for room in rooms:
        if seat := room.seat(press.agent):
            session = session_of(seat, room.id, asked)
            return [NewTurn(TurnId(around.new_id()), seat.agent, room.id, trigger, session)]
    return []


async def _ask_again(
    passage: Passage, event: ActionPressed, failed: StoredMessage, press: Press,
    around: Surroundings,
) -> str:  # fmt: skip
    """The question of an answer that failed is asked once more; its button goes."""
    question = await around.store.message(MessageId(str(press.interaction.value)))
    if question is None:
        return "press: the question is not known"
    passage.turns = turns_for(press, passage.rooms, question, around)
    for room in passage.rooms:
        seat = room.seat(press.agent or "")
        if seat and await around.doors.refuses(seat, room, event.actor, event.place.channel):
            passage.turns = []
            return "press: not theirs to ask"
    if not passage.turns:
        return "press: the agent is not in the room any more"
    answer = MessageId(failed.message.message_id)
    posts = await around.store.posts_of(answer)
    edits = tuple(edit_of(post, OperationId(around.new_id())) for post in posts)
    message = around.cards.with_fallbacks(asked_again(failed.message))
    passage.changes.append(Change(message, "edited", event.time.timestamp(), edits))
    return "press: asked again"


def _as_post(event: ActionPressed, found: Interaction, key: str) -> MessagePosted:
    """The press as something that was said: the interaction, and a line that says the same."""
    message = Message(
        message_id=message_id_of(event.place.channel, f"press {key}"),
        timestamp=to_timestamp(event.time),
        actor=Actor(id=event.actor, role="human"),
        content=(
            StructuredDataPart(
                schema_id=INTERACTION, data=cast("JsonTree", found.model_dump(mode="json"))
            ),
            TextPart(text=f"pressed {told(found)}", format="plain"),
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
