"""Erases messages and people from every table, in one transaction.

The row of an erased message stays, empty and deleted: a later import, catch-up or edit finds its id
and adds nothing to it. Freed space is overwritten, since the writer works with `secure_delete`;
`bridge.store.cleaning` takes care of what was freed before, of the write-ahead log and of files.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from uuid import uuid4

from bridge.errors import ErasureForbidden, StoreError
from bridge.model import ActorId, MessageId, OperationId, Person, RoomId
from bridge.model.blob_ids import DERIVED, sha256_of
from bridge.model.erasure_records import (
    ERASED,
    ERASED_NAME,
    Erasure,
    ErasureRecord,
    LegalHold,
)
from bridge.model.operations import EditMessage, PostMessage, deletion_of
from bridge.model.people import Byline
from bridge.model.refs import actor_id_of, channel_of_key, split_key
from bridge.store import (
    authors,
    chain,
    changes,
    engine,
    feedback,
    outbox,
    payload_blocks,
    reactions,
    search,
)
from bridge.store.bodies import OPERATIONS, PEOPLE
from bridge.store.connection import Connection
from bridge.store.conversations import excerpt_of
from bridge.store.erased_json import PersonEraser, TextEraser
from bridge.store.file_use import FILE_ID
from bridge.store.packing import unpack
from bridge.store.queries import read_queries
from bridge.store.tables import columns_by_table, replace_text
from bridge.uacs import Actor, Message, TextPart, read_message, write

SQL = read_queries("erasures")
_TOKEN = re.compile(rb"[\w.@$+=-]+")
# Tables that keep ids on purpose, or that another step changes.
_KEPT = (
    "erasures", "legal_holds", "meta", "bans",
    "payloads", "payload_blocks", "message_rows", "version_rows",
)  # fmt: skip


@dataclass(frozen=True)
class _Chosen:
    """A message that is erased, as it was."""

    n: int
    id: MessageId
    message: Message
    author: Person
    channel: str | None
    native_id: str | None
    state: str


@dataclass
class _Work:
    """One erasure while it happens."""

    db: Connection
    erasure: Erasure
    now: float
    messages: Sequence[_Chosen]
    stand_in: ActorId  # the author in place of an erased person
    counts: Counter[str] = field(default_factory=Counter[str])
    files: set[str] = field(default_factory=set[str])
    touched: set[int] = field(default_factory=set[int])  # other messages that changed

    def run(self, query: str, kind: str) -> None:
        """Run a statement, and count the rows that it changed."""
        self.counts[kind] += self.db.execute(SQL[query]).rowcount

    def run_for(self, actor: ActorId, query: str, kind: str) -> None:
        """Run a statement about a person, and count the rows that it changed."""
        self.counts[kind] += self.db.execute(SQL[query], (actor,)).rowcount


def erase(db: Connection, erasure: Erasure, now: float, dry_run: bool) -> ErasureRecord:
    """Erase, and record it; a dry run undoes everything again.

    Raises:
        ErasureForbidden: a legal hold protects one of the messages.
        StoreError: there is no such message, or nothing of such a person.
    """
    db.execute("SAVEPOINT erasure")
    try:
        return _erase(db, erasure, now)
    finally:
        if dry_run:
            db.execute("ROLLBACK TO erasure")
        db.execute("RELEASE erasure")


def _erase(db: Connection, erasure: Erasure, now: float) -> ErasureRecord:
    db.execute(SQL["drop_erased"])
    db.execute(SQL["make_erased"])
    _choose(db, erasure)
    _refuse_if_held(db)
    stand_in = actor_id_of("erased", "person", uuid4().hex[:8])
    work = _Work(db, erasure, now, _chosen(db), stand_in)
    for step in STEPS:
        step(work)
    if not any(work.counts.values()) and not erasure.workspace:
        raise StoreError(f"The archive has nothing of {', '.join(map(repr, erasure.actors))}")
    db.executemany(SQL["touch"], [(number,) for number in work.touched])
    _refuse_if_held(db)
    db.execute(SQL["drop_erased"])
    return _record(work)


def _choose(db: Connection, erasure: Erasure) -> None:
    for actor in erasure.actors:
        db.execute(SQL["choose_person"], (actor,))
    if erasure.workspace:
        db.execute(SQL["choose_workspace"], _range(erasure.workspace))
    for room in erasure.rooms:
        db.execute(SQL["choose_room"], (room,))
    if erasure.message is None:
        return
    if not db.execute(SQL["choose_message"], (erasure.message,)).rowcount:
        raise StoreError(f"The archive has no message {erasure.message!r}")


def _refuse_if_held(db: Connection) -> None:
    hold = db.execute(SQL["holding"]).fetchone()
    if hold is not None:
        name, reason = hold
        raise ErasureForbidden(
            f"The legal hold {name!r} ({reason}) protects these messages; to erase them, end it: "
            f"uacs-bridge archive hold remove {name}"
        )


def _chosen(db: Connection) -> Sequence[_Chosen]:
    return [
        _Chosen(n, own_id, read_message(body), PEOPLE.read(author), channel, native_id, state)
        for n, own_id, body, author, channel, native_id, state in db.execute(SQL["chosen"])
    ]


def _record(work: _Work) -> ErasureRecord:
    erasure, counts = work.erasure, {kind: n for kind, n in work.counts.items() if n}
    subject = "person" if erasure.actors else "message"
    subject = "tenant" if erasure.workspace else subject
    columns = (erasure.id, work.now, erasure.by, erasure.reason, subject, json.dumps(counts))
    work.db.execute(SQL["record"], (*columns, json.dumps(sorted(work.files))))
    return ErasureRecord(erasure.id, work.now, erasure.by, erasure.reason, subject, counts)


# --- the steps of every erasure ---------------------------------------------------------------


def _note_files(work: _Work) -> None:
    """The stored files of the messages and of the person, also of former versions."""
    bodies = [body for columns in work.db.execute(SQL["bodies_of_erased"]) for body in columns]
    for actor in work.erasure.actors:
        bodies += [body for (body,) in work.db.execute(SQL["person"], (actor,))]
    work.files |= {found.decode() for body in bodies for found in FILE_ID.findall(bytes(body))}
    work.counts["files"] += len(work.files)
    for file_id in work.files:
        derived = (f"{DERIVED}*:{sha256_of(file_id)}",)
        work.counts["facts"] += work.db.execute(SQL["forget_derived"], derived).rowcount


def _forget_translations(work: _Work) -> None:
    """Those of the messages; of a person all: any may name them, and they can be made anew."""
    every = "forget_all_translations" if work.erasure.actors else "forget_translations"
    work.db.execute(SQL[every])


def _erase_quotes(work: _Work) -> None:
    """The text of the messages in answers to them and in notices of the bridge."""
    texts = [text for chosen in work.messages for text in _texts_of(chosen.message)]
    eraser = TextEraser(texts)
    if eraser.is_empty:
        return
    for n, own_id, body, state in work.db.execute(SQL["near"]).fetchall():
        _rewrite(work, n, own_id, state, body, eraser.erase(body))


def _texts_of(message: Message) -> Iterable[str]:
    """As they are, and as quotes show them."""
    texts = [part.text for part in message.content if isinstance(part, TextPart)]
    return [*texts, excerpt_of(message).removesuffix("…")] if texts else []


def _erase_bodies(work: _Work) -> None:
    for chosen in work.messages:
        author = chosen.author
        if work.erasure.actors:
            author = Person(id=work.stand_in, name=ERASED_NAME, bot=author.bot)
        if chosen.state != "streaming":
            search.unindex(work.db, chosen.n)
        tombstone = Message(
            message_id=chosen.id,
            timestamp=chosen.message.timestamp,
            actor=Actor(id=author.id, role=chosen.message.actor.role),
            content=(TextPart(text=ERASED),),
        )
        number = authors.number_of(work.db, PEOPLE.write(author))
        columns = (write(tombstone), number, work.now, chosen.n)
        work.db.execute(SQL["erase_body"], columns)
        search.index(work.db, chosen.n)
        chain.forget(work.db, chosen.n, work.now)
        chain.forget_reactions(work.db, chosen.n, work.now)
        changes.note_change(work.db, chosen.id, "changed")
    work.counts["messages"] += len(work.messages)


def _erase_beside_bodies(work: _Work) -> None:
    """What other tables keep of the messages."""
    work.run("erase_versions", "versions")
    numbers = [number for (number,) in work.db.execute(SQL["erased"])]
    work.counts["payloads"] += payload_blocks.remove(work.db, numbers)
    work.run("erase_reactions", "reactions")
    work.run("erase_pins", "pins")
    work.run("erase_feedback", "feedback")
    work.run("erase_errors_of_operations", "operations")
    work.run("erase_errors_of_turns", "turns")
    work.run("erase_decisions", "approvals")
    work.run("erase_approvals", "approvals")


def _erase_payloads(work: _Work) -> None:
    """Events as they came that name one of the messages: the message, its edits, and answers, which
    may quote it."""
    by_channel: dict[str, set[bytes]] = {}
    for chosen in work.messages:
        if chosen.channel and chosen.native_id:
            by_channel.setdefault(chosen.channel, set()).add(chosen.native_id.encode())
    for channel, native_ids in by_channel.items():
        rows = work.db.execute(SQL["payloads_of_channel"], (channel,))
        _erase_rows(work, [row for row, own in rows if _names(unpack(own), native_ids)])
    _erase_rows(work, [row for (row,) in work.db.execute(SQL["rows_of_erased"]).fetchall()])


def _erase_rows(work: _Work, rows: Sequence[int]) -> None:
    own = work.db.execute(SQL["numbers_of_rows"], (json.dumps(list(rows)),))
    work.touched.update(number for (number,) in own.fetchall())
    for row in rows:
        work.counts["payloads"] += work.db.execute(SQL["erase_payload"], (row,)).rowcount
        work.db.execute(SQL["erase_credentials"], (row,))
        work.db.execute(SQL["end_row"], (row,))


def _names(payload: bytes, ids: Collection[bytes]) -> bool:
    return any(token in ids for token in _TOKEN.findall(payload))


def _erase_operations(work: _Work) -> None:
    """Names and pictures of authors in what was or is to be sent."""
    for own_id, body in work.db.execute(SQL["operations_of_erased"]).fetchall():
        operation = OPERATIONS.read(body)
        if isinstance(operation, PostMessage | EditMessage):
            nameless = operation.model_copy(update={"byline": Byline(name=ERASED_NAME)})
            work.db.execute(SQL["set_operation"], (OPERATIONS.write(nameless), own_id))
            work.counts["operations"] += 1


def _delete_copies(work: _Work) -> None:
    """Queue the deletion of every copy on the platforms, which the bridge sends when it runs."""
    if not work.erasure.copies:
        return
    for chosen in work.messages:
        for post in outbox.posts_of(work.db, chosen.id):
            own_id = OperationId(f"{post.id} erase")
            if not outbox.is_known(work.db, own_id):
                outbox.queue_change(work.db, deletion_of(post, own_id), work.now)
                work.counts["copies"] += 1


# --- the step of the erasure of a workspace ---------------------------------------------------


def _erase_workspace(work: _Work) -> None:
    """What the store keeps of a workspace's channels beside messages: events as they came, names,
    places in rooms, and the values of its account."""
    if not work.erasure.workspace:
        return
    span = _range(work.erasure.workspace)
    rows = [row for (row,) in work.db.execute(SQL["rows_of_workspace"], span).fetchall()]
    _erase_rows(work, rows)
    for query in _OF_WORKSPACE:
        work.counts["facts"] += work.db.execute(SQL[query], span).rowcount
    if work.erasure.account is not None:
        work.counts["facts"] += work.db.execute(
            SQL["forget_account"], (work.erasure.account,)
        ).rowcount


_OF_WORKSPACE = (
    "forget_cursors", "forget_links_to_rooms", "forget_descriptions", "forget_consents",
    "forget_orphans", "forget_periods",
)  # fmt: skip


def _range(workspace: str) -> tuple[str, str]:
    """The half-open range of the keys of a workspace's channels and people."""
    return f"{workspace}:", f"{workspace};"  # ";" is the character after ":"


def actors_of(db: Connection, workspace: str) -> Sequence[ActorId]:
    return [ActorId(own_id) for (own_id,) in db.execute(SQL["actors_of"], _range(workspace))]


# --- the steps of the erasure of a person -----------------------------------------------------


def _erase_reactions_of_person(work: _Work) -> None:
    for actor in work.erasure.actors:
        reacted = work.db.execute(SQL["reactions_by"], (actor,)).fetchall()
        work.counts["reactions"] += work.db.execute(SQL["erase_reactions_by"], (actor,)).rowcount
        work.touched.update(n for (n,) in reacted)
        for (n,) in reacted:
            reactions.show(work.db, n)
            chain.forget_reactions(work.db, n, work.now)
        rated = work.db.execute(SQL["rated_by"], (actor,)).fetchall()
        work.counts["feedback"] += work.db.execute(SQL["erase_feedback_by"], (actor,)).rowcount
        work.touched.update(n for (n,) in rated)
        for (n,) in rated:
            feedback.show(work.db, n)


def _erase_mentions(work: _Work) -> None:
    """The person in messages of others, in their former versions, as a reader of whispers, and in
    the descriptions of channels."""
    for actor in work.erasure.actors:
        native_id = split_key(actor)[-1]
        eraser = PersonEraser(actor, native_id, work.stand_in, _names_of(work, actor))
        named = (native_id.encode(),)
        for n, own_id, body, state in work.db.execute(SQL["naming"], named).fetchall():
            _rewrite(work, n, own_id, state, body, eraser.erase(body))
        for n, version, body in work.db.execute(SQL["versions_naming"], named).fetchall():
            work.touched.add(n)
            work.counts["mentions"] += 1
            work.db.execute(SQL["set_version"], (eraser.erase(body), n, version))
            chain.forget(work.db, n, work.now)
        for kind, own_id, body in work.db.execute(SQL["descriptions_naming"], named).fetchall():
            work.db.execute(SQL["set_description"], (eraser.erase(body), kind, own_id))
        for n, audience in work.db.execute(SQL["whispers_to"], (actor,)).fetchall():
            search.unindex(work.db, n)
            readers = [work.stand_in if one == actor else one for one in json.loads(audience)]
            work.touched.add(n)
            work.counts["mentions"] += 1
            work.db.execute(SQL["set_audience"], (json.dumps(readers), n))
            search.index(work.db, n)
            chain.forget(work.db, n, work.now)


def _names_of(work: _Work, actor: ActorId) -> Sequence[str]:
    """The names under which the store knows the person."""
    names = {chosen.author.name for chosen in work.messages if chosen.author.id == actor}
    names |= {PEOPLE.read(body).name for (body,) in work.db.execute(SQL["person"], (actor,))}
    names |= {name for (name,) in work.db.execute(SQL["display_names"], (actor,))}
    return sorted(names - {""}, key=len, reverse=True)


def _erase_payloads_of_person(work: _Work) -> None:
    """Events as they came that name the person."""
    native_ids = {split_key(actor)[-1].encode() for actor in work.erasure.actors}
    if not native_ids:
        return
    rows = work.db.execute(SQL["all_payloads"])
    _erase_rows(work, [row for row, own in rows if _names(unpack(own), native_ids)])
    imported = [n for n, (_, own) in payload_blocks.each(work.db) if _names(own, native_ids)]
    work.touched.update(imported)
    work.counts["payloads"] += payload_blocks.remove(work.db, imported)


def _erase_facts_of_person(work: _Work) -> None:
    """Rows about the person go; rows of others name the stand-in instead. All tables are read, so
    that no new one is forgotten."""
    for actor in work.erasure.actors:
        for table, column in _FACTS:
            deletion = f'DELETE FROM "{table}" WHERE "{column}" = ?'  # noqa: S608 - our own names
            work.counts["facts"] += work.db.execute(deletion, (actor,)).rowcount
    for actor in work.erasure.actors:
        work.run_for(actor, "forget_author", "facts")
    for table, columns in columns_by_table(work.db).items():
        if table in _KEPT:
            continue
        for column in columns:
            for actor in work.erasure.actors:
                changed = replace_text(work.db, table, column, actor, work.stand_in)
                work.counts["facts"] += changed


_FACTS = (
    ("people", "id"),
    ("descriptions", "id"),
    ("person_names", "actor"),
    ("display_names", "actor"),
    ("accounts", "actor"),
    ("emails", "actor"),
    ("link_codes", "actor"),
    ("link_attempts", "actor"),
    ("pairings", "actor"),
    ("pairing_attempts", "actor"),
    ("direct_message_consents", "actor"),
    ("direct_message_pairs", "first"),
    ("direct_message_pairs", "second"),
)


# What a message loses when its time is over. What quotes or mentions it has a time of its own.
_AT_THE_END: Sequence[Callable[[_Work], None]] = (
    _note_files,
    _forget_translations,
    _erase_beside_bodies,
    _erase_operations,
    _erase_bodies,
)

STEPS: Sequence[Callable[[_Work], None]] = (
    _note_files,
    _forget_translations,
    _delete_copies,
    _erase_quotes,
    _erase_mentions,
    _erase_payloads,
    _erase_payloads_of_person,
    _erase_workspace,
    _erase_beside_bodies,
    _erase_operations,
    _erase_reactions_of_person,
    _erase_bodies,
    _erase_facts_of_person,
)


def _rewrite(work: _Work, n: int, own_id: str, state: str, body: bytes, erased: bytes) -> None:
    """Change the body of a message that mentions or quotes what is erased."""
    if erased == body:
        return
    work.touched.add(n)
    if state != "streaming":
        search.unindex(work.db, n)
    work.db.execute(SQL["set_body"], (erased, n))
    if state != "streaming":
        search.index(work.db, n)
    chain.forget(work.db, n, work.now)
    changes.note_change(work.db, MessageId(own_id), "changed")
    work.counts["mentions"] += 1


# --- retention --------------------------------------------------------------------------------


def erase_old(
    db: Connection, numbers: Sequence[int], own_id: str, now: float, *, dry_run: bool
) -> int:
    """Erase messages whose time is over, without those under a legal hold. Returns how many that
    are; a dry run only counts them."""
    db.execute(SQL["drop_erased"])
    db.execute(SQL["make_erased"])
    db.executemany(SQL["choose_number"], [(number,) for number in numbers])
    db.execute(SQL["leave_held"])
    erasure = Erasure(own_id, "retention", "their time is over")
    work = _Work(db, erasure, now, _chosen(db), ActorId(""))
    if work.messages and not dry_run:
        for step in _AT_THE_END:
            step(work)
        counts = json.dumps({kind: n for kind, n in work.counts.items() if n})
        columns = (own_id, now, erasure.by, erasure.reason, "messages", counts)
        db.execute(SQL["record"], (*columns, json.dumps(sorted(work.files))))
    db.execute(SQL["drop_erased"])
    return len(work.messages)


# --- records and holds ------------------------------------------------------------------------


def files_to_remove(db: Connection) -> Sequence[str]:
    rows = db.execute(SQL["files_to_remove"]).fetchall()
    return sorted({file_id for (ids,) in rows for file_id in json.loads(ids)})


def set_cleaned(db: Connection, now: float) -> None:
    db.execute(SQL["set_cleaned"], (now,))


def records(db: Connection) -> Sequence[ErasureRecord]:
    return [
        ErasureRecord(own_id, at, by, reason, subject, json.loads(counts), bool(cleaned))
        for own_id, at, by, reason, subject, counts, cleaned in db.execute(SQL["records"])
    ]


def add_hold(db: Connection, hold: LegalHold) -> None:
    channel = None if hold.channel is None else hold.channel.key
    columns = (hold.name, hold.by, hold.reason, hold.at, hold.room, channel, hold.actor)
    try:
        db.execute(SQL["add_hold"], (*columns, hold.since, hold.until))
    except engine.integrity_errors():
        raise StoreError(f"There is a legal hold {hold.name!r} already") from None


def holds(db: Connection) -> Sequence[LegalHold]:
    return [
        LegalHold(
            name, by, reason, at,
            None if room is None else RoomId(room),
            None if channel is None else channel_of_key(channel),
            None if actor is None else ActorId(actor),
            since, until,
        )
        for name, by, reason, at, room, channel, actor, since, until in db.execute(SQL["holds"])
    ]  # fmt: skip


def remove_hold(db: Connection, name: str) -> bool:
    return db.execute(SQL["remove_hold"], (name,)).rowcount > 0
