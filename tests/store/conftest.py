"""A store in a folder of its own, what opens it, and the stores of all engines."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from pathlib import Path

import pytest

from bridge.store import SqliteStore, open_sqlite
from bridge.store.packing import unpack
from bridge.store.postgresql.address import Address, connect
from bridge.store.postgresql.store import open_postgres
from bridge.store.sql_store import SqlStore
from bridge.store.tables import columns_by_table
from bridge.testing.clock import ManualClock
from tests.store.postgresql_server import empty_store

KEY = bytes(range(32))
Remains = Callable[..., set[str]]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "bridge.sqlite3"


@pytest.fixture
async def store(path: Path, clock: ManualClock) -> AsyncIterator[SqliteStore]:
    store = await open_sqlite(path, clock=clock, key=KEY)
    yield store
    await store.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def where(request: pytest.FixtureRequest, path: Path) -> Path | Address:
    """Where the store of one engine is."""
    return path if request.param == "sqlite" else empty_store()


@pytest.fixture
async def each_store(where: Path | Address, clock: ManualClock) -> AsyncIterator[SqlStore]:
    """A store of each engine in turn."""
    if isinstance(where, Path):
        store = await open_sqlite(where, clock=clock, key=KEY)
    else:
        store = await open_postgres(where, clock=clock, key=KEY)
    yield store
    await store.close()


@pytest.fixture
def remains(where: Path | Address) -> Remains:
    """Returns those of some words that are in any file of the store, or in any row of its
    database."""

    def of(*words: str) -> set[str]:
        if isinstance(where, Path):
            files = (file for file in where.parent.rglob("*") if file.is_file())
            content = b"".join(file.read_bytes() for file in files)
        else:
            content = _rows_of(where)
        return {word for word in words if word.encode() in content}

    return of


def _rows_of(address: Address) -> bytes:
    with closing(connect(address)) as db:
        columns = [
            f'"{column}" FROM {table}'
            for table, names in columns_by_table(db).items()
            for column in names
        ]
        return b"\n".join(
            _plain(value)
            for column in (*columns, "CAST(document AS text) FROM words")
            for (value,) in db.rows(f"SELECT {column}")
        )


def _plain(value: object) -> bytes:
    if not isinstance(value, bytes):
        return str(value).encode()
    try:
        return unpack(value)
    except zlib.error:  # a salt that looks like something packed
        return value
