"""Who is who: accounts of one person, codes that link them, names as rooms show them."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from uuid import uuid4

from bridge.content.text.look_alikes import skeleton
from bridge.model import ActorId, Person, PersonId, RoomId
from bridge.model.people_records import (
    CODE_TRIES,
    CODE_WINDOW,
    CodeUse,
    HowLinked,
    LinkedAccount,
    ShownName,
)
from bridge.store.bodies import PEOPLE
from bridge.store.queries import read_queries

SQL = read_queries("people")


# --- names ------------------------------------------------------------------------------------


def note_name(db: sqlite3.Connection, who: Person) -> None:
    db.execute(SQL["note_name"], (who.id, skeleton(who.name)))


def people_named(db: sqlite3.Connection, name: str) -> Sequence[Person]:
    found = db.execute(SQL["people_named"], (skeleton(name),)).fetchall()
    return [PEOPLE.read(body) for (body,) in found]


def shown_name(db: sqlite3.Connection, room: RoomId, actor: ActorId) -> ShownName | None:
    found = db.execute(SQL["shown_name"], (room, actor)).fetchone()
    return None if found is None else ShownName(*found)


def names_like(db: sqlite3.Connection, room: RoomId, name: str) -> Sequence[ShownName]:
    wanted = (room, skeleton(name))
    rows = [*db.execute(SQL["alike_by_name"], wanted), *db.execute(SQL["alike_as_shown"], wanted)]
    return list({row[1]: ShownName(*row) for row in rows}.values())


def save_names(db: sqlite3.Connection, names: Sequence[ShownName]) -> None:
    columns = [
        (one.room, one.actor, one.name, skeleton(one.name), one.shown, skeleton(one.shown))
        for one in names
    ]
    db.executemany(SQL["save_shown_name"], columns)


# --- accounts ---------------------------------------------------------------------------------


def accounts_of(db: sqlite3.Connection, actor: ActorId) -> Sequence[LinkedAccount]:
    person = _person_of(db, actor)
    if person is None:
        return ()
    found = db.execute(SQL["accounts_of_person"], (person,)).fetchall()
    return [LinkedAccount(*columns) for columns in found]


def linked_accounts(db: sqlite3.Connection) -> Sequence[LinkedAccount]:
    return [LinkedAccount(*columns) for columns in db.execute(SQL["all_accounts"]).fetchall()]


def link_people(
    db: sqlite3.Connection, one: ActorId, other: ActorId, how: HowLinked, now: float
) -> PersonId:
    known, theirs = _person_of(db, one), _person_of(db, other)
    person = known or theirs or PersonId(uuid4().hex)
    if theirs is not None and theirs != person:
        db.execute(SQL["move_accounts"], (person, theirs))
    for actor, before in ((one, known), (other, theirs)):
        if before is None:
            db.execute(SQL["save_account"], (actor, person, how, now))
    _decide_names_anew(db, person)
    return person


def unlink_person(db: sqlite3.Connection, actor: ActorId) -> bool:
    """Whoever is left alone is linked to nobody, too."""
    person = _person_of(db, actor)
    if person is None:
        return False
    _decide_names_anew(db, person)
    db.execute(SQL["remove_account"], (actor,))
    left = db.execute(SQL["accounts_of_person"], (person,)).fetchall()
    if len(left) == 1:
        db.execute(SQL["remove_account"], (left[0][0],))
    return True


def same_email(db: sqlite3.Connection, actor: ActorId, digest: str) -> Sequence[ActorId]:
    if db.execute(SQL["email"], (actor,)).fetchone() == (digest,):
        return []
    db.execute(SQL["save_email"], (actor, digest))
    found = db.execute(SQL["same_email"], (digest,)).fetchall()
    return [one for (one,) in found if one != actor]


def _person_of(db: sqlite3.Connection, actor: ActorId) -> PersonId | None:
    found = db.execute(SQL["person_of"], (actor,)).fetchone()
    return None if found is None else PersonId(found[0])


def _decide_names_anew(db: sqlite3.Connection, person: PersonId) -> None:
    for actor, *_ in db.execute(SQL["accounts_of_person"], (person,)).fetchall():
        db.execute(SQL["forget_shown_names"], (actor,))


# --- codes ------------------------------------------------------------------------------------


def put_link_code(db: sqlite3.Connection, digest: str, actor: ActorId, expires: float) -> None:
    db.execute(SQL["put_code"], (digest, actor, expires))


def use_link_code(db: sqlite3.Connection, digest: str, actor: ActorId, now: float) -> CodeUse:
    failures, since = db.execute(SQL["attempts"], (actor,)).fetchone() or (0, now)
    if now - since >= CODE_WINDOW:
        failures, since = 0, now
    if failures >= CODE_TRIES:
        return "too_many"
    found = db.execute(SQL["code"], (digest, now)).fetchone()
    if found is None:
        db.execute(SQL["save_attempts"], (actor, failures + 1, since))
        return "wrong"
    if found[0] == actor:
        return "own"
    db.execute(SQL["remove_code"], (digest,))
    db.execute(SQL["remove_attempts"], (actor,))
    link_people(db, ActorId(found[0]), actor, "code", now)
    return "linked"
