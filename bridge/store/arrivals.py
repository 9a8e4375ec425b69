"""A new message on its way into the archive: its row, its places, its words and its link in the
hash chain."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from bridge.model.admission import Admission
from bridge.model.archive_records import NewMessage, Timeline
from bridge.store import authors, chain, links, numbers, search
from bridge.store.bodies import MESSAGES, PEOPLE
from bridge.store.connection import Connection
from bridge.store.message_keys import key_of, stored_id
from bridge.store.moments import Moments
from bridge.store.queries import read_queries

SQL = read_queries("archive")


class Arrival:
    """One message and the timelines that it enters, in one transaction.

    What has to be known for it is asked at its creation, and read later: a server answers
    everything at once.

    `payload`: the native payload, where it comes in the same transaction; else the one of the
    admission's row is taken.
    """

    def __init__(
        self,
        db: Connection,
        admission: Admission,
        new: NewMessage,
        payload: bytes | None = None,
    ) -> None:
        self._db = db
        self._new = new
        self._payload = payload
        self._body = MESSAGES.write(new.message)
        self._author = PEOPLE.write(new.author)
        self._channel = None if new.place is None else new.place.channel.key
        self._audience = None if new.audience is None else json.dumps(new.audience)
        self._timelines = {timeline.id: timeline for timeline in admission.timelines}.values()
        self._moments = Moments(db)
        self._number = self._moment = -1  # once it is kept
        self._author_number = numbers.asked(db, authors.SQL, self._author)
        self._channel_number = (
            None if self._channel is None else numbers.asked(db, links.CHANNELS, self._channel)
        )
        self._near = self._moments.asked(new.time)
        self._next = db.execute(SQL["next_message"], (new.id,))
        own_ids = json.dumps([str(timeline.id) for timeline in self._timelines])
        self._known_timelines = db.execute(SQL["known_timelines"], (own_ids,))
        self._last_link = chain.last_asked(db, own_ids)
        self._kept_payload = (
            db.execute(SQL["payload_of_row"], (admission.row,))
            if payload is None and admission.row is not None
            else None
        )

    @property
    def is_whole(self) -> bool:
        """Whether it is said to its end; a growing answer is described then."""
        return self._new.state != "streaming"

    def keep(self, row: int | None, outcome: str) -> bool:
        """Write the message and the link to its original; False when it is archived already, and
        then nothing is written."""
        db, new = self._db, self._new
        ((self._number, is_known),) = self._next.fetchall()
        if is_known:
            return False
        thread = None if new.place is None else new.place.thread
        channel = None if self._channel_number is None else self._channel_number()
        self._moment = self._moments.take(new.time, self._near)
        db.execute(
            SQL["keep_message"],
            (
                self._number,
                key_of(new.id),
                stored_id(new.id, self._channel, new.native_id),
                self._body,
                self._author_number(),
                new.time,
                channel,
                thread,
                new.native_id,
                new.root,
                new.reply_to,
                self._audience,
                new.state,
                row,
                outcome,
                new.changed or None,
                self._moment,
            ),
        )
        if channel is not None and new.native_id is not None:
            links.link_said(db, channel, new.native_id, self._number, thread, new.time)
        return True

    def place(self) -> None:
        """Put the message at the end of its timelines."""
        for timeline in self._timelines:
            self._db.execute(SQL["grow_timeline"], timeline_columns(timeline, self._new.time))
            columns = (self._number, timeline.epoch, self._moment, str(timeline.id))
            self._db.execute(SQL["enter_timeline"], columns)

    def describe(self, now: float) -> None:
        """Index the words of the message and chain its state, once it has its places."""
        known = sorted(self._known_timelines.fetchall())
        if len(known) < len(self._timelines):  # some are new: they have their numbers only now
            search.index(self._db, self._number)
            chain.add(self._db, self._number, "added", now)
            return
        new = self._new
        own_ids = [own_id for _, own_id in known]
        words = search.document(
            self._body, self._author, new.root, new.audience, new.state, own_ids
        )
        search.add(self._db, self._moment, *words)
        if known:
            content = chain.Content.new(self._number, self._columns(), 0, self._native_payload())
            chain.add_new(self._db, known[0], self._last_link, content, now)

    def _columns(self) -> Sequence[Any]:
        """What the chain covers, as it is read from the rows again."""
        new = self._new
        thread = None if new.place is None else new.place.thread
        return (
            new.id, self._body, self._author, float(new.time), self._channel, thread,
            new.native_id, new.root, new.reply_to, self._audience, new.state,
        )  # fmt: skip

    def _native_payload(self) -> bytes | None:
        if self._kept_payload is None:
            return self._payload
        kept = self._kept_payload.fetchone()
        return None if kept is None else chain.payload_of(kept[0])


def timeline_columns(timeline: Timeline, time: float) -> Sequence[Any]:
    """Return a timeline as the statements take it that make it."""
    metadata = json.dumps(dict(timeline.metadata))
    return (str(timeline.id), timeline.kind, timeline.name, metadata, time, time)
