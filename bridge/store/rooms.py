"""Decisions about rooms and the epochs of their configuration, as rows."""

from __future__ import annotations

import json
from collections.abc import Sequence

from bridge.model import ActorId, RoomId, channel_of_key
from bridge.model.room_records import (
    Ban,
    BanReason,
    Membership,
    RoomFacts,
    RoomForm,
    RoomLink,
    RoomPause,
    RoomStanding,
)
from bridge.store.connection import Connection
from bridge.store.queries import read_queries

SQL = read_queries("rooms")


def put_ban(db: Connection, ban: Ban) -> None:
    db.execute(SQL["put_ban"], (ban.room or "", ban.actor, ban.reason, ban.by, ban.at))


def remove_ban(db: Connection, room: RoomId | None, actor: ActorId, reason: BanReason) -> bool:
    return db.execute(SQL["remove_ban"], (room or "", actor, reason)).rowcount > 0


def bans(db: Connection) -> Sequence[Ban]:
    rows = db.execute(SQL["bans"]).fetchall()
    return [Ban(actor, reason, by, at, room or None) for room, actor, reason, by, at in rows]


def pause(db: Connection, paused: RoomPause) -> None:
    db.execute(SQL["pause"], (paused.room, paused.reason, paused.by, paused.at, paused.until))


def resume(db: Connection, room: RoomId) -> bool:
    return db.execute(SQL["resume"], (room,)).rowcount > 0


def paused(db: Connection) -> Sequence[RoomPause]:
    return [RoomPause(*columns) for columns in db.execute(SQL["paused"]).fetchall()]


def link(db: Connection, room_link: RoomLink) -> None:
    columns = (
        room_link.room,
        room_link.channel.key,
        room_link.account,
        room_link.linked,
        room_link.by,
        room_link.at,
    )
    db.execute(SQL["link"], columns)


def links(db: Connection) -> Sequence[RoomLink]:
    return [
        RoomLink(room, account, channel_of_key(channel), bool(linked), by, at)
        for room, channel, account, linked, by, at in db.execute(SQL["links"]).fetchall()
    ]


def stand_all(db: Connection, forms: Sequence[RoomForm], now: float) -> Sequence[RoomStanding]:
    """Begin a new epoch for each room whose configuration has changed. Of rooms that did not change
    nothing is written, and all are read together."""
    stored = _Stored(db, json.dumps([form.room for form in forms]))
    return [_stand(db, form, stored, now) for form in forms]


class _Stored:
    """What is stored of some rooms (a JSON list of their names)."""

    def __init__(self, db: Connection, rooms: str) -> None:
        self.epochs: dict[str, tuple[int, str]] = {
            room: (epoch, digest)
            for room, epoch, digest in db.execute(SQL["newest_epochs"], (rooms,)).fetchall()
        }
        self.joined: dict[str, dict[str, float]] = {}  # of each room that ever had members
        for room, member, joined, left in db.execute(SQL["periods"], (rooms,)).fetchall():
            members = self.joined.setdefault(room, {})
            if not left:
                members[member] = joined
        self.metadata: dict[str, str] = dict(
            db.execute(SQL["metadata_of_rooms"], (rooms,)).fetchall()
        )


def _stand(db: Connection, form: RoomForm, stored: _Stored, now: float) -> RoomStanding:
    epoch, digest = stored.epochs.get(form.room, (0, None))
    if digest != form.digest:
        epoch += 1
        db.execute(SQL["begin_epoch"], (form.room, epoch, form.digest, now))
    first = form.room not in stored.joined
    joined_before = stored.joined.get(form.room, {})
    for left in joined_before.keys() - set(form.members):
        db.execute(SQL["leave"], (epoch, form.room, left))
    joined = {member: joined_before.get(member, 0.0 if first else now) for member in form.members}
    for new in joined.keys() - joined_before.keys():
        db.execute(SQL["enter"], (form.room, new, joined[new], 0 if first else epoch))
    metadata = json.dumps(dict(form.metadata))
    if metadata != stored.metadata.get(form.room, "{}"):
        db.execute(SQL["put_metadata"], (form.room, metadata))
    return RoomStanding(epoch, joined)


def facts_of(db: Connection, room: str) -> RoomFacts:
    """Return what the Conversation of a room says beside its messages."""
    row = db.execute(SQL["metadata"], (room,)).fetchone()
    memberships = db.execute(SQL["memberships"], (room,)).fetchall()
    return RoomFacts(
        {} if row is None else json.loads(row[0]),
        tuple(
            Membership(member, joined, left, name, topic or None)
            for member, joined, left, name, topic in memberships
        ),
    )
