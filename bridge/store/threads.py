"""Threads between platforms: below which native post the thread of a root goes on in a channel."""

from __future__ import annotations

from collections.abc import Sequence

from bridge.model import MessageId
from bridge.model.refs import native_id_in
from bridge.store.connection import Connection
from bridge.store.links import number_of
from bridge.store.queries import read_queries

SQL = read_queries("threads")


def link_stand_in(
    db: Connection, channel: str, native_id: str, root: MessageId, now: float
) -> None:
    """Note that this post stands for a thread root that is missing in the channel or deleted."""
    db.execute(SQL["link_stand_in"], (number_of(db, channel), native_id, root, now))


def root_in_channel(db: Connection, root: MessageId, channel: str) -> str | None:
    """Return the native id below which the thread of this root continues in a channel.

    That is the stand-in of a deleted root, else the root or its copy, else its stand-in, else where
    a copy was. A root that was never archived has its native id in the channel of its original.
    """
    row = db.execute(SQL["root_in_channel"], (root, channel)).fetchone()
    return native_id_in(channel, root) if row is None else row[0]


def live_threads(db: Connection, channel: str, since: float) -> Sequence[str]:
    rows = db.execute(SQL["live_threads"], (channel, since)).fetchall()
    return [thread for (thread,) in rows]
