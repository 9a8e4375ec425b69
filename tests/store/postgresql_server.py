"""An empty PostgreSQL store for each test, on the server that UACS_POSTGRES names."""

from __future__ import annotations

import atexit
import os
from functools import cache
from urllib.parse import urlsplit

import psycopg
import pytest

from bridge.store.postgresql import schema
from bridge.store.postgresql.address import Address, connect

VARIABLE = "UACS_POSTGRES"  # postgresql://USER@HOST:PORT/DATABASE of a user that makes databases
# Faster than TRUNCATE, which makes each table and index anew.
_EMPTY = """
DO $$ DECLARE own text; BEGIN
  FOR own IN SELECT tablename FROM pg_tables
    WHERE schemaname = 'public' AND tablename <> 'meta'
    ORDER BY tablename -- what refers to another stands before it
  LOOP EXECUTE 'DELETE FROM ' || own; END LOOP;
  DELETE FROM meta WHERE key NOT LIKE '%_version';
  FOR own IN SELECT sequencename FROM pg_sequences WHERE schemaname = 'public'
  LOOP EXECUTE 'ALTER SEQUENCE ' || own || ' RESTART'; END LOOP;
END $$
"""


def empty_store() -> Address:
    """Return the address of a database with an empty store, which no test uses at the same time."""
    address = _database()
    db = connect(address)
    db.control(_EMPTY)
    db.close()
    return address


def empty_database(name: str) -> Address:
    """Return the address of a new database without tables; it is dropped at the end."""
    server = os.environ.get(VARIABLE)
    if server is None:
        pytest.skip(f"{VARIABLE} names no PostgreSQL server")
    own = f"uacs_{name}_{os.getpid()}"
    _run(server, f"DROP DATABASE IF EXISTS {own} WITH (FORCE)")
    _run(server, f"CREATE DATABASE {own}")
    atexit.register(_run, server, f"DROP DATABASE IF EXISTS {own} WITH (FORCE)")
    return Address(urlsplit(server)._replace(path=f"/{own}").geturl())


@cache
def _database() -> Address:
    address = empty_database("test")
    db = connect(address)
    schema.migrate(db, str(address))
    db.close()
    return address


def _run(server: str, statement: str) -> None:
    with psycopg.connect(server, autocommit=True) as db:
        db.execute(statement)  # pyright: ignore[reportArgumentType, reportCallIssue]
