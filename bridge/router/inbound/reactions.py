"""Reactions and pins: what people put on a message is put on it wherever it is shown."""

from __future__ import annotations

from collections.abc import Mapping

from bridge.content.text.emoji import one_emoji
from bridge.model import (
    AccountId,
    ActorId,
    AddReaction,
    MessageId,
    MessagePinned,
    MessageUnpinned,
    NoteReactions,
    OperationId,
    PinMessage,
    ReactionAdded,
    ReactionRemoved,
    ReactionsCleared,
    RemoveReaction,
    UnpinMessage,
)
from bridge.model.archive_records import StoredMessage
from bridge.model.reaction_records import PinChange, ReactionChange
from bridge.ports.connector import Connector, TakesReactions
from bridge.router.inbound.admission import named_author
from bridge.router.inbound.changes import orphaned
from bridge.router.inbound.context import Passage, Surroundings
from bridge.router.inbound.moderation import is_original, shares_pin
from bridge.router.outbound.notes import standing_note
from bridge.router.rooms.options import seen_event
from bridge.router.rooms.people import nameless
from bridge.router.rooms.rooms import Member, Room

_Marked = ReactionAdded | ReactionRemoved | ReactionsCleared | MessagePinned | MessageUnpinned
_STOP = frozenset({"🛑", "⏹️", "⏹"})  # whoever puts it on an answer that grows wants it to end
_DELETED = "kept: it happened to what is deleted"


async def mark_what_was_said(passage: Passage, around: Surroundings) -> str | None:
    """Reactions and pins count for the canonical message, whichever of its copies they are on; an
    older event never wins."""
    event = passage.event
    if not isinstance(event, _Marked):
        return None
    known = await around.store.resolve(event.place.channel, event.target)
    stored = await around.store.message(known) if known else None
    if stored is None:
        return orphaned(passage, event.place, event.target)
    if stored.state == "deleted":
        return _DELETED
    match event:
        case ReactionAdded() | ReactionRemoved():
            await _meet(passage, event.account, event.actor, around)
            await _react(passage, event, stored, around)
            if isinstance(event, ReactionAdded) and one_emoji(event.emoji) in _STOP:
                passage.stopped_answers.append((MessageId(stored.message.message_id), event.actor))
            return "reacted"
        case ReactionsCleared():
            await _clear(passage, event, stored, around)
            return "reactions cleared"
        case MessagePinned() | MessageUnpinned():
            return await _pin(passage, event, stored, around)


async def _meet(passage: Passage, account: AccountId, actor: ActorId, around: Surroundings) -> None:
    """Whoever reacts may never have said a word: notes shall know their name."""
    person, news = await around.people.complete(account, nameless(actor))
    if news:
        passage.people.append(person)


async def _react(
    passage: Passage,
    event: ReactionAdded | ReactionRemoved,
    stored: StoredMessage,
    around: Surroundings,
) -> None:
    emoji, present = one_emoji(event.emoji), isinstance(event, ReactionAdded)
    passage.reactions.append(
        ReactionChange(
            message=MessageId(stored.message.message_id),
            channel=event.place.channel,
            target=event.target,
            time=event.time.timestamp(),
            present=present,
            actor=event.actor,
            emoji=emoji,
            operations=await _shown_by(stored, event, emoji, around, present=present),
        )
    )


async def _clear(
    passage: Passage, event: ReactionsCleared, stored: StoredMessage, around: Surroundings
) -> None:
    """Each reaction that stands there goes, and one that is told of late stays away."""
    message, channel = MessageId(stored.message.message_id), event.place.channel
    emoji = one_emoji(event.emoji) if event.emoji else None
    time = event.time.timestamp()
    cleared = ReactionChange(message, channel, event.target, time, present=False, emoji=emoji)
    passage.reactions.append(cleared)
    for one in await around.store.reactions(message):
        there = (one.channel, one.target) == (channel, event.target)
        if there and emoji in (None, one.emoji):
            shown = await _shown_by(stored, event, one.emoji, around, present=False)
            passage.reactions.append(
                ReactionChange(
                    message, channel, one.target, time, present=False,
                    actor=one.actor, emoji=one.emoji, operations=shown,
                )
            )  # fmt: skip


async def _shown_by(
    stored: StoredMessage, event: _Marked, emoji: str, around: Surroundings, *, present: bool
) -> tuple[AddReaction | RemoveReaction | NoteReactions, ...]:
    """What shows a reaction in the other places of the message, should it be news there."""
    message = MessageId(stored.message.message_id)
    operations: list[AddReaction | RemoveReaction | NoteReactions] = []
    for room, member in await _places(stored, event, around):
        if member.options.reactions == "off":
            continue
        native = shows_natively(around.connectors, member, emoji)
        if native:
            operations.append(_as_our_bot(room, member, message, emoji, around, present=present))
        if not native or await standing_note(around.store, "reactions", message, member.channel):
            note = NoteReactions(
                id=OperationId(around.new_id()), account=member.account, channel=member.channel,
                room=room.id, message=message,
            )  # fmt: skip
            operations.append(note)
    return tuple(operations)


def _as_our_bot(
    room: Room, member: Member, message: MessageId, emoji: str, around: Surroundings,
    *, present: bool,
) -> AddReaction | RemoveReaction:  # fmt: skip
    kind = AddReaction if present else RemoveReaction
    return kind(
        id=OperationId(around.new_id()), account=member.account, channel=member.channel,
        room=room.id, message=message, emoji=emoji,
    )  # fmt: skip


def shows_natively(connectors: Mapping[AccountId, Connector], member: Member, emoji: str) -> bool:
    """Whether our bot shall try to react so in this channel."""
    connector = connectors.get(member.account)
    takes = isinstance(connector, TakesReactions) and connector.takes_reaction(emoji)
    return member.options.reactions == "native" and takes


async def _pin(
    passage: Passage,
    event: MessagePinned | MessageUnpinned,
    stored: StoredMessage,
    around: Surroundings,
) -> str:
    """The outcome: a pin of the original is put on every copy, one of a copy goes as far as the
    room's moderation says."""
    shared = await shares_pin(stored, event.place, event.target, around)
    places = [one for one in await _places(stored, event, around) if shared(*one)]
    message, pinned = MessageId(stored.message.message_id), isinstance(event, MessagePinned)
    if not places and not is_original(stored, event.place.channel, event.target):
        return "kept: a person pinned a copy" if pinned else "kept: a person unpinned a copy"
    await _meet(passage, event.account, event.actor, around)
    kind = PinMessage if pinned else UnpinMessage
    operations = [
        kind(
            id=OperationId(around.new_id()), account=member.account, channel=member.channel,
            room=room.id, message=message,
        )
        for room, member in places
    ]  # fmt: skip
    time = event.time.timestamp()
    passage.pins.append(PinChange(message, pinned, event.actor, time, tuple(operations)))
    return "pinned" if pinned else "unpinned"


async def _places(
    stored: StoredMessage, event: _Marked, around: Surroundings
) -> list[tuple[Room, Member]]:
    """Where else the message stands or will, the original among them: each channel once, as far as
    its room still shows such things there."""
    posts = await around.store.posts_of(MessageId(stored.message.message_id))
    rooms = [around.rooms.find(post.room) for post in posts]
    sieves = [member.options.sieve for room in rooms if room for member in room.members]
    seen = seen_event(event, await named_author(event, sieves, around))
    found: dict[str, tuple[Room, Member]] = {}
    said = (stored.place.channel,) if stored.place and stored.native_id else ()
    for post, room in zip(posts, rooms, strict=True):
        for member in room.listeners(besides=event.place.channel) if room else ():
            here = member.channel in (post.channel, *said)
            if room and here and not member.options.sieve.refuses(seen):
                found.setdefault(member.channel.key, (room, member))
    return list(found.values())
