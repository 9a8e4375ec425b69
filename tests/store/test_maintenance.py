"""What `uacs-bridge db` does: migrate, backup, restore."""

from __future__ import annotations

import asyncio
import re
import sqlite3
import stat
from contextlib import closing
from importlib.resources import files
from pathlib import Path

import pytest

from bridge.errors import SchemaTooNew, StoreError
from bridge.store import SqliteStore, open_sqlite
from bridge.store.maintenance import backup, create, migrate, restore, schema_version
from bridge.store.schema import newest_version
from bridge.testing.clock import ManualClock
from bridge.testing.store_contract import admit, new_message, raw
from tests.store.conftest import KEY


async def test_a_backup_of_a_busy_store_is_whole(
    store: SqliteStore, tmp_path: Path, clock: ManualClock
) -> None:
    async def go_on() -> None:
        for number in range(200):
            await admit(store, new_message(f"later{number}"))

    for number in range(20):
        await admit(store, new_message(f"m{number}"))
    working = asyncio.ensure_future(go_on())

    await store.backup(tmp_path / "one")
    await asyncio.to_thread(backup, store.path, tmp_path / "two")

    await working
    for name in ("one", "two"):
        assert _mode(tmp_path / name) == 0o600
        copied = await open_sqlite(tmp_path / name, clock=clock, key=KEY)
        status = await copied.status()
        await copied.close()
        assert 20 <= status.messages <= 220


async def test_a_backup_does_not_overwrite_a_file(store: SqliteStore, tmp_path: Path) -> None:
    target = tmp_path / "backup"
    _write(target, b"precious")

    with pytest.raises(StoreError, match="choose another name"):
        await store.backup(target)
    with pytest.raises(StoreError, match="choose another name"):
        backup(store.path, store.path)

    assert target.read_text() == "precious"


async def test_a_restored_backup_is_the_store_as_it_was(
    store: SqliteStore, path: Path, tmp_path: Path, clock: ManualClock
) -> None:
    await admit(store, new_message("m1"))
    await store.backup(tmp_path / "backup")
    await admit(store, new_message("m2"))
    await store.close()

    aside = restore(tmp_path / "backup", path)

    assert aside is not None
    assert [await _messages(file, clock) for file in (path, aside)] == [1, 2]
    assert _mode(path) == 0o600


async def test_a_backup_can_be_restored_to_an_empty_place(
    store: SqliteStore, tmp_path: Path, clock: ManualClock
) -> None:
    await admit(store, new_message("m1"))
    await store.backup(tmp_path / "backup")

    assert restore(tmp_path / "backup", tmp_path / "new" / "bridge.sqlite3") is None

    assert await _messages(tmp_path / "new" / "bridge.sqlite3", clock) == 1


async def test_a_damaged_store_can_be_replaced(
    store: SqliteStore, path: Path, tmp_path: Path, clock: ManualClock
) -> None:
    await admit(store, new_message("m1"))
    await store.backup(tmp_path / "backup")
    await store.close()
    _write(path, b"rubbish" * 1000)

    restore(tmp_path / "backup", path)

    assert await _messages(path, clock) == 1


async def test_a_store_in_use_is_not_overwritten(store: SqliteStore, tmp_path: Path) -> None:
    await store.backup(tmp_path / "backup")

    with pytest.raises(StoreError, match="in use"):
        restore(tmp_path / "backup", store.path)

    await admit(store, new_message("m1"))


async def test_a_bad_backup_is_refused_before_anything_is_touched(
    store: SqliteStore, path: Path, tmp_path: Path, clock: ManualClock
) -> None:
    await admit(store, new_message("m1"))
    await store.backup(tmp_path / "newer")
    await store.close()
    with closing(sqlite3.connect(tmp_path / "newer")) as db:
        db.execute(f"PRAGMA user_version = {newest_version() + 1}")
    (tmp_path / "junk").write_bytes(b"junk" * 1000)
    (tmp_path / "empty").touch()

    for name, error in (
        ("newer", SchemaTooNew),
        ("junk", StoreError),
        ("empty", StoreError),
        ("nothing", StoreError),
    ):
        with pytest.raises(error):
            restore(tmp_path / name, path)

    assert await _messages(path, clock) == 1
    assert [file.name for file in path.parent.iterdir() if "replaced" in file.name] == []


def test_a_backup_does_not_replace_a_foreign_file(tmp_path: Path) -> None:
    theirs, path = tmp_path / "backup", tmp_path / "passwd"
    create(theirs.with_name("ours"))
    backup(theirs.with_name("ours"), theirs)
    path.write_text("root:x:0:0\n")
    before = sorted(file.name for file in tmp_path.iterdir())

    with pytest.raises(StoreError, match="no store of the bridge"):
        restore(theirs, path)
    with pytest.raises(StoreError, match="no backup of the bridge"):
        restore(path, theirs.with_name("ours"))

    assert path.read_text() == "root:x:0:0\n"
    assert sorted(file.name for file in tmp_path.iterdir()) == before


@pytest.mark.parametrize("name", ["folder", "file/backup", "taken", "link"])
def test_a_backup_goes_to_a_free_name_in_a_folder(tmp_path: Path, name: str) -> None:
    path = tmp_path / "bridge.sqlite3"
    create(path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("x")
    (tmp_path / "taken").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    (tmp_path / "taken.part").write_text("theirs")
    before = sorted(file.name for file in tmp_path.iterdir())

    with pytest.raises(StoreError):
        backup(path, tmp_path / name)

    assert sorted(file.name for file in tmp_path.iterdir()) == before
    backup(path, tmp_path / "taken.2")
    assert (tmp_path / "taken.part").read_text() == "theirs"


def test_no_statement_deletes_rows_that_status_counts_by_the_last_number() -> None:
    """`status` takes the last number of a row for the number of rows."""
    code = files("bridge.store")
    statements = [*code.joinpath("sql").iterdir(), *code.joinpath("migrations").iterdir()]
    statements += [file for file in code.iterdir() if file.name.endswith(".py")]
    deletes = re.compile(r"(?i)delete\s+from\s+(inbox|messages)\b")

    assert not [
        message.name for message in statements if deletes.search(message.read_text("utf-8"))
    ]


async def test_migrating_returns_the_versions(store: SqliteStore, path: Path) -> None:
    with pytest.raises(StoreError, match="in use"):
        migrate(path)
    assert schema_version(path) == newest_version()
    await store.close()

    assert migrate(path) == (newest_version(), newest_version())


def test_an_empty_file_is_migrated_from_version_zero(path: Path) -> None:
    path.parent.mkdir()
    path.touch()

    assert migrate(path) == (0, newest_version())


@pytest.mark.parametrize("job", [migrate, schema_version])
def test_maintenance_of_a_missing_store_is_an_error(path: Path, job: object) -> None:
    assert callable(job)
    with pytest.raises(StoreError, match="There is no store"):
        job(path)

    assert not path.exists()


async def _messages(path: Path, clock: ManualClock) -> int:
    store = await open_sqlite(path, clock=clock, key=KEY)
    await store.accept(raw(1), advance=False)
    status = await store.status()
    await store.close()
    return status.messages


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)
