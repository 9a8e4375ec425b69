"""Backups in a folder write what changed, are whole also of a busy store, and survive being
killed."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from bridge.errors import StoreError
from bridge.store import SqliteStore, open_sqlite
from bridge.store.blobs import open_blobs
from bridge.store.checks import check_store
from bridge.store.increments import back_up, manifests_in, restore_from, verify, writing
from bridge.store.increments.manifest import BLOCK, numbers_in, pack_of
from bridge.store.maintenance import encrypt
from bridge.store.seal import Seal
from bridge.store.vault import VARIABLE, files_key_of
from bridge.testing.clock import ManualClock
from bridge.testing.store_contract import admit, new_message, raw
from tests.store.conftest import KEY
from tests.store.test_chain import TIMELINES, fill
from tests.waiting import LONGEST_WAIT


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "backups"


async def put_file(path: Path, text: bytes) -> Path:
    """Store a file; returns where it is."""
    blobs = await open_blobs(
        path.with_suffix(".blobs"), clock=ManualClock(), key=files_key_of(path), reserve=0
    )

    async def pieces() -> AsyncIterator[bytes]:
        yield text

    ref = await blobs.put(pieces(), limit=100_000)
    await blobs.close()
    digest = ref.file_id.removeprefix("blob:sha256-")
    return path.with_suffix(".blobs") / digest[:2] / digest


async def messages_in(path: Path) -> int:
    store = await open_sqlite(path, clock=ManualClock(), key=KEY)
    status = await store.status()
    await store.close()
    return status.messages


def damage_of(path: Path) -> list[str]:
    report = check_store(path, seal=Seal(KEY), files=None)
    return [fault.what for part in report.parts for fault in part.faults]


async def test_a_backup_of_a_store_in_use_is_the_store_as_it_was(
    store: SqliteStore, folder: Path, tmp_path: Path
) -> None:
    await fill(store)
    kept = await put_file(store.path, b"a picture")
    other = tmp_path / "other" / "b.sqlite3"

    manifest = back_up(store.path, folder, 100.0)
    _, aside, files = restore_from(folder, other)

    assert (manifest.number, aside, files) == (1, None, 1)
    assert (other.with_suffix(".blobs") / kept.parent.name / kept.name).read_bytes() == b"a picture"
    assert damage_of(other) == []
    assert await messages_in(other) == 6
    assert verify(folder, manifest) == []


async def test_the_second_backup_writes_what_changed(store: SqliteStore, folder: Path) -> None:
    for number in range(300):
        await admit(store, new_message(f"m{number}", f"words {number}"), timelines=TIMELINES)
    await put_file(store.path, b"x" * 50_000)

    first = back_up(store.path, folder, 100.0)
    unchanged = back_up(store.path, folder, 200.0)
    await store.accept(raw(1), advance=False)
    changed = back_up(store.path, folder, 300.0)

    assert first.written >= first.database.size / 2 + 50_000  # empty pages are alike
    assert unchanged.written == 0
    assert 0 < changed.written <= 12 * BLOCK < first.written / 3
    assert changed.files == first.files
    assert [own.number for own in manifests_in(folder)] == [1, 2, 3]


async def test_each_backup_can_be_restored_by_its_time(store: SqliteStore, folder: Path) -> None:
    for number in range(1, 4):
        await admit(store, new_message(f"m{number}"), timelines=TIMELINES)
        back_up(store.path, folder, 100.0 * number)
    await store.close()

    found: list[tuple[int, int]] = []
    for at in (100.0, 250.0, None):
        manifest, aside, _ = restore_from(folder, store.path, at)
        assert aside is not None
        found.append((manifest.number, await messages_in(store.path)))

    assert found == [(1, 1), (2, 2), (3, 3)]
    with pytest.raises(StoreError, match="no backup that is so old"):
        restore_from(folder, store.path, 99.0)


async def test_what_is_in_the_log_alone_is_backed_up_while_a_reader_holds_it(
    store: SqliteStore, folder: Path, tmp_path: Path
) -> None:
    """It is not in the database's file yet."""
    await admit(store, new_message("m1"), timelines=TIMELINES)
    near = store._files.near  # pyright: ignore[reportPrivateUsage]
    near.execute("BEGIN")
    near.execute("SELECT count(*) FROM message_rows").fetchone()
    for number in range(2, 30):
        await admit(store, new_message(f"m{number}"), timelines=TIMELINES)

    manifest = back_up(store.path, folder, 100.0)

    near.execute("COMMIT")
    assert manifest.log.size > 0
    restore_from(folder, tmp_path / "b.sqlite3")
    assert damage_of(tmp_path / "b.sqlite3") == []
    assert await messages_in(tmp_path / "b.sqlite3") == 29


@pytest.mark.process
async def test_backups_of_a_store_that_another_process_fills_are_whole(
    path: Path, folder: Path, tmp_path: Path
) -> None:
    program = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.store.crashing", str(path), "0", stdout=PIPE, stderr=DEVNULL
    )
    acknowledged = 0

    async def read() -> None:
        nonlocal acknowledged
        assert program.stdout
        async for line in program.stdout:
            acknowledged += line.startswith(b"admitted")

    reading = asyncio.create_task(read())
    least: list[int] = []
    try:
        async with asyncio.timeout(LONGEST_WAIT):
            for round_ in range(4):
                while acknowledged < 60 * (round_ + 1):  # noqa: ASYNC110 - another program
                    await asyncio.sleep(0.01)
                least.append(acknowledged)
                await asyncio.to_thread(back_up, path, folder, float(round_))
    finally:
        program.kill()
        await program.wait()
        await reading

    for round_, count in enumerate(least):
        other = tmp_path / f"{round_}.sqlite3"
        restore_from(folder, other, float(round_))
        assert damage_of(other) == []
        assert await messages_in(other) >= count


async def test_a_killed_backup_leaves_the_former_ones_and_the_next_one_is_whole(
    store: SqliteStore, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(store)
    back_up(store.path, folder, 100.0)
    await admit(store, new_message("later"), timelines=TIMELINES)
    await put_file(store.path, b"later")

    for dies in _deaths():
        copy = tmp_path / "copy"
        shutil.copytree(folder, copy)
        child = os.fork()
        if child == 0:  # as if it was killed: nothing is cleaned up
            dies()
            back_up(store.path, copy, 200.0)
            os._exit(1)
        _, status = await asyncio.to_thread(os.waitpid, child, 0)
        assert os.waitstatus_to_exitcode(status) == 9

        assert [verify(copy, own) for own in manifests_in(copy)] == [[]]
        back_up(store.path, copy, 300.0)
        assert [verify(copy, own) for own in manifests_in(copy)] == [[], []]
        restore_from(copy, tmp_path / "b.sqlite3")
        assert await messages_in(tmp_path / "b.sqlite3") == 7
        assert list(copy.rglob("*.part")) == []
        shutil.rmtree(copy)


def _deaths() -> list[Callable[[], None]]:
    """Ways to die: within the pack, before it is kept, within the files, before the manifest."""

    def before(owner: object, name: str) -> Callable[[], None]:
        def die() -> None:
            setattr(owner, name, lambda *_args, **_more: os._exit(9))

        return die

    files, pack = writing._Files, writing._Pack  # pyright: ignore[reportPrivateUsage]
    return [before(pack, "add"), before(files, "copy"), before(writing, "_copy"),
            before(pack, "keep"), before(writing, "write_manifest")]  # fmt: skip


async def test_only_the_newest_backups_stay_with_what_they_need(
    store: SqliteStore, folder: Path, tmp_path: Path
) -> None:
    await fill(store)
    gone = await put_file(store.path, b"soon gone")
    back_up(store.path, folder, 100.0)
    gone.unlink()
    for number in range(2, 6):
        await admit(store, new_message(f"later{number}"), timelines=TIMELINES)
        await store.overwrite_freed(alone=True)  # the log is empty again
        back_up(store.path, folder, 100.0 * number, keep=2)

    assert numbers_in(folder) == [4, 5]
    assert [verify(folder, own) for own in manifests_in(folder)] == [[], []]
    assert not (folder / "files" / gone.parent.name / gone.name).exists()
    streams = [stream for own in manifests_in(folder) for stream in (own.database, own.log)]
    packs = {number for number in range(1, 6) if pack_of(folder, number).exists()}
    assert packs == {number for stream in streams for number in stream.packs}
    assert packs < {1, 2, 3, 4, 5}
    restore_from(folder, tmp_path / "b.sqlite3")
    assert await messages_in(tmp_path / "b.sqlite3") == 10


async def test_damage_of_a_pack_is_found_and_changes_no_store(
    store: SqliteStore, folder: Path
) -> None:
    await fill(store)
    manifest = back_up(store.path, folder, 100.0)
    await store.close()
    pack = pack_of(folder, 1)
    contents = bytearray(pack.read_bytes())
    contents[BLOCK + 5] ^= 1
    pack.write_bytes(contents)

    (wrong,) = verify(folder, manifest)
    with pytest.raises(StoreError, match="is damaged"):
        restore_from(folder, store.path)
    pack.unlink()
    missing, *_ = verify(folder, manifest)

    assert "is not what was written" in wrong
    assert "it is missing" in missing
    assert await messages_in(store.path) == 6


async def test_a_damaged_file_is_not_taken_for_whole(store: SqliteStore, folder: Path) -> None:
    place = await put_file(store.path, b"a picture")
    place.write_bytes(b"other bytes")

    manifest = back_up(store.path, folder, 100.0)

    assert (manifest.files, manifest.damaged) == ([], [place.name])
    assert list((folder / "files").glob("*/*")) == []


async def test_an_encrypted_store_is_backed_up_as_it_is_and_incrementally(
    store: SqliteStore, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("sqlcipher3", reason="sqlcipher3 is not installed")
    for number in range(300):
        await admit(store, new_message(f"m{number}", f"secret {number}"), timelines=TIMELINES)
    await store.close()
    monkeypatch.setenv(VARIABLE, "a key of some length")
    encrypt(store.path)
    await put_file(store.path, b"a secret picture")
    again = await open_sqlite(store.path, clock=ManualClock(), key=KEY)

    first = back_up(store.path, folder, 100.0)
    await admit(again, new_message("later", "secret too"), timelines=TIMELINES)
    second = back_up(store.path, folder, 200.0)
    await again.close()
    restore_from(folder, tmp_path / "b.sqlite3")

    assert 0 < second.written < first.written / 2
    files = folder.rglob("*")  # noqa: ASYNC240
    everything = b"".join(file.read_bytes() for file in files if file.is_file())
    assert b"SQLite format" not in everything
    assert b"a secret picture" not in everything
    assert damage_of(tmp_path / "b.sqlite3") == []
    assert await messages_in(tmp_path / "b.sqlite3") == 301
    assert verify(folder, second) == []


def test_a_folder_of_other_things_is_left_alone(path: Path, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no store"):
        back_up(path, tmp_path / "backups", 1.0)
    assert not (tmp_path / "backups").exists()


async def test_a_folder_with_other_files_is_refused(store: SqliteStore, tmp_path: Path) -> None:
    strange = tmp_path / "photos"
    strange.mkdir()
    (strange / "cat.png").write_bytes(b"cat")

    with pytest.raises(StoreError, match=r"cat\.png"):
        back_up(store.path, strange, 1.0)

    assert [file.name for file in strange.iterdir()] == ["cat.png"]


async def test_two_backups_into_one_folder_do_not_run_at_once(
    store: SqliteStore, folder: Path
) -> None:
    back_up(store.path, folder, 1.0)
    from bridge.store.lock import StoreLock

    lock = StoreLock(folder / "backups")
    with pytest.raises(StoreError, match="in use"):
        back_up(store.path, folder, 2.0)
    lock.close()
