"""Messages, people and timelines as rows: admissions in, archived records out."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

from bridge.errors import StoreError
from bridge.model import ActorId, MessageId, Operation, Person, Raw, RoomId
from bridge.model.admission import Admission, Admitted, AdmittedRow
from bridge.model.archive_records import (
    Change,
    HistoryPiece,
    MessageState,
    Position,
    Relation,
    StoredMessage,
    Timeline,
    View,
)
from bridge.model.store_status import Explanation
from bridge.model.turn_records import NewTurn
from bridge.store import (
    agents,
    catch_up,
    chain,
    changes,
    feedback,
    inbox,
    links,
    outbox,
    people,
    rooms,
    search,
    turns,
)
from bridge.store import reactions as of_reactions
from bridge.store.archive_rows import body_of, stored, with_marks
from bridge.store.arrivals import Arrival, timeline_columns
from bridge.store.bodies import PEOPLE
from bridge.store.connection import Connection
from bridge.store.conversations import ToolDescription, conversation_of, own_tools
from bridge.store.queries import read_queries
from bridge.store.seal import Seal
from bridge.uacs import Conversation, Message

SQL = read_queries("archive")

_ENDLESS = 1 << 62  # above every place of a timeline


def receive(
    db: Connection, raw: Raw, admission: Admission, advance: bool, seal: Seal, now: float
) -> AdmittedRow | None:
    """Keep a payload and what it changes; None for a repeat, of which only the cursor moves."""
    arrival = _arrival(db, admission, raw.payload)
    row = inbox.keep(db, raw, advance, seal, now, admission.outcome)
    if row is None:
        return None
    repeat = _admit(db, replace(admission, row=row.id), arrival, now)
    if repeat:
        inbox.finish_row(db, row.id, "repeat", now)
    return AdmittedRow(row, repeat)


def admit(db: Connection, admission: Admission, now: float) -> Admitted:
    repeat = _admit(db, admission, _arrival(db, admission), now)
    if admission.row is not None:
        inbox.finish_row(db, admission.row, "repeat" if repeat else admission.outcome, now)
    return Admitted(repeat=repeat)


def _arrival(db: Connection, admission: Admission, payload: bytes | None = None) -> Arrival | None:
    return Arrival(db, admission, admission.message, payload) if admission.message else None


def _admit(db: Connection, admission: Admission, arrival: Arrival | None, now: float) -> bool:
    """Whether the message was archived before; then nothing changes."""
    if arrival is not None and not arrival.keep(admission.row, admission.outcome):
        return True
    _keep_the_rest(db, admission, arrival, now)
    return False


def _keep_the_rest(
    db: Connection, admission: Admission, arrival: Arrival | None, now: float
) -> None:
    for person in admission.people:
        save_person(db, person)
    if arrival is None:
        for timeline in admission.timelines:
            db.execute(SQL["make_timeline"], timeline_columns(timeline, now))
    else:
        arrival.place()
        if arrival.is_whole:
            arrival.describe(now)
    for lost_copy in admission.gone:
        links.note_gone(db, lost_copy.channel.key, lost_copy.native_id)
    for operation in admission.operations:
        outbox.queue(db, operation, now, begun=operation.id in admission.begun)
    for removal in admission.removals:
        outbox.queue_change(db, removal, now)
    for turn in admission.turns:
        turns.queue(db, turn, now)
    for settlement in admission.settles:
        outbox.settle(db, settlement, now)
    for change in admission.changes:
        change_later(db, change, now)
    _keep_marks(db, admission, now)
    for orphan in admission.orphans:
        catch_up.note_orphan(db, orphan, now)


def _keep_marks(db: Connection, admission: Admission, now: float) -> None:
    """What people put on messages."""
    for reaction in admission.reactions:
        of_reactions.react(db, reaction, now)
    for pin in admission.pins:
        of_reactions.pin(db, pin, now)
    for item in admission.feedback:
        feedback.give(db, item)


def message(db: Connection, own_id: MessageId) -> StoredMessage | None:
    row = db.execute(SQL["message"], (own_id,)).fetchone()
    return None if row is None else stored(row)


def change_message(
    db: Connection,
    changed: Message,
    state: MessageState,
    operations: Sequence[Operation],
    now: float,
    called: Sequence[NewTurn] = (),
) -> None:
    body = body_of(changed)
    row = db.execute(SQL["state_of"], (changed.message_id,)).fetchone()
    if row is None:
        raise StoreError(f"Message {changed.message_id!r} is not archived")
    number, before = row
    if before != "streaming":
        search.unindex(db, number)
    if state == "deleted":
        db.execute(SQL["keep_version"], (now, None, changed.message_id))
    db.execute(SQL["change_message"], (body, state, changed.message_id))
    if state != "streaming":
        search.index(db, number)
        kind = "added" if before == "streaming" else "edited"
        chain.add(db, number, "deleted" if state == "deleted" else kind, now)
    changes.note_change(db, MessageId(changed.message_id), "changed")
    if state == "deleted":
        of_reactions.cancel(db, MessageId(changed.message_id), now)
    for operation in operations:
        outbox.queue_change(db, operation, now)
    for turn in called:
        if not turns.is_known(db, turn.id):
            turns.queue(db, turn, now)


def change_later(db: Connection, change: Change, now: float) -> None:
    """Apply an edit that is later than the last one, or a deletion; the state before stays as a
    version."""
    body, message = body_of(change.message), MessageId(change.message.message_id)
    known = (message, change.time, change.state)
    row = db.execute(SQL["is_later"], known).fetchone()
    if row is None:
        return
    number, before = row
    if before != "streaming":
        search.unindex(db, number)
    db.execute(SQL["keep_version"], (change.time, change.actor, message))
    db.execute(SQL["change_later"], (body, change.state, change.time, *known))
    search.index(db, number)
    chain.add(db, number, change.state, now)
    changes.note_change(db, message, "changed")
    if change.state == "deleted":
        of_reactions.cancel(db, message, now)
    for operation in change.operations:
        outbox.queue_change(db, operation, now)


def person(db: Connection, actor: ActorId) -> Person | None:
    row = db.execute(SQL["person"], (actor,)).fetchone()
    return None if row is None else PEOPLE.read(row[0])


def save_person(db: Connection, person: Person) -> None:
    db.execute(SQL["save_person"], (person.id, PEOPLE.write(person)))
    people.note_name(db, person)


def room_ids(db: Connection, rooms: Sequence[RoomId]) -> Mapping[RoomId, UUID]:
    names = json.dumps(rooms)
    known = dict(db.execute(SQL["rooms"], (names,)).fetchall())
    if new := [room for room in rooms if room not in known]:
        db.executemany(SQL["make_room"], [(room, str(uuid4())) for room in new])
        known = dict(db.execute(SQL["rooms"], (names,)).fetchall())
    return {room: UUID(known[room]) for room in rooms}


def conversation(
    db: Connection, own_id: UUID, newest: int | None, view: View | None
) -> Conversation:
    timeline = db.execute(SQL["timeline"], (str(own_id),)).fetchone()
    if timeline is None:
        raise StoreError(f"There is no conversation {str(own_id)!r}")
    n, kind, name, metadata, created, updated = timeline
    limit = -1 if newest is None else max(newest, 0)
    if view is None or view == View():
        bodies = db.execute(SQL["newest_in_timeline"], (n, limit)).fetchall()
    else:
        bodies = _in_view(db, n, name, view, limit=limit)
    return conversation_of(
        Timeline(own_id, kind, name, json.loads(metadata)),
        created,
        updated,
        [with_marks(*columns) for columns in reversed(bodies)],
        _tools_of(db, own_id, view or View()) if kind == "room" else None,
        rooms.facts_of(db, name) if kind == "room" else None,
    )


def _tools_of(db: Connection, room: UUID, view: View) -> Mapping[str, Sequence[ToolDescription]]:
    """Of all agents; an agent is shown its own."""
    return own_tools(agents.tools(db, room), view)


def past(
    db: Connection, own_id: UUID, rows: int, before: int | None, view: View | None
) -> HistoryPiece:
    timeline = db.execute(SQL["length"], (str(own_id),)).fetchone()
    if timeline is None:
        return HistoryPiece((), None, 0)
    n, name, length = timeline
    end = length + 1 if before is None else min(before, length + 1)
    first = max(end - rows, 1)
    stored_rows = _in_view(db, n, name, view or View(), above=first - 1, below=end)
    messages = tuple(with_marks(*columns) for columns in stored_rows)
    return HistoryPiece(messages, first if first > 1 else None, max(end - first, 0))


def _in_view(
    db: Connection,
    n: int,
    name: str,
    view: View,
    *,
    above: int = 0,
    below: int = _ENDLESS,
    limit: int = -1,
) -> list[tuple[Any, ...]]:
    """Bodies and marks of what stands between these places, newest first."""
    channel = None if view.channel is None else view.channel.key
    readers = json.dumps(view.readers, ensure_ascii=False)
    values = n, channel, view.thread, view.person, readers, view.member, name
    return db.execute(SQL["in_view"], (*values, above, below, limit)).fetchall()


def number_of(db: Connection, own_id: UUID, message: MessageId) -> int | None:
    row = db.execute(SQL["number_of"], (message, str(own_id))).fetchone()
    return None if row is None else row[0]


def relations(db: Connection, own_ids: Collection[MessageId]) -> Mapping[MessageId, Relation]:
    id_list = json.dumps(list(own_ids), ensure_ascii=False)
    rows = db.execute(SQL["relations"], (id_list,)).fetchall()
    return {own_id: Relation(root, reply_to) for own_id, root, reply_to in rows}


def changed_since(db: Connection, room: UUID, position: Position, author: str) -> bool:
    values = (str(room), position.changed, position.posted, author)
    return db.execute(SQL["changed_since"], values).fetchone() is not None


def was_present(db: Connection, room: RoomId, member: str, own_id: MessageId) -> bool:
    return db.execute(SQL["was_present"], (own_id, room, member)).fetchone() is not None


def conversations(db: Connection) -> Sequence[tuple[Timeline, int]]:
    return [_timeline(columns) for columns in db.execute(SQL["timelines"]).fetchall()]


def _timeline(columns: Sequence[Any]) -> tuple[Timeline, int]:
    """A timeline, and the number beside it."""
    identity, kind, name, metadata, number, *epoch = columns
    return Timeline(UUID(identity), kind, name, json.loads(metadata), *epoch), number


def explain(db: Connection, own_id: MessageId) -> Explanation | None:
    fields = db.execute(SQL["message"], (own_id,)).fetchone()
    if fields is None:
        return None
    *_, n, row, outcome = fields
    payload = inbox.raw_of_row(db, row)
    places = db.execute(SQL["timelines_of_message"], (n,)).fetchall()
    return Explanation(
        stored=stored(fields),
        raw=None if payload is None else payload[0],
        kept_at=None if payload is None else payload[1],
        outcome=outcome,
        timelines=[_timeline(columns) for columns in places],
        operations=outbox.records(db, n),
    )
