"""What stands in the way of opening a store, and what the error says to do."""

from __future__ import annotations

import asyncio
import sqlite3
import stat
import sys
from contextlib import closing
from importlib.resources import files
from pathlib import Path

import pytest

from bridge.errors import SchemaTooNew, StoreCorrupt, StoreError
from bridge.store import SqliteStore, open_sqlite, open_sqlite_to_read
from bridge.store.schema import migrate, migrations, newest_version, version_of
from bridge.testing.store_contract import ACME, HOME, HandClock, admit, raw, said, stored
from tests.store.conftest import KEY

MIGRATIONS = files("bridge.store").joinpath("migrations")


async def test_everything_is_there_after_closing_and_opening(
    store: SqliteStore, path: Path, clock: HandClock
) -> None:
    row = await store.accept(raw(1), advance=True)
    await admit(store, said("m1"))
    await store.put_credential("token", "xoxb")
    await store.close()

    again = await open_sqlite(path, clock=clock, key=KEY)

    assert await again.waiting_rows() == [row]
    assert await again.message(said("m1").id) == stored(said("m1"))
    assert await again.cursor(ACME, HOME) == "000001"
    assert await again.credential("token") == "xoxb"
    await again.close()


async def test_folder_and_file_are_made_for_their_owner_alone(
    store: SqliteStore, path: Path
) -> None:
    await store.accept(raw(1), advance=False)

    files = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}

    assert files == {
        "bridge.sqlite3": 0o600,
        "bridge.sqlite3-wal": 0o600,
        "bridge.sqlite3-shm": 0o600,
        "bridge.sqlite3.lock": 0o600,
    }


async def test_writes_are_synchronous_unless_asked_otherwise(path: Path, clock: HandClock) -> None:
    found: list[int] = []
    for synchronous in ("FULL", "NORMAL"):
        store = await open_sqlite(path, clock=clock, key=None, synchronous=synchronous)
        assert store.writer is not None
        found += await store.writer.run(lambda db: db.execute("PRAGMA synchronous").fetchone())
        await store.close()

    assert found == [2, 1]


async def test_a_second_writer_is_refused(store: SqliteStore, path: Path, clock: HandClock) -> None:
    with pytest.raises(StoreError, match="in use by another process"):
        await open_sqlite(path, clock=clock, key=KEY)

    await store.accept(raw(1), advance=False)
    await store.close()
    await (await open_sqlite(path, clock=clock, key=KEY)).close()


HOLDER = """
import asyncio, sys
from pathlib import Path
from bridge.ports.clock import SystemClock
from bridge.store import open_sqlite

async def hold():
    store = await open_sqlite(Path(sys.argv[1]), clock=SystemClock(), key=None)
    print("open", flush=True)
    await asyncio.sleep(60)

asyncio.run(hold())
"""


async def test_a_crashed_process_leaves_no_lock(path: Path, clock: HandClock) -> None:
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOLDER, str(path), stdout=asyncio.subprocess.PIPE
    )
    assert child.stdout is not None
    try:
        assert await child.stdout.readline() == b"open\n"
        with pytest.raises(StoreError, match=f"pid {child.pid}"):
            await open_sqlite(path, clock=clock, key=None)
    finally:
        child.kill()
        await child.wait()

    await (await open_sqlite(path, clock=clock, key=None)).close()


async def test_a_failed_opening_leaves_no_lock(
    store: SqliteStore, path: Path, clock: HandClock
) -> None:
    await store.close()
    for _ in range(2):
        with pytest.raises(StoreError, match="does not open with this key"):
            await open_sqlite(path, clock=clock, key=bytes(32))


async def test_a_store_in_use_can_be_looked_into(
    store: SqliteStore, path: Path, clock: HandClock
) -> None:
    await admit(store, said("m1"))

    looking = await open_sqlite_to_read(path, clock=clock)

    assert await looking.message(said("m1").id) == stored(said("m1"))
    await admit(store, said("m2"))
    assert (await looking.status()).messages == 2
    with pytest.raises(StoreError, match="read only"):
        await looking.accept(raw(1), advance=False)
    await looking.close()
    with pytest.raises(StoreError, match="closed"):
        await looking.message(said("m1").id)


async def test_a_closed_store_can_be_looked_into(
    store: SqliteStore, path: Path, clock: HandClock
) -> None:
    await admit(store, said("m1"))
    await store.close()

    looking = await open_sqlite_to_read(path, clock=clock)

    assert await looking.message(said("m1").id) == stored(said("m1"))
    await looking.close()


async def test_there_is_nothing_to_look_into_before_the_first_run(
    path: Path, clock: HandClock
) -> None:
    with pytest.raises(StoreError, match="There is no store"):
        await open_sqlite_to_read(path, clock=clock)

    assert not path.parent.exists()


async def test_a_newer_schema_is_refused(store: SqliteStore, path: Path, clock: HandClock) -> None:
    await store.close()
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA user_version = {newest_version() + 1}")

    with pytest.raises(SchemaTooNew, match="install the newer version"):
        await open_sqlite(path, clock=clock, key=KEY)
    with pytest.raises(SchemaTooNew, match="install the newer version"):
        await open_sqlite_to_read(path, clock=clock)


async def test_the_file_of_another_program_is_left_alone(path: Path, clock: HandClock) -> None:
    before = _theirs(path)

    with pytest.raises(StoreError, match="no store of the bridge"):
        await open_sqlite(path, clock=clock, key=KEY)

    assert _bytes(path) == before


@pytest.mark.parametrize(
    "junk", [b"not a database at all" * 500, b"SQLite format 3\0" + b"?" * 9000]
)
async def test_a_file_of_junk_is_called_damaged(path: Path, clock: HandClock, junk: bytes) -> None:
    _write(path, junk)

    with pytest.raises(StoreCorrupt, match="restore a backup"):
        await open_sqlite(path, clock=clock, key=KEY)


async def test_damage_inside_is_found_at_opening(
    store: SqliteStore, path: Path, clock: HandClock
) -> None:
    for number in range(300):
        await store.accept(raw(number, payload=b"x" * 500), advance=False)
    await store.close()
    whole = _bytes(path)
    _write(path, whole[: 5 * 4096] + b"\xff" * (len(whole) - 6 * 4096) + whole[-4096:])

    with pytest.raises(StoreCorrupt, match="restore a backup"):
        await open_sqlite(path, clock=clock, key=KEY)


async def test_damage_in_a_large_store_after_a_crash_is_found_while_it_works(
    store: SqliteStore, path: Path, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(300):
        await store.accept(raw(number, payload=b"x" * 500), advance=False)
    await store.close()
    whole = _bytes(path)
    _write(path, whole[: -4 * 4096] + b"\xff" * (3 * 4096) + whole[-4096:])  # payloads, at the end
    monkeypatch.setattr("bridge.store.schema._CHECKED_FIRST", 0)
    monkeypatch.setattr("bridge.store.late_check._AFTER", 0.0)
    path.with_name(path.name + ".lock").write_text("pid 1\n")  # whoever held it crashed

    again = await open_sqlite(path, clock=clock, key=KEY)
    check = again.late_check
    assert check is not None
    await asyncio.to_thread(check.wait)

    with pytest.raises(StoreCorrupt, match="restore a backup"):
        await again.accept(raw(1000), advance=False)
    await again.close()


async def test_a_large_store_that_was_closed_is_not_read_through(
    store: SqliteStore, path: Path, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    await admit(store, said("m1"))
    await store.close()
    monkeypatch.setattr("bridge.store.schema._CHECKED_FIRST", 0)

    again = await open_sqlite(path, clock=clock, key=KEY)

    assert again.late_check is None
    await again.close()


async def test_a_store_closes_while_it_is_read_through(
    store: SqliteStore, path: Path, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(300):
        await store.accept(raw(number, payload=b"x" * 500), advance=False)
    await store.close()
    monkeypatch.setattr("bridge.store.schema._CHECKED_FIRST", 0)
    monkeypatch.setattr("bridge.store.late_check._AFTER", 0.0)
    path.with_name(path.name + ".lock").write_text("pid 1\n")

    again = await open_sqlite(path, clock=clock, key=KEY)
    await again.close()

    assert (await asyncio.to_thread(_bytes, path))[:6] == b"SQLite"


async def test_a_folder_in_the_files_place_is_an_error(path: Path, clock: HandClock) -> None:
    _write(path / "inside", b"")

    with pytest.raises(StoreError, match="data/bridge"):
        await open_sqlite(path, clock=clock, key=KEY)


def test_no_two_migrations_have_one_number() -> None:
    numbered = [file.name for file in MIGRATIONS.iterdir() if file.name.endswith(".sql")]

    assert list(migrations()) == sorted(int(name[:4]) for name in numbered)


def test_a_migration_is_applied_once_and_whole(tmp_path: Path) -> None:
    steps = {
        **migrations(),
        newest_version() + 1: "CREATE TABLE later (x); -- why; so\nINSERT INTO later VALUES (';');",
    }
    broken = {**steps, newest_version() + 2: "CREATE TABLE half (x);\nCREATE TABLE later (x);"}
    with closing(sqlite3.connect(tmp_path / "s", isolation_level=None)) as db:
        assert migrate(db, migrations()) == newest_version()
        assert migrate(db, steps) == newest_version() + 1
        assert migrate(db, steps) == newest_version() + 1
        assert db.execute("SELECT x FROM later").fetchall() == [(";",)]

        with pytest.raises(sqlite3.OperationalError, match="later"):
            migrate(db, broken)

        assert version_of(db) == newest_version() + 1
        assert db.execute("SELECT name FROM sqlite_master WHERE name = 'half'").fetchall() == []


def _theirs(path: Path) -> bytes:
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE theirs (x)")
    return path.read_bytes()


def _bytes(path: Path) -> bytes:
    return path.read_bytes()


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
