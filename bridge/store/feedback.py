"""Feedback as rows, one for each person and answer, and as JSON beside the message."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence

from pydantic import JsonValue

from bridge.model import ActorId, MessageId, RoomId, Sense, channel_of_key
from bridge.model.times import datetime_of
from bridge.model.turn_records import GivenFeedback
from bridge.store import changes
from bridge.store.queries import read_queries
from bridge.store.reactions import standing
from bridge.uacs import to_timestamp

SQL = read_queries("feedback")


def give(db: sqlite3.Connection, one: GivenFeedback) -> None:
    number = standing(db, one.message)
    if number is None:
        return
    columns = (
        number, one.actor, one.sense, one.comment, one.time, one.channel.key, one.room, one.tells,
    )  # fmt: skip
    if db.execute(SQL["give"], columns).rowcount:
        shown = as_metadata(db.execute(SQL["of_message"], (number,)).fetchall())
        db.execute(SQL["show"], (json.dumps(shown), number))
        changes.note_change(db, one.message, "rated")


def as_metadata(given: Iterable[tuple[str, str, str, float]]) -> list[JsonValue]:
    """Actor, sense, comment and time of each, in order -> what the message's metadata says."""
    return [
        {
            "actor": actor,
            "sense": sense,
            **({"comment": comment} if comment else {}),
            "at": to_timestamp(datetime_of(at)),
        }
        for actor, sense, comment, at in given
    ]


def untold(db: sqlite3.Connection) -> Sequence[GivenFeedback]:
    return [_given(*columns) for columns in db.execute(SQL["untold"]).fetchall()]


def _given(
    message: str, actor: str, sense: Sense, comment: str, at: float, channel: str, room: str,
    tells: str,
) -> GivenFeedback:  # fmt: skip
    return GivenFeedback(
        MessageId(message), ActorId(actor), sense, comment, at, channel_of_key(channel),
        RoomId(room), tells,
    )  # fmt: skip


def told(db: sqlite3.Connection, one: GivenFeedback) -> None:
    db.execute(SQL["told"], (one.message, one.actor, one.time))
