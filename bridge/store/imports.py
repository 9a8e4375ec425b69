"""Messages of exports as rows, many in one statement; and the archive's channels as exports read
them."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Generic, TypeVar
from uuid import UUID

from pydantic import TypeAdapter

from bridge.content.text.look_alikes import skeleton
from bridge.model import ActorId, ChannelRef, MessageId, Place, conversation_id_of
from bridge.model.archive_records import Change, Timeline, channel_timeline, thread_timeline
from bridge.model.export_records import (
    ROOMS,
    ArchivedConversation,
    ArchivedMessage,
    ArchiveFilter,
    ArchivePage,
    ExportedChannel,
    ExportedMessage,
    ExportedPerson,
    ExportedReaction,
    ImportBatch,
    ImportCounts,
)
from bridge.model.refs import channel_of_key
from bridge.store import archive, authors, chain, links, payload_blocks, search
from bridge.store import rooms as of_rooms
from bridge.store.bodies import PEOPLE
from bridge.store.connection import Connection
from bridge.store.message_keys import key_of, stored_id
from bridge.store.moments import Moments, moment_at
from bridge.store.packing import unpack
from bridge.store.queries import read_queries
from bridge.store.reactions import as_metadata
from bridge.uacs import write

SQL = read_queries("imports")
_CHANNEL: TypeAdapter[ExportedChannel] = TypeAdapter(ExportedChannel)
_PERSON: TypeAdapter[ExportedPerson] = TypeAdapter(ExportedPerson)
_ENDLESS = 1 << 62
_Key = TypeVar("_Key")
_NUMBER = 12  # the column of `messages_of` that holds the number of the message


def imported_units(db: Connection, export: str) -> Mapping[str, str]:
    return dict(db.execute(SQL["imported_units"], (export,)).fetchall())


def add_imported(db: Connection, batch: ImportBatch, now: float) -> ImportCounts:
    _describe(db, batch)
    _save_people(db, batch)
    known = _known(db, batch.messages)
    new = {m.posted.message.message_id: m for m in batch.messages}
    added = [message for own_id, message in new.items() if own_id not in known]
    _add(db, added, batch.format, now)
    changed = sum(
        _change(db, message, known[own_id], batch.format, now)
        for own_id, message in new.items()
        if own_id in known
    )
    if (unit := batch.finished) is not None:
        db.execute(SQL["finish_unit"], (batch.export, unit.key, unit.fingerprint, now))
    return ImportCounts(len(added), changed, len(batch.messages) - len(added) - changed)


def _describe(db: Connection, batch: ImportBatch) -> None:
    described = [
        *(("channel", item.channel.key, _CHANNEL.dump_json(item)) for item in batch.channels),
        *(("person", item.person.id, _PERSON.dump_json(item)) for item in batch.people),
    ]
    db.executemany(SQL["describe"], described)


def _save_people(db: Connection, batch: ImportBatch) -> None:
    """People of a live platform keep what the platform says of them."""
    persons = {item.person.id: item.person for item in batch.people}
    for message in batch.messages:
        persons.setdefault(message.posted.author.id, message.posted.author)
    added = [(actor, PEOPLE.write(person)) for actor, person in persons.items()]
    db.executemany(SQL["add_person"], added)
    names = [(actor, skeleton(person.name)) for actor, person in persons.items()]
    db.executemany(SQL["add_name"], names)


# --- what is new ------------------------------------------------------------------------------


@dataclass
class _Timeline:
    """A conversation while a batch grows it."""

    id: str
    n: int
    length: int
    created: float
    updated: float

    @property
    def key(self) -> tuple[int, str]:
        """As the chain knows it."""
        return self.n, self.id

    def enter(self, time: float) -> int:
        """The place of one more message."""
        self.created = min(self.created, time) if self.length else time
        self.updated = max(self.updated, time) if self.length else time
        self.length += 1
        return self.length


def _add(db: Connection, added: Sequence[ExportedMessage], form: str, now: float) -> None:
    moments, timelines, chains = Moments(db), _Timelines(db), chain.Chains(db)
    channels = _Numbers(db, links.number_of)
    persons = _Numbers(db, authors.number_of)
    ((number, _),) = db.execute(SQL["reserve_numbers"], (len(added),)).fetchall()
    rows: list[tuple[Any, ...]] = []
    link_rows: list[tuple[Any, ...]] = []
    payloads: list[payload_blocks.Payload] = []
    entries: list[tuple[Any, ...]] = []
    reactions: list[tuple[Any, ...]] = []
    documents: list[tuple[Any, ...]] = []
    for exported in added:
        number += 1
        posted = exported.posted
        place, time = posted.place, posted.time.timestamp()
        moment = moments.take(time)
        columns = _message_columns(exported, time)
        own_id, body, author, _, channel, *others = columns
        place_number = channels.of(channel)
        stored = (number, key_of(own_id), stored_id(own_id, channel, posted.native_id), body)
        shown = (moment, _reactions_json(exported))
        rows.append((*stored, persons.of(author), time, place_number, *others, *shown))
        link_rows.append((place_number, posted.native_id, number, place.thread, time))
        payloads.append((form, exported.payload))
        root, _ = exported.relations()
        entered = timelines.of(place, root)
        entries += ((timeline.n, timeline.enter(time), number, moment) for timeline in entered)
        words = _document(columns, exported, root, entered)
        documents.append((moment, *search.as_indexed(db, *words)))
        own_reactions = list(_reaction_rows(exported, time))
        reactions += _numbered(number, place_number, own_reactions)
        if exported.pinned:
            db.execute(SQL["add_pin"], (number, posted.author.id, time))
        former = [write(version.message) for version in exported.versions]
        edits = zip(exported.versions, former, strict=True)
        for version, (edit, former_body) in enumerate(edits, 1):
            version_row = (number, version, former_body, edit.at, exported.editor)
            db.execute(SQL["add_version"], version_row)
        chains.add_new(
            min(entered, key=lambda timeline: timeline.n).key,
            chain.Content.new(number, columns, len(former), exported.payload),
            former,
            chain.reactions_of(own_reactions),
            now,
        )
    db.executemany(SQL["add_message"], rows)
    db.executemany(SQL["add_link"], link_rows)
    payload_blocks.add(db, number - len(added) + 1, payloads)
    db.executemany(SQL["enter_timeline"], entries)
    db.executemany(SQL["add_reaction"], reactions)
    db.executemany(search.SQL["add"], documents)
    timelines.save()
    chains.save()


class _Numbers(Generic[_Key]):
    """The numbers of channels or authors, each looked up once."""

    def __init__(self, db: Connection, number_of: Callable[[Connection, _Key], int]) -> None:
        self._db = db
        self._number_of = number_of
        self._known: dict[_Key, int] = {}

    def of(self, key: _Key) -> int:
        number = self._known.get(key)
        if number is None:
            number = self._known[key] = self._number_of(self._db, key)
        return number


def _document(
    columns: Sequence[Any],
    exported: ExportedMessage,
    root: str | None,
    entered: Sequence[_Timeline],
) -> tuple[str, str]:
    _, body, author, *_ = columns
    own_ids = [timeline.id for timeline in entered]
    state = "deleted" if exported.deleted else "edited" if exported.posted.edited_at else "complete"
    return search.document(body, author, root, exported.posted.audience, state, own_ids)


def _message_columns(exported: ExportedMessage, time: float) -> tuple[Any, ...]:
    posted = exported.posted
    place = posted.place
    edited = posted.edited_at
    state = "deleted" if exported.deleted else "edited" if edited else "complete"
    return (
        posted.message.message_id,
        write(posted.message),
        PEOPLE.write(posted.author),
        time,
        place.channel.key,
        place.thread,
        posted.native_id,
        *exported.relations(),
        None if posted.audience is None else json.dumps(posted.audience),
        state,
        edited.timestamp() if edited else None,
    )


def _reactions_json(exported: ExportedMessage) -> str | None:
    """The reactions as the message's readers get them."""
    if not exported.reactions:
        return None
    pairs = sorted((reaction.emoji, str(reaction.actor)) for reaction in exported.reactions)
    return json.dumps(as_metadata(pairs))


def _reaction_rows(exported: ExportedMessage, time: float) -> Iterable[tuple[Any, ...]]:
    """Emoji, channel, target, actor and time; a reaction without a time has that of its message."""
    channel, target = exported.posted.place.channel.key, exported.posted.native_id
    for reaction in exported.reactions:
        at = time if reaction.at is None else reaction.at
        yield (reaction.emoji, channel, target, reaction.actor, at)


def _numbered(
    message: int, channel: int, reactions: Iterable[tuple[Any, ...]]
) -> Iterable[tuple[Any, ...]]:
    for emoji, _, target, actor, at in reactions:
        yield (message, emoji, channel, target, actor, at)


class _Timelines:
    """The conversations of a batch, read and saved once each."""

    def __init__(self, db: Connection) -> None:
        self._db = db
        self._found: dict[UUID, _Timeline] = {}
        self._of: dict[tuple[Place, str | None], tuple[_Timeline, ...]] = {}

    def of(self, place: Place, root: MessageId | None) -> tuple[_Timeline, ...]:
        """The conversation of the channel, and that of the thread."""
        key = (place, root)
        if (known := self._of.get(key)) is not None:
            return known
        needed = [channel_timeline(place.channel)]
        if place.thread and root:
            needed.append(thread_timeline(place, root))
        found = self._of[key] = tuple(map(self._open, needed))
        return found

    def save(self) -> None:
        rows = [(t.length, t.created, t.updated, t.n) for t in self._found.values()]
        self._db.executemany(SQL["grow_timeline"], rows)

    def _open(self, timeline: Timeline) -> _Timeline:
        if (known := self._found.get(timeline.id)) is not None:
            return known
        row: tuple[int, int, float, float] | None
        row = self._db.execute(SQL["timeline"], (str(timeline.id),)).fetchone()
        if row is None:
            columns = (str(timeline.id), timeline.kind, timeline.name)
            metadata = json.dumps(dict(timeline.metadata))
            made = self._db.execute(SQL["make_timeline"], (*columns, metadata, 0.0, 0.0))
            ((n,),) = made.fetchall()
            row = (n, 0, 0.0, 0.0)
        self._found[timeline.id] = _Timeline(str(timeline.id), *row)
        return self._found[timeline.id]


# --- what was there ---------------------------------------------------------------------------


@dataclass(frozen=True)
class _Known:
    """A message that the store has."""

    n: int
    state: str
    changed: float
    reactions: str | None
    imported: bool


def _known(db: Connection, messages: Sequence[ExportedMessage]) -> Mapping[str, _Known]:
    ids = json.dumps([m.posted.message.message_id for m in messages], ensure_ascii=False)
    return {
        own_id: _Known(n, state, changed or 0.0, reactions, outcome == "imported")
        for own_id, n, state, changed, reactions, outcome in db.execute(SQL["known"], (ids,))
    }


def _change(
    db: Connection, exported: ExportedMessage, known: _Known, form: str, now: float
) -> bool:
    """Take over what is newer. Returns whether anything changed."""
    if known.state == "deleted":
        return False
    posted = exported.posted
    edited = posted.edited_at.timestamp() if posted.edited_at else 0.0
    changed = False
    if exported.deleted or edited > known.changed:
        state = "deleted" if exported.deleted else "edited"
        if known.imported:
            payload_blocks.replace(db, known.n, (form, exported.payload))
        change = Change(posted.message, state, edited or posted.time.timestamp())
        archive.change_later(db, replace(change, actor=exported.editor), now)
        changed = True
    if known.imported and (reactions_json := _reactions_json(exported)) != known.reactions:
        db.execute(SQL["forget_reactions"], (known.n,))
        rows = _reaction_rows(exported, posted.time.timestamp())
        place_number = links.number_of(db, posted.place.channel.key)
        db.executemany(SQL["add_reaction"], _numbered(known.n, place_number, rows))
        db.execute(SQL["show_reactions"], (reactions_json, known.n))
        chain.note_reactions(db, known.n, now)
        changed = True
    return changed


# --- reading ----------------------------------------------------------------------------------


def archived_people(db: Connection) -> Sequence[ExportedPerson]:
    described = dict(db.execute(SQL["descriptions"], ("person",)))
    return [
        _PERSON.validate_json(described[actor])
        if actor in described
        else ExportedPerson(PEOPLE.read(body))
        for actor, body in db.execute(SQL["people"])
    ]


def archived_conversations(db: Connection) -> Sequence[ArchivedConversation]:
    described = dict(db.execute(SQL["descriptions"], ("channel",)))
    lengths: dict[str, int] = dict(db.execute(SQL["channels"]))
    members: dict[str, list[str]] = {}
    for room, member in db.execute(SQL["members"]):
        members.setdefault(room, []).append(member)
    rooms: list[ArchivedConversation] = []
    for room, own_id, length in db.execute(SQL["rooms"]):
        keys = [member for member in members.pop(room, ()) if lengths.get(member)]
        if length or keys:
            channel = ChannelRef(platform=ROOMS[0], workspace=ROOMS[1], channel=room)
            timelines = (UUID(own_id), *map(_timeline_of, keys))
            exported = ExportedChannel(channel, room, "room", facts=of_rooms.facts_of(db, room))
            rooms.append(ArchivedConversation(exported, timelines))
        for key in keys:
            lengths.pop(key)
    return [
        *rooms,
        *(
            ArchivedConversation(_described(key, described.get(key)), (_timeline_of(key),))
            for key, length in lengths.items()
            if length
        ),
    ]


def _timeline_of(key: str) -> UUID:
    return conversation_id_of(Place(channel=channel_of_key(key)))


def _described(key: str, description: bytes | None) -> ExportedChannel:
    if description is not None:
        return _CHANNEL.validate_json(description)
    channel = channel_of_key(key)
    return ExportedChannel(channel, channel.channel)


def archived_messages(
    db: Connection,
    timelines: Sequence[UUID],
    selection: ArchiveFilter,
    after: int | None,
    limit: int,
) -> ArchivePage:
    first = -_ENDLESS if selection.since is None else moment_at(selection.since) - 1
    values = (
        first if after is None else after,
        _ENDLESS if selection.until is None else moment_at(selection.until),
        selection.deleted,
        json.dumps(selection.readers, ensure_ascii=False),
        limit,
    )
    by_moment: dict[int, Sequence[Any]] = {}
    for timeline in timelines:
        for row in db.execute(SQL["messages_of"], (str(timeline), *values)):
            by_moment[row[0]] = row
    moments = sorted(by_moment)[:limit]
    numbers = [by_moment[moment][_NUMBER] for moment in moments]
    reactions = _reactions(db, numbers)
    payloads = payload_blocks.payloads_of(db, numbers, selection.payloads)
    messages = tuple(_archived(by_moment[moment], reactions, payloads) for moment in moments)
    return ArchivePage(messages, moments[-1] if len(moments) == limit else None)


def archived(db: Connection, ids: Collection[MessageId]) -> Mapping[MessageId, ArchivedMessage]:
    id_list = json.dumps(list(ids), ensure_ascii=False)
    rows = db.execute(SQL["messages_with_ids"], (id_list,)).fetchall()
    reactions = _reactions(db, [row[_NUMBER] for row in rows])
    return {row[0]: _archived(row, reactions, {}) for row in rows}


def _archived(
    row: Sequence[Any],
    reactions: Mapping[int, Sequence[ExportedReaction]],
    imported: Mapping[int, payload_blocks.Payload],
) -> ArchivedMessage:
    (
        _, body, author, time, channel, thread, native_id, root, reply_to, state, changed, audience,
        n, kind, live, pinned, versions, editor, epoch,
    ) = row  # fmt: skip
    payload = None if live is None else unpack(live)
    if n in imported:
        kind, payload = imported[n]
    return ArchivedMessage(
        body=body,
        author_body=author,
        time=time,
        place=None if channel is None else _place(channel, thread),
        native_id=native_id,
        root=root,
        reply_to=reply_to,
        edited_at=changed,
        editor=editor,
        versions=versions,
        deleted=state == "deleted",
        audience=None if audience is None else tuple(json.loads(audience)),
        pinned=bool(pinned),
        epoch=epoch,
        reactions=tuple(reactions.get(n, ())),
        payload=payload,
        payload_kind=kind,
    )


@lru_cache(maxsize=4096)  # a page has few places
def _place(channel: str, thread: str | None) -> Place:
    return Place(channel=channel_of_key(channel), thread=thread)


def _reactions(db: Connection, numbers: Sequence[int]) -> Mapping[int, Sequence[ExportedReaction]]:
    found: dict[int, list[ExportedReaction]] = {}
    for n, emoji, actor, at in db.execute(SQL["reactions_of"], (json.dumps(numbers),)):
        found.setdefault(n, []).append(ExportedReaction(emoji, ActorId(actor), at))
    return found
