"""Reactions and pins as rows, and the operations that show them on the other platforms."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence

from pydantic import JsonValue

from bridge.model import (
    ActorId,
    AddReaction,
    ChannelRef,
    MessageId,
    NoteReactions,
    Operation,
    PinMessage,
    ReactionOrPin,
    RemoveReaction,
    UnpinMessage,
    channel_of_key,
)
from bridge.model.reaction_records import CurrentReaction, PinChange, ReactionChange
from bridge.store import chain, changes, links, outbox
from bridge.store.bodies import NOTHING, OPERATIONS
from bridge.store.connection import Connection
from bridge.store.queries import read_queries

SQL = read_queries("reactions")
_OPPOSITES: dict[type[Operation], type[Operation]] = {
    AddReaction: RemoveReaction,
    RemoveReaction: AddReaction,
    PinMessage: UnpinMessage,
    UnpinMessage: PinMessage,
    NoteReactions: NoteReactions,
}


def react(db: Connection, change: ReactionChange, now: float) -> None:
    number = standing(db, change.message)
    if number is None or not _happened(db, number, change):
        return
    show(db, number)
    chain.note_reactions(db, number, now)
    changes.note_change(db, change.message, "reacted")
    for operation in change.operations:
        if isinstance(operation, NoteReactions) or _is_news(db, number, change, operation):
            _queue(db, number, operation, now)


def standing(db: Connection, message: MessageId) -> int | None:
    """Return a message's number; None when it is not archived or was deleted."""
    row = db.execute(SQL["standing_message"], (message,)).fetchone()
    return None if row is None else row[0]


def _happened(db: Connection, number: int, change: ReactionChange) -> bool:
    """Whether a reaction stands now that did not before, or the other way round."""
    place = (change.channel.key, change.target)
    emoji, actor = change.emoji or "", change.actor or ""
    key = (number, emoji, *place, actor)
    cleared = (number, emoji, *place, change.time)
    if change.present and db.execute(SQL["cleared_since"], cleared).fetchone() is not None:
        return False
    before = db.execute(SQL["reacted_before"], key).fetchone()
    was_present = before is not None and bool(before[0])
    links.number_of(db, change.channel.key)
    applied = db.execute(SQL["react"], (*key, change.present, change.time)).rowcount
    return bool(applied) and was_present != change.present


def _is_news(
    db: Connection,
    number: int,
    change: ReactionChange,
    operation: AddReaction | RemoveReaction,
) -> bool:
    """Whether this was the first elsewhere, or the last."""
    seen_from = (number, change.emoji or "", operation.channel.key)
    (elsewhere,) = db.execute(SQL["reacted_elsewhere"], seen_from).fetchone()
    return elsewhere == (1 if change.present else 0)


def _queue(db: Connection, number: int, operation: ReactionOrPin, now: float) -> None:
    """Append it, unless one that waits says the opposite, and with it goes; or says the same."""
    rows = db.execute(SQL["waiting_marks"], (number, operation.lane)).fetchall()
    for own_id, body in rows:
        if makes_needless(OPERATIONS.read(body), operation):
            if not isinstance(operation, NoteReactions):
                db.execute(SQL["cancel_mark"], (now, own_id))
            return
    outbox.queue(db, operation, now)


def makes_needless(waiting: Operation, operation: ReactionOrPin) -> bool:
    """Tell whether a waiting operation cancels this one, or a waiting note will contain it
    anyway."""
    same_emoji = getattr(waiting, "emoji", None) == getattr(operation, "emoji", None)
    return isinstance(waiting, _OPPOSITES[type(operation)]) and same_emoji


def show(db: Connection, number: int) -> None:
    """Write the reactions beside the message, as its readers get them."""
    metadata = as_metadata(db.execute(SQL["reactions_of_number"], (number,)).fetchall())
    db.execute(SQL["show_reactions"], (json.dumps(metadata) if metadata else None, number))


def as_metadata(reactions: Iterable[tuple[str, str]]) -> list[JsonValue]:
    """Return the reactions as the message's metadata shows them; the rows are emoji and actor, in
    order."""
    actors: dict[str, dict[str, None]] = {}
    for emoji, actor in reactions:
        actors.setdefault(emoji, {})[actor] = None
    return [{"emoji": emoji, "actors": [*actor_ids]} for emoji, actor_ids in actors.items()]


def pin(db: Connection, change: PinChange, now: float) -> None:
    number = standing(db, change.message)
    if number is None:
        return
    before = db.execute(SQL["pinned_before"], (number,)).fetchone()
    was_pinned = before is not None and bool(before[0])
    columns = (number, change.pinned, change.actor, change.time)
    if db.execute(SQL["pin"], columns).rowcount and was_pinned != change.pinned:
        for operation in change.operations:
            _queue(db, number, operation, now)


def cancel(db: Connection, message: MessageId, now: float) -> None:
    """Cancel the waiting reactions and pins of a deleted message."""
    db.execute(SQL["cancel_marks"], (now, message))


def reactions(db: Connection, message: MessageId) -> Sequence[CurrentReaction]:
    rows = db.execute(SQL["reactions"], (message,)).fetchall()
    return [
        CurrentReaction(emoji, ActorId(actor), channel_of_key(channel), target, at)
        for emoji, actor, channel, target, at in rows
    ]


def pinned_by(db: Connection, message: MessageId) -> ActorId | None:
    row = db.execute(SQL["pinned_by"], (message,)).fetchone()
    return None if row is None else row[0]


def unshown_emoji(db: Connection, message: MessageId, channel: ChannelRef) -> Collection[str]:
    unshown: dict[str, bool] = {}
    for body, state, losses in db.execute(SQL["marks_in_lane"], (message, channel.reaction_lane)):
        operation = OPERATIONS.read(body)
        if isinstance(operation, AddReaction):
            unshown[operation.emoji] = state == "dead" or losses != NOTHING
    return {emoji for emoji, lost in unshown.items() if lost}
