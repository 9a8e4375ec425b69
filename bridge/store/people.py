"""Accounts of one person, codes that link them, and names as rooms show them, as rows."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import uuid4

from bridge.content.text.look_alikes import skeleton
from bridge.model import ActorId, Person, PersonId, RoomId
from bridge.model.people_records import (
    CODE_TRIES,
    CODE_WINDOW,
    CodeUse,
    DisplayName,
    LinkedAccount,
    LinkMethod,
)
from bridge.store.bodies import PEOPLE
from bridge.store.connection import Connection
from bridge.store.queries import read_queries

SQL = read_queries("people")


# --- names ------------------------------------------------------------------------------------


def note_name(db: Connection, person: Person) -> None:
    db.execute(SQL["note_name"], (person.id, skeleton(person.name)))


def people_named(db: Connection, name: str) -> Sequence[Person]:
    rows = db.execute(SQL["people_named"], (skeleton(name),)).fetchall()
    return [PEOPLE.read(body) for (body,) in rows]


def shown_name(db: Connection, room: RoomId, actor: ActorId) -> DisplayName | None:
    row = db.execute(SQL["shown_name"], (room, actor)).fetchone()
    return None if row is None else DisplayName(*row)


def names_like(db: Connection, room: RoomId, name: str) -> Sequence[DisplayName]:
    key = (room, skeleton(name))
    rows = [*db.execute(SQL["alike_by_name"], key), *db.execute(SQL["alike_as_shown"], key)]
    return list({row[1]: DisplayName(*row) for row in rows}.values())


def save_names(db: Connection, names: Sequence[DisplayName]) -> None:
    columns = [
        (
            entry.room,
            entry.actor,
            entry.name,
            skeleton(entry.name),
            entry.shown,
            skeleton(entry.shown),
        )
        for entry in names
    ]
    db.executemany(SQL["save_shown_name"], columns)


# --- accounts ---------------------------------------------------------------------------------


def accounts_of(db: Connection, actor: ActorId) -> Sequence[LinkedAccount]:
    person = _person_of(db, actor)
    if person is None:
        return ()
    rows = db.execute(SQL["accounts_of_person"], (person,)).fetchall()
    return [LinkedAccount(*columns) for columns in rows]


def linked_accounts(db: Connection) -> Sequence[LinkedAccount]:
    return [LinkedAccount(*columns) for columns in db.execute(SQL["all_accounts"]).fetchall()]


def link_people(
    db: Connection, first: ActorId, other: ActorId, method: LinkMethod, now: float
) -> PersonId:
    first_person, theirs = _person_of(db, first), _person_of(db, other)
    person = first_person or theirs or PersonId(uuid4().hex)
    if theirs is not None and theirs != person:
        db.execute(SQL["move_accounts"], (person, theirs))
    for actor, before in ((first, first_person), (other, theirs)):
        if before is None:
            db.execute(SQL["save_account"], (actor, person, method, now))
    _decide_names_anew(db, person)
    return person


def unlink_person(db: Connection, actor: ActorId) -> bool:
    """Separate an account; a single remaining account is unlinked too."""
    person = _person_of(db, actor)
    if person is None:
        return False
    _decide_names_anew(db, person)
    db.execute(SQL["remove_account"], (actor,))
    left = db.execute(SQL["accounts_of_person"], (person,)).fetchall()
    if len(left) == 1:
        db.execute(SQL["remove_account"], (left[0][0],))
    return True


def same_email(db: Connection, actor: ActorId, digest: str) -> Sequence[ActorId]:
    if db.execute(SQL["email"], (actor,)).fetchone() == (digest,):
        return []
    db.execute(SQL["save_email"], (actor, digest))
    rows = db.execute(SQL["same_email"], (digest,)).fetchall()
    return [same_address for (same_address,) in rows if same_address != actor]


def _person_of(db: Connection, actor: ActorId) -> PersonId | None:
    row = db.execute(SQL["person_of"], (actor,)).fetchone()
    return None if row is None else PersonId(row[0])


def _decide_names_anew(db: Connection, person: PersonId) -> None:
    for actor, *_ in db.execute(SQL["accounts_of_person"], (person,)).fetchall():
        db.execute(SQL["forget_shown_names"], (actor,))


# --- codes ------------------------------------------------------------------------------------


def put_link_code(db: Connection, digest: str, actor: ActorId, expires: float) -> None:
    db.execute(SQL["put_code"], (digest, actor, expires))


def use_link_code(db: Connection, digest: str, actor: ActorId, now: float) -> CodeUse:
    failures, since = db.execute(SQL["attempts"], (actor,)).fetchone() or (0, now)
    if now - since >= CODE_WINDOW:
        failures, since = 0, now
    if failures >= CODE_TRIES:
        return "too_many"
    row = db.execute(SQL["code"], (digest, now)).fetchone()
    if row is None:
        db.execute(SQL["save_attempts"], (actor, failures + 1, since))
        return "wrong"
    if row[0] == actor:
        return "own"
    db.execute(SQL["remove_code"], (digest,))
    db.execute(SQL["remove_attempts"], (actor,))
    link_people(db, ActorId(row[0]), actor, "code", now)
    return "linked"
