"""Agents' turns as rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bridge.errors import StoreError
from bridge.model import MessageId, RoomId, TurnId
from bridge.model.turn_records import NewTurn, StoredTurn
from bridge.model.turns import TurnState
from bridge.store import engine
from bridge.store.connection import Connection
from bridge.store.queries import read_queries

SQL = read_queries("turns")


def queue(db: Connection, turn: NewTurn, now: float) -> None:
    try:
        db.execute(
            SQL["queue"],
            (
                *(turn.id, turn.agent, turn.room, turn.trigger),
                *([turn.origin or turn.trigger] * 2),
                *(turn.session, turn.origin or "", turn.called_by, now, now, turn.reason),
            ),
        )
    except engine.integrity_errors() as error:
        raise StoreError(f"Turn {turn.id!r} was not queued: its id is taken") from error


def is_known(db: Connection, turn: TurnId) -> bool:
    return db.execute(SQL["is_known"], (turn,)).fetchone() is not None


def was_called(db: Connection, agent: str, root: MessageId) -> bool:
    return db.execute(SQL["was_called"], (agent, root, agent, root)).fetchone() is not None


def last_answer(db: Connection, session: str, before: TurnId) -> MessageId | None:
    row = db.execute(SQL["last_answer"], (session, before)).fetchone()
    return None if row is None else MessageId(row[0])


def open_turns(db: Connection) -> Sequence[StoredTurn]:
    return [_stored(columns) for columns in db.execute(SQL["open_turns"]).fetchall()]


def turns_about(db: Connection, question: MessageId) -> Sequence[StoredTurn]:
    found = db.execute(SQL["turns_about"], (question, question)).fetchall()
    return [_stored(columns) for columns in found]


def turn(db: Connection, own_id: TurnId) -> StoredTurn | None:
    row = db.execute(SQL["turn"], (own_id,)).fetchone()
    return None if row is None else _stored(row)


def turns_of_room(db: Connection, room: RoomId, since: float, limit: int) -> Sequence[StoredTurn]:
    found = db.execute(SQL["turns_of_room"], (room, since, limit)).fetchall()
    return [_stored(columns) for columns in reversed(found)]


def _stored(columns: Sequence[Any]) -> StoredTurn:
    tool_called, answer, session, origin, called_by, error, reason = columns[7:]
    return StoredTurn(
        *columns[:7],
        tool_called=bool(tool_called),
        answer=answer,
        session=session,
        origin=origin or None,
        called_by=called_by,
        error=error,
        reason=reason,
    )


def set_turn(
    db: Connection,
    turn: TurnId,
    state: TurnState,
    tool_called: bool,
    answer: MessageId | None,
    error: str,
    now: float,
) -> None:
    changed = db.execute(SQL["set_turn"], (state, tool_called, answer, error, now, turn))
    if changed.rowcount == 0:
        raise StoreError(f"There is no turn {turn!r}")
