"""Links between native ids and messages.

Links name channels and messages by numbers. `channel` is a ChannelRef's key, like a lane's id.
"""

from __future__ import annotations

from collections.abc import Sequence

from bridge.model import MessageId, Receipt
from bridge.store import numbers
from bridge.store.connection import Connection
from bridge.store.queries import read_queries

SQL = read_queries("links")
CHANNELS = read_queries("channels")  # their numbers


def link_said(
    db: Connection,
    channel: int,
    native_id: str,
    message: int,
    thread: str | None,
    at: float,
) -> None:
    """Link the original of a message in the channel of this number; `at` is seconds since 1970."""
    db.execute(SQL["link_said"], (channel, native_id, message, thread, at))


def link_copies(
    db: Connection,
    channel: str,
    number: int | None,
    message: int,
    receipts: Sequence[Receipt],
    now: float,
) -> None:
    """Link native copies of a message; of two copies in one slot the later replaces the earlier.
    `number`: of the channel, if it has one."""
    if not receipts:
        return
    if number is None:
        number = number_of(db, channel)
    for receipt in receipts:
        native_id, slot = receipt.native_id, receipt.slot
        columns = (number, native_id, message, slot, receipt.thread, receipt.deleted, now)
        db.execute(SQL["link_copy"], columns)
        if not receipt.deleted:
            db.execute(SQL["unlink_replaced"], (message, number, slot, native_id))


def note_gone(db: Connection, channel: str, native_id: str) -> None:
    """Note that somebody else deleted a copy."""
    db.execute(SQL["note_gone"], (channel, native_id))


def removed_by_us(db: Connection, message: MessageId, channel: str, native_id: str) -> bool:
    """Whether a copy's end is our own doing."""
    columns = (channel, native_id, message, channel)
    return db.execute(SQL["removed_by_us"], columns).fetchone() is not None


def resolve(db: Connection, channel: str, native_id: str) -> MessageId | None:
    """Return the message that this native id shows: an original, a copy, or a root's stand-in."""
    for query in ("resolve", "resolve_stand_in"):
        row = db.execute(SQL[query], (channel, native_id)).fetchone()
        if row is not None:
            return row[0]
    return None


def copies(db: Connection, message: MessageId, channel: str) -> tuple[Receipt, ...]:
    """Return the existing native copies, the original among them, by ascending slot."""
    rows = db.execute(SQL["copies"], (message, channel)).fetchall()
    return tuple(
        Receipt(slot=slot, native_id=native_id, thread=thread) for slot, native_id, thread in rows
    )


def number_of(db: Connection, channel: str) -> int:
    """The channel's number; given at its first link."""
    return numbers.asked(db, CHANNELS, channel)()
