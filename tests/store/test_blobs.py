"""Files on disk and their in-memory twin keep every promise; crashes, full disks and damage."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sqlite3
import stat
import subprocess
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path

import pytest

from bridge.errors import FileDamaged, FileMissing, StoreError, StoreFull
from bridge.model.blob_ids import file_id_of, sha256_of
from bridge.ports.blobs import BlobRef, Blobs, BlobTotal
from bridge.runtime.clock import SystemClock
from bridge.store import open_sqlite, open_sqlite_to_read
from bridge.store.blobs import DiskBlobs, open_blobs
from bridge.testing.blobs_contract import (
    INVALID_IDS,
    PNG,
    BlobsContract,
    numbers,
    put,
    read,
    stream,
)
from bridge.testing.clock import ManualClock
from bridge.testing.memory_blobs import MemoryBlobs

LARGE = numbers(1_000_000)


class TestDiskBlobs(BlobsContract):
    @pytest.fixture
    async def blobs(self, clock: ManualClock, tmp_path: Path) -> AsyncIterator[Blobs]:
        blobs = await open_blobs(tmp_path / "bridge.blobs", clock=clock)
        yield blobs
        await blobs.close()


class TestMemoryBlobs(BlobsContract):
    @pytest.fixture
    async def blobs(self, clock: ManualClock) -> Blobs:
        return MemoryBlobs(clock)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data" / "bridge.blobs"


@pytest.fixture
async def blobs(folder: Path, clock: ManualClock) -> AsyncIterator[DiskBlobs]:
    blobs = await open_blobs(folder, clock=clock)
    yield blobs
    await blobs.close()


def place(folder: Path, ref: BlobRef) -> Path:
    digest = sha256_of(ref.file_id) or ""
    return folder / digest[:2] / digest


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if not path.is_dir())


@pytest.mark.parametrize("file_id", INVALID_IDS)
def test_only_ids_of_the_blob_store_have_a_hash(file_id: str) -> None:
    assert sha256_of(file_id) is None
    assert sha256_of(file_id_of("ab" * 32)) == "ab" * 32


async def test_only_its_owner_can_read_a_file(blobs: DiskBlobs, folder: Path) -> None:
    ref = await put(blobs, PNG)

    assert files(folder) == [place(folder, ref)]
    assert _modes(place(folder, ref)) == {0o600}
    assert _modes(folder, *(path.parent for path in files(folder))) == {0o700}


def _modes(*paths: Path) -> set[int]:
    return {stat.S_IMODE(path.stat().st_mode) for path in paths}


async def test_unfinished_files_of_a_dead_process_are_removed(
    blobs: DiskBlobs, folder: Path, clock: ManualClock
) -> None:
    ref = await put(blobs, PNG)
    (folder / "parts" / "half").write_bytes(b"half a file")

    again = await open_blobs(folder, clock=clock)

    assert files(folder) == [place(folder, ref)]
    assert await read(again, ref.file_id) == PNG
    await again.close()


async def test_a_kill_leaves_only_complete_files(folder: Path, clock: ManualClock) -> None:
    lines = await asyncio.to_thread(_killed_after, folder, 20)

    blobs = await open_blobs(folder, clock=clock)

    for file_id in lines:
        assert len(await read(blobs, file_id)) > 50_000
    assert not (await blobs.total()).files < len(lines)
    assert list((folder / "parts").iterdir()) == []
    await blobs.close()


def _killed_after(folder: Path, files: int) -> list[str]:
    """The ids that were told by a process that was killed while it wrote."""
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.store.crashing_blobs", str(folder)],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert child.stdout is not None
    with child, child.stdout as out:
        lines = [out.readline() for _ in range(files)]
        child.send_signal(signal.SIGKILL)
        lines += out.readlines()
    return [line.strip() for line in lines if line.endswith("\n")]


@pytest.mark.parametrize("turned", [0, 500_000, 999_999])
async def test_reading_a_damaged_file_fails(blobs: DiskBlobs, folder: Path, turned: int) -> None:
    ref = await put(blobs, LARGE)
    damaged = bytearray(LARGE)
    damaged[turned] ^= 1
    place(folder, ref).write_bytes(damaged)
    received = 0

    async def receive() -> None:
        nonlocal received
        async with blobs.open(ref.file_id) as pieces:
            async for piece in pieces:
                received += len(piece)

    with pytest.raises(FileDamaged, match="restore it from a backup"):
        await receive()

    assert received < len(LARGE)


@pytest.mark.parametrize("size", [0, 1, 300_000])
async def test_a_truncated_file_is_reported_as_damaged(
    blobs: DiskBlobs, folder: Path, size: int
) -> None:
    ref = await put(blobs, LARGE)
    place(folder, ref).write_bytes(LARGE[:size])

    with pytest.raises(FileDamaged):
        await read(blobs, ref.file_id)


async def test_damage_is_found_in_memory_as_on_disk(clock: ManualClock) -> None:
    blobs = MemoryBlobs(clock)
    ref = await put(blobs, PNG)
    blobs.damage(ref.file_id)

    with pytest.raises(FileDamaged):
        await read(blobs, ref.file_id)


async def test_putting_a_damaged_file_again_repairs_it(blobs: DiskBlobs, folder: Path) -> None:
    ref = await put(blobs, LARGE)
    place(folder, ref).write_bytes(b"damaged")

    await put(blobs, LARGE)

    assert await read(blobs, ref.file_id) == LARGE


async def test_a_file_can_be_replaced_and_removed_while_it_is_read(blobs: DiskBlobs) -> None:
    ref = await put(blobs, LARGE)

    async with blobs.open(ref.file_id) as pieces:
        received = await anext(pieces)
        await put(blobs, LARGE)
        await blobs.remove(ref.file_id)
        received += b"".join([piece async for piece in pieces])

    assert received == LARGE


async def test_links_and_folders_at_the_path_of_a_file_are_not_followed(
    blobs: DiskBlobs, folder: Path, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    ref = await put(blobs, PNG)
    place(folder, ref).unlink()
    place(folder, ref).symlink_to(secret)
    as_folder = file_id_of("ab" * 32)
    (folder / "ab" / ("ab" * 32)).mkdir(parents=True)

    for file_id in (ref.file_id, as_folder):
        assert await blobs.stat(file_id) is None
        with pytest.raises(FileMissing):
            await read(blobs, file_id)

    await put(blobs, PNG)
    assert await read(blobs, ref.file_id) == PNG
    assert secret.read_text() == "secret"


async def test_files_leave_a_reserve_of_the_disk_for_messages(
    folder: Path, clock: ManualClock
) -> None:
    blobs = await open_blobs(folder, clock=clock, reserve=1 << 60)

    with pytest.raises(StoreFull, match="make room"):
        await put(blobs, PNG)

    assert files(folder) == []
    await blobs.close()


@pytest.mark.process
def test_a_full_disk_refuses_the_file_and_keeps_the_others(folder: Path) -> None:
    """As a full disk does: the system writes a part of it, then no more."""
    program = (
        "import asyncio, resource, pathlib\n"
        "from bridge.errors import StoreFull\n"
        "from bridge.runtime.clock import SystemClock\n"
        "from bridge.store.blobs import open_blobs\n"
        "from bridge.testing.blobs_contract import put, read\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))\n"
        "async def main():\n"
        f"    blobs = await open_blobs(pathlib.Path({str(folder)!r}), clock=SystemClock())\n"
        "    small = await put(blobs, b'small')\n"
        "    try:\n"
        "        await put(blobs, bytes(50_000))\n"
        "    except StoreFull:\n"
        "        print('full', await read(blobs, small.file_id), await blobs.total())\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)

    assert (done.stdout, done.stderr) == ("full b'small' BlobTotal(files=1, size=5)\n", "")
    assert len(files(folder)) == 1


async def test_a_folder_that_cannot_be_created_is_an_error(
    tmp_path: Path, clock: ManualClock
) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(StoreError, match="Not a directory"):
        await open_blobs(tmp_path / "file" / "bridge.blobs", clock=clock)


def open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


async def test_no_file_is_left_open(blobs: DiskBlobs) -> None:
    ref = await put(blobs, LARGE)
    before = open_files()

    async def slow() -> AsyncGenerator[bytes]:
        yield bytes(2_000_000)
        await asyncio.sleep(60)

    for _ in range(5):
        putting = asyncio.create_task(blobs.put(slow(), limit=10_000_000))
        await asyncio.sleep(0.02)
        putting.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await putting
        async with blobs.open(ref.file_id) as pieces:
            await anext(pieces)

    assert open_files() == before


@pytest.mark.process
def test_memory_use_does_not_grow_with_the_file(tmp_path: Path) -> None:
    """100 MB through the store and out again, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.store.large_blob", str(tmp_path / "bridge.blobs"), "100"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip

    grown = float(done.stdout.split()[-1])
    assert grown < 20


async def test_the_files_that_a_store_names_are_in_use(tmp_path: Path) -> None:
    path = tmp_path / "bridge.sqlite3"
    named = [file_id_of(f"{number:064x}") for number in range(4)]
    store = await open_sqlite(path, clock=SystemClock(), key=bytes(32))
    await store.close()
    _fill(path, named)

    store = await open_sqlite_to_read(path, clock=SystemClock(), key=bytes(32))
    assert await store.files_in_use() == set(named[:3])
    await store.close()


def _fill(path: Path, named: list[str]) -> None:
    """Messages, the last of them deleted, and somebody's picture."""
    columns = "key, body, author, time, state, outcome"
    db = sqlite3.connect(path)
    for number, state in ((0, "complete"), (1, "edited"), (3, "deleted")):
        body = f'{{"file_id": "{named[number]}", "again": "{named[number]}"}}'.encode()
        db.execute(
            f"INSERT INTO message_rows ({columns}) VALUES (?, ?, 1, 0, ?, '')",
            (str(number), body, state),
        )
    db.execute("INSERT INTO people VALUES ('p', ?)", (f'{{"picture": "{named[2]}"}}'.encode(),))
    db.commit()
    db.close()


async def test_the_stream_is_read_only_as_fast_as_the_disk_writes(blobs: DiskBlobs) -> None:
    ref = await blobs.put(stream(*[LARGE] * 3), limit=3_000_000)

    assert ref.size == 3_000_000
    assert await blobs.total() == BlobTotal(1, 3_000_000)
