"""What catch-up and reconciliation read: expected messages, pins, and events on unknown
messages."""

from __future__ import annotations

from collections.abc import Sequence

from bridge.model import ActorId, ChannelRef, channel_of_key
from bridge.model.archive_records import ExpectedMessage, ExpectedPin, Orphan
from bridge.model.inbox_records import InboxRow
from bridge.store.connection import Connection
from bridge.store.inbox import row_of
from bridge.store.queries import read_queries

SQL = read_queries("catch_up")


def note_orphan(db: Connection, orphan: Orphan, now: float) -> None:
    columns = (orphan.channel.key, orphan.native_id, orphan.row, orphan.deletion, now)
    db.execute(SQL["note_orphan"], columns)


def orphans(db: Connection, since: float, limit: int) -> Sequence[Orphan]:
    rows = db.execute(SQL["orphans"], (since, limit)).fetchall()
    return [
        Orphan(channel_of_key(channel), native_id, row, bool(deletion))
        for channel, native_id, row, deletion in rows
    ]


def forget_orphans(db: Connection, before: float) -> None:
    db.execute(SQL["forget_orphans"], (before,))


def expected_messages(
    db: Connection, channel: ChannelRef, since: float, limit: int, thread: str | None
) -> Sequence[ExpectedMessage]:
    rows = db.execute(SQL["expected_messages"], (channel.key, since, thread, limit)).fetchall()
    return [
        ExpectedMessage(
            native_id, thread, message, is_original=kind == 0, at=at, changed=changed or 0.0
        )
        for native_id, thread, kind, at, changed, message in rows
    ]


def pins(db: Connection, channel: ChannelRef) -> Sequence[ExpectedPin]:
    rows = sorted(db.execute(SQL["pins"], (channel.key,)).fetchall())
    return [
        ExpectedPin(native_id, thread, message, bool(pinned), ActorId(actor), at)
        for native_id, thread, message, pinned, actor, at in rows
    ]


def inbox_row(db: Connection, row: int) -> InboxRow | None:
    columns = db.execute(SQL["row"], (row,)).fetchone()
    return None if columns is None else row_of(columns)
