"""Feedback as rows, one for each person and answer, and as JSON beside the message."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from pydantic import JsonValue

from bridge.model import ActorId, MessageId, RoomId, Sense, channel_of_key
from bridge.model.times import datetime_of
from bridge.model.turn_records import MessageRating
from bridge.store import changes
from bridge.store.connection import Connection
from bridge.store.queries import read_queries
from bridge.store.reactions import standing
from bridge.uacs import to_timestamp

SQL = read_queries("feedback")


def give(db: Connection, item: MessageRating) -> None:
    number = standing(db, item.message)
    if number is None:
        return
    columns = (
        number, item.actor, item.sense, item.comment, item.time, item.channel.key, item.room,
        item.pending_agent,
    )  # fmt: skip
    if db.execute(SQL["give"], columns).rowcount:
        show(db, number)
        changes.note_change(db, item.message, "rated")


def show(db: Connection, number: int) -> None:
    """Write the feedback beside the message, as its readers get it."""
    metadata = as_metadata(db.execute(SQL["of_message"], (number,)).fetchall())
    db.execute(SQL["show"], (json.dumps(metadata) if metadata else None, number))


def as_metadata(rows: Iterable[tuple[str, str, str, float]]) -> list[JsonValue]:
    """Actor, sense, comment and time of each, in order -> what the message's metadata says."""
    return [
        {
            "actor": actor,
            "sense": sense,
            **({"comment": comment} if comment else {}),
            "at": to_timestamp(datetime_of(at)),
        }
        for actor, sense, comment, at in rows
    ]


def undelivered(db: Connection) -> Sequence[MessageRating]:
    return [_feedback(*columns) for columns in db.execute(SQL["undelivered"]).fetchall()]


def _feedback(
    message: str, actor: str, sense: Sense, comment: str, at: float, channel: str, room: str,
    pending_agent: str,
) -> MessageRating:  # fmt: skip
    return MessageRating(
        MessageId(message), ActorId(actor), sense, comment, at, channel_of_key(channel),
        RoomId(room), pending_agent,
    )  # fmt: skip


def set_delivered(db: Connection, item: MessageRating) -> None:
    db.execute(SQL["set_delivered"], (item.message, item.actor, item.time))
