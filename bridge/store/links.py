"""Native ids <-> messages: what was linked in, a message or its copies in a channel out.

Links name channels and messages by numbers. `channel` is a ChannelRef's key, as a lane's id is.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from bridge.model import MessageId, Receipt
from bridge.model.refs import native_id_in
from bridge.store.queries import read_queries

SQL = read_queries("links")


def link_said(
    db: sqlite3.Connection,
    channel: str,
    native_id: str,
    message: int,
    thread: str | None,
    at: float,
) -> None:
    """Note where the message of this number was said; `at` is seconds since 1970."""
    columns = (_number_of(db, channel), native_id, message, thread, at)
    db.execute(SQL["link_said"], columns)


def link_copies(
    db: sqlite3.Connection, channel: str, message: int, receipts: Sequence[Receipt], now: float
) -> None:
    """Note native copies of the message of this number; of two for one slot the later stands."""
    if not receipts:
        return
    number = _number_of(db, channel)
    for receipt in receipts:
        native_id, slot = receipt.native_id, receipt.slot
        columns = (number, native_id, message, slot, receipt.thread, receipt.deleted, now)
        db.execute(SQL["link_copy"], columns)
        if not receipt.deleted:
            db.execute(SQL["unlink_replaced"], (message, number, slot, native_id))


def note_gone(db: sqlite3.Connection, channel: str, native_id: str) -> None:
    """A copy was taken away by somebody else."""
    db.execute(SQL["note_gone"], (channel, native_id))


def removed_by_us(db: sqlite3.Connection, message: MessageId, channel: str, native_id: str) -> bool:
    """Whether a copy's end is our own doing."""
    columns = (channel, native_id, message, channel)
    return db.execute(SQL["removed_by_us"], columns).fetchone() is not None


def link_stand_in(
    db: sqlite3.Connection, channel: str, native_id: str, root: MessageId, now: float
) -> None:
    """Note that this post stands for a thread root that never came to the channel, or is gone."""
    db.execute(SQL["link_stand_in"], (_number_of(db, channel), native_id, root, now))


def resolve(db: sqlite3.Connection, channel: str, native_id: str) -> MessageId | None:
    """The message that this native id shows: said there, or our copy, or a root's stand-in."""
    for query in ("resolve", "resolve_stand_in"):
        row = db.execute(SQL[query], (channel, native_id)).fetchone()
        if row is not None:
            return row[0]
    return None


def copies(db: sqlite3.Connection, message: MessageId, channel: str) -> tuple[Receipt, ...]:
    """The native copies that stand, the original among them, by rising slot."""
    rows = db.execute(SQL["copies"], (message, channel)).fetchall()
    return tuple(
        Receipt(slot=slot, native_id=native_id, thread=thread) for slot, native_id, thread in rows
    )


def root_in_channel(db: sqlite3.Connection, root: MessageId, channel: str) -> str | None:
    """The native id below which the root's thread goes on: what stands instead of a root that is
    gone, else the root itself or a copy of it, else what stands for it, else where a copy was. A
    root that was never archived has its native id in the channel in which it was said."""
    row = db.execute(SQL["root_in_channel"], (root, channel)).fetchone()
    return native_id_in(channel, root) if row is None else row[0]


def live_threads(db: sqlite3.Connection, channel: str, since: float) -> Sequence[str]:
    rows = db.execute(SQL["live_threads"], (channel, since)).fetchall()
    return [thread for (thread,) in rows]


def _number_of(db: sqlite3.Connection, channel: str) -> int:
    """The channel's number; given at its first link."""
    row = db.execute(SQL["channel"], (channel,)).fetchone()
    if row is None:
        (row,) = db.execute(SQL["make_channel"], (channel,)).fetchall()
    return row[0]
