"""Who accepts direct messages from other platforms, and who writes to whom, as rows."""

from __future__ import annotations

from collections.abc import Sequence

from bridge.model import ActorId, channel_of_key
from bridge.model.room_records import DirectEnd
from bridge.store.connection import Connection
from bridge.store.queries import read_queries

SQL = read_queries("directs")


def put_end(db: Connection, end: DirectEnd) -> None:
    db.execute(SQL["put_end"], (end.actor, end.room, end.account, end.channel.key, end.at))


def remove_ends(db: Connection, actor: ActorId) -> bool:
    return db.execute(SQL["remove_ends"], (actor,)).rowcount > 0


def ends(db: Connection) -> Sequence[DirectEnd]:
    return [
        DirectEnd(actor, account, channel_of_key(channel), room, at)
        for actor, account, channel, room, at in db.execute(SQL["ends"]).fetchall()
    ]


def put_pair(db: Connection, first: ActorId, second: ActorId) -> None:
    db.execute(SQL["put_pair"], tuple(sorted((first, second))))


def pairs(db: Connection) -> Sequence[tuple[ActorId, ActorId]]:
    return [(first, second) for first, second in db.execute(SQL["pairs"]).fetchall()]
