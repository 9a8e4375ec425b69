"""What an older version of the bridge kept is found again after its schema was brought up."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Generator
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from bridge.model import AccountId, ActorId, MessageId, RoomId
from bridge.model.people_records import DisplayName
from bridge.model.refs import channel_of_key
from bridge.model.room_records import Ban, RoomPause
from bridge.model.turn_records import HandOver
from bridge.store import SqliteStore, open_sqlite, threads
from bridge.store.schema import migrate, migrations
from bridge.testing.clock import ManualClock
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
    write_history(path, 2)
    with closing(sqlite3.connect(path)) as db:
        db.backup(memory)
    yield memory
    memory.close()


async def test_every_link_is_found_after_the_migration(
    old: sqlite3.Connection, path: Path, clock: ManualClock
) -> None:
    store = await open_sqlite(path, clock=clock, key=KEY)

    rows = old.execute("SELECT channel, native_id, message, kind, gone FROM links").fetchall()
    assert {(kind, gone) for *_, kind, gone in rows} == {(0, 0), (1, 0), (1, 1), (2, 0)}
    for key, native_id, message, *_ in rows:
        channel = channel_of_key(key)
        assert await store.resolve(channel, native_id) == single_value(old, RESOLVE, key, native_id)
        copies = [(r.slot, r.native_id, r.thread) for r in await store.copies(message, channel)]
        assert copies == old.execute(COPIES, (message, key)).fetchall()
        assert await thread(store, message, key) == single_value(old, THREAD, message, key)
    await store.close()


async def test_everything_under_old_names_is_found_after_the_migration(
    path: Path, clock: ManualClock
) -> None:
    write_history(path, 16)

    store = await open_sqlite(path, clock=clock, key=KEY)

    acme, lobby = AccountId("acme"), RoomId("lobby")
    ann, bob = ActorId("tin:W1:U1"), ActorId("wire:W2:U2")
    assert await store.get_value(acme, "plain") == "a value"
    assert await store.get_value(acme, "secret") == "hidden"
    assert await store.bans() == [
        Ban(ann, "banned", "cli", 1.0, lobby), Ban(bob, "opted_out", bob, 2.0, None),
    ]  # fmt: skip
    assert await store.paused_rooms() == [RoomPause(lobby, "a loop", "bridge", 3.0, 99.0)]
    assert await store.holdings() == [HandOver(lobby, "room", None, bob, 2.0)]
    usage = {quota: (used.messages, used.tokens, used.micros) for quota, used in
             await store.spending(0)}  # fmt: skip
    assert usage == {"agent:x": (2, 70, 5), "room:lobby": (2, 70, 5)}
    (consent,) = await store.direct_ends()
    assert (consent.actor, consent.account, consent.room, consent.at) == (ann, acme, lobby, 5.0)
    assert await store.direct_pairs() == [(ann, bob)]
    assert await store.shown_name(lobby, ann) == DisplayName(lobby, ann, "Ann", "Ann (Tin)")
    metadata = (await store.conversation(UUID(int=9))).metadata or {}
    assert metadata["tools"] == [{"name": "add", "parameters": {"type": "object"}, "agents": ["x"]}]
    (feedback,) = await store.undelivered_feedback()
    assert (feedback.actor, feedback.comment, feedback.pending_agent) == (ann, "too long", "bot")
    (turn,) = await store.open_turns()
    assert (turn.id, turn.asked) == ("t1", 1700000000.0)
    explanation = await store.explain(MessageId("tin:W1:home:m1"))
    assert explanation is not None
    (row,) = await store.waiting_rows()
    assert row.raw.dedupe_key == "D1"
    await store.close()


def test_the_migration_renames_and_builds_no_large_table_again() -> None:
    """A rename is made in the schema alone; a copy of a table would take minutes in a large one."""
    script = migrations()[17]

    assert re.findall(r"CREATE TABLE (\w+)", script) == ["bans"]
    assert "CREATE INDEX" not in script


async def test_a_store_without_a_link_is_migrated(path: Path, clock: ManualClock) -> None:
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        migrate(db, {version: step for version, step in migrations().items() if version <= 2})

    store = await open_sqlite(path, clock=clock, key=KEY)

    assert await store.resolve(channel_of_key("slack:T1:C1"), "1700000000.000100") is None
    await store.close()


def write_history(path: Path, version: int) -> None:
    """A store with this schema, and what a bridge of that version wrote into it."""
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        migrate(db, {number: step for number, step in migrations().items() if number <= version})
        db.execute("DELETE FROM meta")
        db.executescript(HISTORY.with_name(f"history_{version:04}.sql").read_text())


def single_value(db: sqlite3.Connection, query: str, *values: str) -> Any:
    row = db.execute(query, values).fetchone()
    return None if row is None else row[0]


async def thread(store: SqliteStore, root: MessageId, channel: str) -> str | None:
    assert store.writer
    return await store.writer.run(threads.root_in_channel, root, channel)
