"""What an older version of the bridge kept is found again after its schema was brought up."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from bridge.model import MessageId
from bridge.model.refs import channel_of_key
from bridge.store import SqliteStore, links, open_sqlite
from bridge.store.schema import migrate, migrations
from bridge.testing.clock import HandClock
from tests.store.conftest import KEY

HISTORY = Path(__file__).with_name("history_0002.sql")
# As schema 0002 was asked: the message of a native id, the standing copies, where a thread goes on.
RESOLVE = """SELECT message FROM links WHERE channel = ? AND native_id = ?
ORDER BY kind, message LIMIT 1"""
COPIES = """SELECT slot, native_id, thread FROM links
WHERE message = ? AND channel = ? AND kind < 2 AND gone = 0 ORDER BY slot, at, native_id"""
THREAD = """SELECT native_id FROM links
WHERE message = ? AND channel = ? ORDER BY gone, kind, slot, at, native_id LIMIT 1"""


@pytest.fixture
def old(path: Path) -> Generator[sqlite3.Connection]:
    """The history as it was, in memory, and a store of it in a file."""
    memory = sqlite3.connect(":memory:")
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        migrate(db, {version: step for version, step in migrations().items() if version <= 2})
        db.execute("DELETE FROM meta")
        db.executescript(HISTORY.read_text())
        db.backup(memory)
    yield memory
    memory.close()


async def test_every_link_is_found_after_the_migration(
    old: sqlite3.Connection, path: Path, clock: HandClock
) -> None:
    store = await open_sqlite(path, clock=clock, key=KEY)

    kept = old.execute("SELECT channel, native_id, message, kind, gone FROM links").fetchall()
    assert {(kind, gone) for *_, kind, gone in kept} == {(0, 0), (1, 0), (1, 1), (2, 0)}
    for key, native_id, message, *_ in kept:
        channel = channel_of_key(key)
        assert await store.resolve(channel, native_id) == one(old, RESOLVE, key, native_id)
        copies = [(r.slot, r.native_id, r.thread) for r in await store.copies(message, channel)]
        assert copies == old.execute(COPIES, (message, key)).fetchall()
        assert await thread(store, message, key) == one(old, THREAD, message, key)
    await store.close()


async def test_a_store_without_a_link_is_migrated(path: Path, clock: HandClock) -> None:
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        migrate(db, {version: step for version, step in migrations().items() if version <= 2})

    store = await open_sqlite(path, clock=clock, key=KEY)

    assert await store.resolve(channel_of_key("slack:T1:C1"), "1700000000.000100") is None
    await store.close()


def one(db: sqlite3.Connection, query: str, *values: str) -> Any:
    found = db.execute(query, values).fetchone()
    return None if found is None else found[0]


async def thread(store: SqliteStore, root: MessageId, channel: str) -> str | None:
    assert store.writer
    return await store.writer.run(links.root_in_channel, root, channel)
