"""What stands in the way of opening a store, and what the error says to do."""

from __future__ import annotations

import asyncio
import errno
import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from importlib.resources import files
from pathlib import Path

import pytest

from bridge.app.build import open_store
from bridge.app.settings.file import settings_of
from bridge.errors import ConfigError, SchemaTooNew, StoreCorrupt, StoreError, StoreFull, StoreGone
from bridge.store import SqliteStore, open_sqlite, open_sqlite_to_read
from bridge.store.blobs import open_blobs
from bridge.store.maintenance import backup, create, encrypt, restore, schema_version
from bridge.store.maintenance import migrate as migrate_store
from bridge.store.place import standing, traces
from bridge.store.schema import (
    build_search_index,
    migrate,
    migrations,
    newest_version,
    version_of,
)
from bridge.store.sizes import database_size
from bridge.store.vault import VARIABLE, data_key_of
from bridge.testing.clock import ManualClock
from bridge.testing.store_contract import ACME, HOME, admit, new_message, raw, stored
from tests.store.conftest import KEY

MIGRATIONS = files("bridge.store").joinpath("migrations")


async def test_a_reopened_store_has_all_its_rows(
    store: SqliteStore, path: Path, clock: ManualClock
) -> None:
    row = await store.accept(raw(1), advance=True)
    await admit(store, new_message("m1"))
    await store.put_credential("token", "xoxb")
    await store.close()

    again = await open_sqlite(path, clock=clock, key=KEY)

    assert await again.waiting_rows() == [row]
    assert await again.message(new_message("m1").id) == stored(new_message("m1"))
    assert await again.cursor(ACME, HOME) == "000001"
    assert await again.credential("token") == "xoxb"
    await again.close()


async def test_the_folder_and_file_of_a_new_store_belong_to_their_owner_alone(
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


async def test_writes_are_synchronous_by_default(path: Path, clock: ManualClock) -> None:
    modes: list[int] = []
    for synchronous in ("FULL", "NORMAL"):
        store = await open_sqlite(path, clock=clock, key=None, synchronous=synchronous)
        assert store.writer is not None
        modes += await store.writer.run(lambda db: db.execute("PRAGMA synchronous").fetchone())
        await store.close()

    assert modes == [2, 1]


async def test_a_second_writer_is_refused(
    store: SqliteStore, path: Path, clock: ManualClock
) -> None:
    with pytest.raises(StoreError, match="in use by another process"):
        await open_sqlite(path, clock=clock, key=KEY)

    await store.accept(raw(1), advance=False)
    await store.close()
    await (await open_sqlite(path, clock=clock, key=KEY)).close()


HOLDER = """
import asyncio, sys
from pathlib import Path
from bridge.runtime.clock import SystemClock
from bridge.store import open_sqlite

async def hold():
    store = await open_sqlite(Path(sys.argv[1]), clock=SystemClock(), key=None)
    print("open", flush=True)
    await asyncio.sleep(60)

asyncio.run(hold())
"""


@pytest.mark.process
async def test_a_crashed_process_leaves_no_lock(path: Path, clock: ManualClock) -> None:
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
    store: SqliteStore, path: Path, clock: ManualClock
) -> None:
    await store.close()
    for _ in range(2):
        with pytest.raises(StoreError, match="does not open with this key"):
            await open_sqlite(path, clock=clock, key=bytes(32))


async def test_a_store_in_use_can_be_opened_for_reading(
    store: SqliteStore, path: Path, clock: ManualClock
) -> None:
    await admit(store, new_message("m1"))

    looking = await open_sqlite_to_read(path, clock=clock)

    assert await looking.message(new_message("m1").id) == stored(new_message("m1"))
    await admit(store, new_message("m2"))
    assert (await looking.status()).messages == 2
    with pytest.raises(StoreError, match="read only"):
        await looking.accept(raw(1), advance=False)
    await looking.close()
    with pytest.raises(StoreError, match="closed"):
        await looking.message(new_message("m1").id)


async def test_a_closed_store_can_be_opened_for_reading(
    store: SqliteStore, path: Path, clock: ManualClock
) -> None:
    await admit(store, new_message("m1"))
    await store.close()

    looking = await open_sqlite_to_read(path, clock=clock)

    assert await looking.message(new_message("m1").id) == stored(new_message("m1"))
    await looking.close()


async def test_a_store_cannot_be_read_before_the_first_run(path: Path, clock: ManualClock) -> None:
    with pytest.raises(StoreError, match="There is no store"):
        await open_sqlite_to_read(path, clock=clock)

    assert not path.parent.exists()


async def test_a_newer_schema_is_refused(
    store: SqliteStore, path: Path, clock: ManualClock
) -> None:
    await store.close()
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA user_version = {newest_version() + 1}")

    with pytest.raises(SchemaTooNew, match="install the newer version"):
        await open_sqlite(path, clock=clock, key=KEY)
    with pytest.raises(SchemaTooNew, match="install the newer version"):
        await open_sqlite_to_read(path, clock=clock)


async def test_the_database_of_another_program_is_not_changed(
    path: Path, clock: ManualClock
) -> None:
    before = _theirs(path)

    with pytest.raises(StoreError, match="no store of the bridge"):
        await open_sqlite(path, clock=clock, key=KEY)

    assert _bytes(path) == before


@pytest.mark.parametrize(
    "junk", [b"not a database at all" * 500, b"SQLite format 3\0" + b"?" * 9000]
)
async def test_a_file_of_random_bytes_in_place_of_a_store_is_reported_as_damaged(
    store: SqliteStore, path: Path, clock: ManualClock, junk: bytes
) -> None:
    await store.close()
    _write(path, junk)

    with pytest.raises(StoreCorrupt, match="restore a backup"):
        await open_sqlite(path, clock=clock, key=KEY)


FOREIGN = {
    "text": b"root:x:0:0:root:/root:/bin/bash\n",
    "long text": b"not a database at all" * 500,
    "one byte": b"\0",
    "a broken SQLite file": b"SQLite format 3\0" + b"?" * 9000,
}


@pytest.mark.parametrize("name", [*FOREIGN, "an SQLite file", "one with a write-ahead log"])
async def test_a_foreign_file_is_not_changed_and_nothing_is_created_beside_it(
    path: Path, clock: ManualClock, name: str
) -> None:
    if name in FOREIGN:
        _write(path, FOREIGN[name])
    else:
        _their_database(path, log="log" in name)
    before = _bytes(path)
    settings = settings_of({"store": {"path": str(path)}})

    with pytest.raises(StoreError) as opened:
        await open_store(settings, clock)
    with pytest.raises(StoreError) as read:
        await open_sqlite_to_read(path, clock=clock)
    for job in (migrate_store, schema_version, lambda opener: backup(opener, path.with_name("b"))):
        with pytest.raises(StoreError, match="no store of the bridge"):
            job(path)

    for error in (str(opened.value), str(read.value)):
        assert "no store of the bridge" in error
        assert "Change store.path" in error
        assert "restore" not in error
    assert _bytes(path) == before
    assert _names(path.parent) == [path.name]


@pytest.mark.parametrize("where", ["file/bridge.sqlite3", "file/a/b/bridge.sqlite3"])
async def test_a_path_below_a_file_is_a_clear_error(
    tmp_path: Path, clock: ManualClock, where: str
) -> None:
    file = tmp_path / "file"
    _write(file, b"x")
    path = tmp_path / where

    for opening in (open_store(settings_of({"store": {"path": str(path)}}), clock),
                    open_sqlite(path, clock=clock, key=KEY),
                    open_sqlite_to_read(path, clock=clock)):  # fmt: skip
        with pytest.raises(StoreError, match=f"{file}' is a file, not a folder"):
            await opening
    for job in (
        migrate_store,
        schema_version,
        create,
        lambda opener: backup(opener, tmp_path / "b"),
    ):
        with pytest.raises(StoreError, match="is a file, not a folder"):
            job(path)

    assert _names(tmp_path) == ["file"]


@pytest.mark.parametrize(
    ("kind", "error_text"),
    [("folder", "is a folder; name a file in it"), ("pipe", "no plain file")],
)
async def test_a_path_that_is_no_file_is_a_clear_error(
    path: Path, clock: ManualClock, kind: str, error_text: str
) -> None:
    _make(path, kind)

    with pytest.raises(StoreError, match=error_text):
        await open_store(settings_of({"store": {"path": str(path)}}), clock)

    assert _names(path.parent) == [path.name]


async def test_a_store_cannot_have_the_name_of_its_key_or_blobs(
    tmp_path: Path, clock: ManualClock
) -> None:
    for name in ("bridge.key", "bridge.blobs"):
        with pytest.raises(StoreError, match=r"end it in \.sqlite3"):
            await open_sqlite(tmp_path / name, clock=clock, key=KEY)

    assert _names(tmp_path) == []


@pytest.mark.parametrize(
    ("number", "error_text"),
    [
        (errno.EACCES, "give the bridge's user"),
        (errno.EROFS, "mounted read-only"),
        (errno.EIO, "look at the system's log"),
        (errno.ENOSPC, "No room left"),
    ],
)
async def test_a_disk_error_says_what_to_do(
    path: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch, number: int, error_text: str
) -> None:
    def refuses(*_: object, **__: object) -> int:
        raise OSError(number, os.strerror(number), str(path))

    monkeypatch.setattr("bridge.store.place.os.open", refuses)

    with pytest.raises(StoreError, match=error_text):
        await open_sqlite(path, clock=clock, key=KEY)


# --- a store whose file is gone -----------------------------------------------------------------


async def _used(path: Path, clock: ManualClock) -> None:
    """As `run` leaves it: with its key and its files."""
    store = await open_store(settings_of({"store": {"path": str(path)}}), clock)
    await store.close()
    _make(path.with_suffix(".blobs"), "folder")


@pytest.mark.parametrize(
    "left", [(".lock", ".key", ".blobs"), (".key",), (".lock",), (".blobs",), (".key", ".blobs")]
)
async def test_a_lost_store_file_is_not_replaced_silently(
    path: Path, clock: ManualClock, left: Sequence[str]
) -> None:
    await _used(path, clock)
    _keep_only(path.parent, left)
    before = _names(path.parent)
    settings = settings_of({"store": {"path": str(path)}})

    for opening in (open_store(settings, clock), open_sqlite_to_read(path, clock=clock)):
        with pytest.raises(StoreGone, match="uacs-bridge db new") as caught:
            await opening
        assert all(repr(name)[1:-1] in str(caught.value) for name in before)
    with pytest.raises(StoreGone, match="db restore"):
        migrate_store(path)

    assert _names(path.parent) == before
    assert create(path) is None
    await (await open_store(settings, clock)).close()


@pytest.mark.parametrize(
    "foreign", [b"-----BEGIN PRIVATE KEY-----\n", b"k" * 44 + b"\n", b"\xff" * 45]
)
async def test_the_key_file_of_another_program_is_not_used(
    tmp_path: Path, clock: ManualClock, foreign: bytes
) -> None:
    path, certificate = tmp_path / "server.sqlite3", tmp_path / "server.pem"
    _write(tmp_path / "server.key", foreign)
    _write(certificate, b"-----BEGIN CERTIFICATE-----\n" * 10)

    assert traces(path) == []
    await (await open_sqlite(path, clock=clock, key=KEY)).close()
    with pytest.raises(ConfigError, match=r"server\.key' holds no key of a store"):
        await open_store(settings_of({"store": {"path": str(path)}}), clock)
    for refused in (lambda: standing(certificate), lambda: restore(path, certificate)):
        with pytest.raises(StoreError, match="a file of another program") as caught:
            refused()
        assert not isinstance(caught.value, StoreCorrupt)
    assert _bytes(certificate).startswith(b"-----BEGIN CERTIFICATE")


async def test_a_foreign_file_beside_only_a_key_is_not_reported_as_damaged(
    path: Path, clock: ManualClock
) -> None:
    """Damaged is a store that was in use: it left a lock, a log or files."""
    await _used(path, clock)
    _write(path, b"written by another program" * 10)
    with pytest.raises(StoreCorrupt):
        standing(path)
    _keep_only(path.parent, (path.suffix, ".key"))

    with pytest.raises(StoreError, match="a file of another program") as caught:
        standing(path)

    assert not isinstance(caught.value, StoreCorrupt)


async def test_a_lost_store_can_be_restored(path: Path, clock: ManualClock) -> None:
    await _used(path, clock)
    backup(path, path.with_name("backup"))
    _remove(path)

    assert restore(path.with_name("backup"), path) is None

    await (await open_store(settings_of({"store": {"path": str(path)}}), clock)).close()


async def test_a_write_ahead_log_without_its_store_is_moved_away(
    path: Path, clock: ManualClock
) -> None:
    await _used(path, clock)
    _remove(path)
    _write(path.with_name(f"{path.name}-wal"), b"old" * 100)

    create(path)

    assert _bytes(path.with_name(f"{path.name}.replaced-1-wal")) == b"old" * 100
    assert schema_version(path) == newest_version()
    with pytest.raises(StoreError, match="nothing was changed"):
        create(path)


async def test_a_failed_first_start_is_not_reported_as_a_lost_store(
    path: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk at the very first start leaves an empty file and perhaps a key."""
    settings = settings_of({"store": {"path": str(path)}})
    with monkeypatch.context() as patched:
        patched.setattr("bridge.store.sqlite.open_to_write", _full)
        with pytest.raises(StoreFull):
            await open_store(settings, clock)

    assert f"{path.name}.lock" not in _names(path.parent)
    await (await open_store(settings, clock)).close()


def _full(path: Path, **_: object) -> sqlite3.Connection:
    raise StoreFull(f"No room left for {path}")


@pytest.mark.parametrize("change", ["removed", "replaced by another"])
async def test_a_store_file_that_is_removed_while_the_bridge_runs_is_noticed(
    store: SqliteStore, path: Path, change: str
) -> None:
    """What is written into a file without a name is lost at the end: it is not acknowledged."""
    await admit(store, new_message("m1"))
    away = path.with_name("away")
    _move(path, away)
    if change != "removed":
        _write(path, _bytes(away))

    with pytest.raises(StoreGone, match=change):
        await admit(store, new_message("m2"))
    with pytest.raises(StoreGone, match=change):
        await store.prove_writable()

    _move(away, path)
    await store.prove_writable()
    await admit(store, new_message("m2"))


async def test_created_folders_belong_to_their_owner_alone(
    tmp_path: Path, clock: ManualClock
) -> None:
    path = tmp_path / "a" / "b" / "bridge.sqlite3"
    before = _mode(tmp_path)

    await (await open_store(settings_of({"store": {"path": str(path)}}), clock)).close()
    blobs = await open_blobs(tmp_path / "c" / "d" / "x.blobs", clock=clock)
    await blobs.close()
    backup(path, tmp_path / "e" / "f" / "backup")
    restore(tmp_path / "e" / "f" / "backup", tmp_path / "g" / "h" / "bridge.sqlite3")

    assert _modes(tmp_path) == ({0o700}, {0o600})
    assert _mode(tmp_path) == before  # it was there: not ours to change


async def test_damage_inside_a_store_is_found_at_opening(
    store: SqliteStore, path: Path, clock: ManualClock
) -> None:
    for number in range(300):
        await store.accept(raw(number, payload=b"x" * 500), advance=False)
    await store.close()
    whole = _bytes(path)
    _write(path, whole[: 5 * 4096] + b"\xff" * (len(whole) - 6 * 4096) + whole[-4096:])

    with pytest.raises(StoreCorrupt, match="restore a backup"):
        await open_sqlite(path, clock=clock, key=KEY)


async def test_damage_in_a_large_store_after_a_crash_is_found_while_it_works(
    store: SqliteStore, path: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
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


async def test_a_large_store_that_was_closed_properly_is_not_checked(
    store: SqliteStore, path: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    await admit(store, new_message("m1"))
    await store.close()
    monkeypatch.setattr("bridge.store.schema._CHECKED_FIRST", 0)

    again = await open_sqlite(path, clock=clock, key=KEY)

    assert again.late_check is None
    await again.close()


async def test_a_store_can_be_closed_during_its_check(
    store: SqliteStore, path: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
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


async def test_a_folder_at_the_path_of_the_store_is_an_error(
    path: Path, clock: ManualClock
) -> None:
    _write(path / "inside", b"")

    with pytest.raises(StoreError, match=r"data/bridge\.sqlite3' is a folder"):
        await open_sqlite(path, clock=clock, key=KEY)


def test_migration_numbers_are_unique() -> None:
    numbered = [file.name for file in MIGRATIONS.iterdir() if file.name.endswith(".sql")]

    assert list(migrations()) == sorted(int(name[:4]) for name in numbered)


def test_a_migration_is_applied_once_and_atomically(tmp_path: Path) -> None:
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


async def test_a_new_store_has_the_schema_that_the_migrations_make(
    store: SqliteStore, path: Path, tmp_path: Path
) -> None:
    with closing(sqlite3.connect(tmp_path / "migrated", isolation_level=None)) as migrated:
        migrate(migrated, migrations())
        build_search_index(migrated)
        with closing(sqlite3.connect(path)) as new:
            assert _schema(new) == _schema(migrated)


def _schema(db: sqlite3.Connection) -> list[object]:
    header = [
        db.execute(f"PRAGMA {name}").fetchall() for name in ("user_version", "application_id")
    ]
    objects = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name"
    return [*header, *db.execute(objects).fetchall()]


def _names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def _make(path: Path, kind: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.mkdir() if kind == "folder" else os.mkfifo(path)


def _remove(path: Path) -> None:
    path.unlink()


def _move(path: Path, target: Path) -> None:
    path.rename(target)


def _keep_only(folder: Path, suffixes: Sequence[str]) -> None:
    for file in list(folder.iterdir()):
        if file.suffix not in suffixes:
            file.rmdir() if file.is_dir() else file.unlink()


def _their_database(path: Path, *, log: bool) -> None:
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as db:
        if log:
            db.execute("PRAGMA journal_mode = WAL")
        db.execute("CREATE TABLE theirs (a)")
        db.commit()


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def _modes(folder: Path) -> tuple[set[int], set[int]]:
    """Of all folders in it, and of all files."""
    files = list(folder.rglob("*"))
    folders = {_mode(message) for message in files if message.is_dir()}
    return folders, {_mode(message) for message in files if message.is_file()}


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


_LOOKS = """
import sys
if len(sys.argv) > 2:
    from sqlcipher3 import dbapi2 as sqlite
else:
    import sqlite3 as sqlite
db = sqlite.connect(sys.argv[1])
if len(sys.argv) > 2:
    db.execute(f"PRAGMA key = \\"x'{sys.argv[2]}'\\"")
print(db.execute("SELECT count(*) FROM inbox").fetchone()[0])
db.close()
"""


@pytest.mark.process
@pytest.mark.parametrize("encrypted", [False, True])
async def test_another_program_that_looks_at_a_store_in_use_does_not_take_its_log_away(
    path: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch, encrypted: bool
) -> None:
    """SQLite removes the log when the last connection closes. Whether there is another one it knows
    by a lock, which a process loses when it closes the file by other means."""
    await (await open_sqlite(path, clock=clock, key=KEY)).close()
    if encrypted:
        pytest.importorskip("sqlcipher3", reason="sqlcipher3 is not installed")
        monkeypatch.setenv(VARIABLE, "a key of some length")
        encrypt(path)
    key = data_key_of(path)
    arguments = [str(path), *([] if key is None else [key.database])]

    def look() -> int:
        command = [sys.executable, "-c", _LOOKS, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return int(done.stdout)

    store = await open_sqlite(path, clock=clock, key=KEY)
    await store.accept(raw(1), advance=False)
    assert standing(path) == "store"
    database_size(path)  # for /metrics
    first = await asyncio.to_thread(look)
    log_stays = path.with_name(f"{path.name}-wal").exists()
    await store.accept(raw(2), advance=False)
    second = await asyncio.to_thread(look)
    await store.close()

    assert (first, log_stays, second) == (1, True, 2)
