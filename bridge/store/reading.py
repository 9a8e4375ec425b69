"""Rooms as API clients read them: pages, events, search; and the clients' tokens."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from bridge.errors import StoreError
from bridge.model import ActorId, MessageId
from bridge.model.api_records import ApiToken
from bridge.model.archive_records import (
    Page,
    Position,
    RoomEvent,
    Timeline,
)
from bridge.store import agents, archive, archive_rows, rooms
from bridge.store.connection import Connection, Rows
from bridge.store.conversations import conversation_of
from bridge.store.queries import read_queries

SQL = read_queries("reading")
_BEHIND_ALL = 2**62


def position(db: Connection, room: UUID) -> Position:
    row = db.execute(SQL["position"], (str(room),)).fetchone()
    return Position() if row is None else Position(*row)


def events_after(
    db: Connection, room: UUID, after: Position, limit: int, viewer: ActorId
) -> Sequence[RoomEvent]:
    """Return new messages first, then changes, so that a change finds its message known."""
    events: list[RoomEvent] = []
    at, viewer_json = after, json.dumps(viewer)
    values = (str(room), after.posted, viewer_json, limit)
    for seq, kind, *columns in db.execute(SQL["said_since"], values).fetchall():
        at = Position(seq, at.changed)
        events.append(RoomEvent(at, kind, archive_rows.stored(columns)))
    if len(events) == limit:
        return events
    changed = (str(room), after.changed, viewer_json, limit)
    for seq, kind, *columns in db.execute(SQL["changed_since"], changed).fetchall():
        at = Position(at.posted, seq)
        events.append(RoomEvent(at, kind, archive_rows.stored(columns)))
    return events


def page(db: Connection, room: UUID, limit: int, viewer: ActorId, before: int | None) -> Page:
    timeline = db.execute(archive.SQL["timeline"], (str(room),)).fetchone()
    if timeline is None:
        raise StoreError(f"There is no conversation {str(room)!r}")
    _, kind, name, metadata, created, updated = timeline
    rows = _newest(db, room, before, viewer, limit + 1).fetchall()
    entries = [
        (seq, archive_rows.stored(columns).message) for seq, *columns in reversed(rows[:limit])
    ]
    conversation = conversation_of(
        Timeline(room, kind, name, json.loads(metadata)),
        created,
        updated,
        [message for _, message in entries],
        agents.tools(db, room) if before is None and kind == "room" else None,
        rooms.facts_of(db, name) if kind == "room" else None,
    )
    return Page(conversation, entries[0][0] if entries else None, len(rows) > limit)


def _newest(db: Connection, room: UUID, before: int | None, viewer: ActorId, limit: int) -> Rows:
    behind = _BEHIND_ALL if before is None else before
    return db.execute(SQL["page"], (str(room), behind, json.dumps(viewer), limit))


def rooms_of(db: Connection, message: MessageId, viewer: ActorId) -> Sequence[UUID]:
    rows = db.execute(SQL["rooms_of_message"], (message, json.dumps(viewer))).fetchall()
    return [UUID(room) for (room,) in rows]


def put_token(db: Connection, token: ApiToken) -> None:
    rooms, scopes = json.dumps(token.rooms), json.dumps(token.scopes)
    columns = (token.name, token.digest, token.role, rooms, scopes)
    limits = (token.created, token.expires, token.per_minute, json.dumps(token.actors))
    db.execute(SQL["put_token"], (*columns, *limits))


def token(db: Connection, name: str) -> ApiToken | None:
    row = db.execute(SQL["token"], (name,)).fetchone()
    return None if row is None else _token(row)


def tokens(db: Connection) -> Sequence[ApiToken]:
    return [_token(columns) for columns in db.execute(SQL["tokens"]).fetchall()]


def _token(columns: Sequence[Any]) -> ApiToken:
    name, digest, role, rooms, scopes, *rest, actors = columns
    created, expires, per_minute = rest
    return ApiToken(
        name,
        digest,
        role,
        tuple(json.loads(rooms)),
        tuple(json.loads(scopes)),
        created,
        expires,
        per_minute,
        tuple(json.loads(actors)),
    )


def revoke_token(db: Connection, name: str) -> bool:
    return db.execute(SQL["revoke_token"], (name,)).rowcount > 0
