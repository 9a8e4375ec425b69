"""The schema of a PostgreSQL store; migrations are numbered SQL files, each applied at once."""

from __future__ import annotations

import time
from collections.abc import Mapping
from importlib.resources import files

from bridge.errors import SchemaTooNew, StoreError
from bridge.store import chain, search
from bridge.store.postgresql.connection import PostgresConnection

# About processes, not about what was said: neither copied nor looked through for names.
OWN_TABLES = ("leases", "processes", "commits", "assignments", "signals", "revisions")
_LOCK = 0x55414353  # "UACS": two processes that start at once migrate one behind the other


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
    return next((n for (n,) in db.rows("SELECT number FROM meta WHERE key = 'schema_version'")), 0)


def migrate(db: PostgresConnection, name: str) -> int:
    """Bring a database to the newest schema. Returns the version that was reached.

    Raises:
        SchemaTooNew: the store is of a newer version of the bridge.
        StoreError: the database holds tables of another program.
    """
    with db.native.transaction():
        db.control(f"SELECT pg_advisory_xact_lock({_LOCK})")
        before = version_of(db)
        if before is None:
            check_empty(db, name)
        check_not_newer(before or 0, name)
        for version, script in migrations().items():
            if version > (before or 0):
                db.control(script)
                db.control(
                    f"INSERT INTO meta (key, number) VALUES ('schema_version', {version}) "  # noqa: S608 - our own number
                    "ON CONFLICT (key) DO UPDATE SET number = excluded.number"
                )
        if not search.is_current(db):
            search.build(db)
        if not chain.is_current(db):
            chain.build(db, time.time())
    return newest_version()


def check_not_newer(version: int, name: str) -> None:
    """Raise SchemaTooNew for a store of a newer version of the bridge."""
    if version > newest_version():
        raise SchemaTooNew(
            f"The store {name!r} has schema {version}, this version of the bridge knows up to "
            f"{newest_version()}; install the newer version, or restore an older backup"
        )


def check_current(db: PostgresConnection, name: str) -> None:
    """Raise StoreError unless the database holds a store of this version's schema."""
    version = version_of(db)
    if version is None:
        raise StoreError(f"There is no store in {name!r}; `uacs-bridge run` makes it")
    check_not_newer(version, name)
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
