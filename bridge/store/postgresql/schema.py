"""The schema of a PostgreSQL store; migrations are numbered SQL files, each applied at once.

Processes of two versions work beside one another during an update. A migration that leaves older
code at work says how old that code may be, in a line of its own: `-- Works with: 2`. Any other one
waits until no process works with the store.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from importlib.resources import files

from bridge.errors import SchemaTooNew, StoreError
from bridge.store import chain, search
from bridge.store.postgresql.connection import PostgresConnection

# About processes, not about what was said: neither copied nor looked through for names.
OWN_TABLES = ("leases", "processes", "commits", "assignments", "signals", "revisions")
_LOCK = 0x55414353  # "UACS": two processes that start at once migrate one behind the other
_WORKS_WITH = re.compile(r"^-- Works with: (\d+)$", re.MULTILINE)
_PATIENCE = 5.0  # seconds in which a process that was killed expires
_NUMBER = "SELECT number FROM meta WHERE key = $1"
_SET_NUMBER = """
INSERT INTO meta (key, number) VALUES ($1, $2)
ON CONFLICT (key) DO UPDATE SET number = excluded.number RETURNING 1
"""
_NOW = "extract(epoch FROM clock_timestamp())"
_ALONE = f"SELECT holder AS name FROM leases WHERE until > {_NOW}"  # noqa: S608 - our own words
_AMONG_OTHERS = f"SELECT name FROM processes WHERE until > {_NOW} ORDER BY name"  # noqa: S608 - our own words


class _StillInUse(StoreError):
    """Processes of an older version work with the store."""


def migrations() -> Mapping[int, str]:
    """Return by schema version the SQL that migrates from the version before."""
    folder = files("bridge.store.postgresql").joinpath("migrations")
    return {
        int(file.name.split("_", 1)[0]): file.read_text("utf-8")
        for file in sorted(folder.iterdir(), key=lambda file: file.name)
        if file.name.endswith(".sql")
    }


def newest_version() -> int:
    """The schema version that this version of the bridge uses."""
    return max(migrations())


def version_of(db: PostgresConnection) -> int | None:
    """Return the schema version of a database; None for one that holds no store."""
    ((table,),) = db.rows("SELECT to_regclass('leases')")
    if table is None:
        return None
    return _number(db, "schema_version") or 0


def migrate(db: PostgresConnection, name: str) -> int:
    """Bring a database to the newest schema. Returns the version that it has then: a newer one
    where this version of the bridge works with that.

    Raises:
        SchemaTooNew: the store is of a newer version of the bridge.
        StoreError: the database holds tables of another program, or processes of older versions
            work with it that could not go on.
    """
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            with db.native.transaction():
                db.control(f"SELECT pg_advisory_xact_lock({_LOCK})")
                return _migrate(db, name)
        except _StillInUse:
            if time.monotonic() > until:
                raise
            time.sleep(0.25)


def _migrate(db: PostgresConnection, name: str) -> int:
    before = version_of(db)
    if before is None:
        check_empty(db, name)
    else:
        check_not_newer(db, name)
        if before > newest_version():
            return before
    missing = {
        version: script for version, script in migrations().items() if version > (before or 0)
    }
    oldest = max((works_with(*step) for step in missing.items()), default=0)
    is_current = before is not None and search.is_current(db) and chain.is_current(db)
    if before is not None and (oldest > before or not is_current):
        _end_older(db, name, before)
    for script in missing.values():
        db.control(script)
    if missing:
        oldest = max(oldest, _number(db, "oldest_version") or 0)
        for key, number in (("schema_version", newest_version()), ("oldest_version", oldest)):
            list(db.rows(_SET_NUMBER, (key, number)))
    if missing or not is_current:
        if not search.is_current(db):
            search.build(db)
        if not chain.is_current(db):
            chain.build(db, time.time())
    return newest_version()


def works_with(version: int, script: str) -> int:
    """The oldest schema whose code may go on after this migration."""
    found = _WORKS_WITH.search(script)
    return int(found[1]) if found else version


def _end_older(db: PostgresConnection, name: str, before: int) -> None:
    """Raise _StillInUse while processes work with the store; those that were stopped must begin
    anew."""
    has_processes = before >= 2
    found = list(db.rows(f"{_ALONE} UNION ALL {_AMONG_OTHERS}" if has_processes else _ALONE))
    if found:
        raise _StillInUse(
            f"The store {name!r} has schema {before}, and this version of the bridge changes it so "
            f"that older processes cannot go on, but {len(found)} still work with it "
            f"({'; '.join(process for (process,) in found)}). Stop them before this update; on "
            "Kubernetes with `--set strategy=Recreate`"
        )
    db.control("UPDATE leases SET epoch = epoch + 1")
    if has_processes:
        db.control("DELETE FROM processes")
        db.control("UPDATE assignments SET process = NULL")


def _number(db: PostgresConnection, key: str) -> int | None:
    return next((number for (number,) in db.rows(_NUMBER, (key,))), None)


def check_joined(db: PostgresConnection, name: str) -> None:
    """Raise SchemaTooNew for a process that joined while a newer one changed the schema."""
    with db.native.transaction():
        db.control(f"SELECT pg_advisory_xact_lock({_LOCK})")
        check_not_newer(db, name)


def check_not_newer(db: PostgresConnection, name: str) -> None:
    """Raise SchemaTooNew for a store of a newer version of the bridge, unless that one left it
    usable for this one."""
    version = version_of(db) or 0
    if version > newest_version() and (_number(db, "oldest_version") or version) > newest_version():
        raise SchemaTooNew(
            f"The store {name!r} has schema {version}, this version of the bridge knows up to "
            f"{newest_version()}; install the newer version, or restore an older backup"
        )


def check_current(db: PostgresConnection, name: str) -> None:
    """Raise StoreError unless the database holds a store of this version's schema."""
    version = version_of(db)
    if version is None:
        raise StoreError(f"There is no store in {name!r}; `uacs-bridge run` makes it")
    check_not_newer(db, name)
    if version < newest_version():
        raise StoreError(
            f"The store {name!r} has schema {version}, this version of the bridge needs "
            f"{newest_version()}: uacs-bridge db migrate"
        )


def check_empty(db: PostgresConnection, name: str) -> None:
    """Raise StoreError for a database with tables of another program."""
    tables = "SELECT count(*) FROM pg_class WHERE relnamespace = current_schema()::regnamespace"
    if any(count for (count,) in db.rows(tables)):
        raise StoreError(
            f"The database {name!r} holds tables of another program, and no store of the bridge; "
            "it was not touched. Name an empty database in store.url: CREATE DATABASE bridge"
        )
