"""Files go from one blob store to another once, whole, and in any number of calls."""

from __future__ import annotations

from pathlib import Path

import pytest

from bridge.errors import StoreError
from bridge.ports.blobs import BlobTotal
from bridge.store.blobs import DiskBlobs
from bridge.store.copying import Copied, copy_blobs
from bridge.store.part_files import RESERVE
from bridge.testing.blobs_contract import PNG, numbers, put, read
from bridge.testing.clock import ManualClock
from bridge.testing.memory_blobs import MemoryBlobs

CONTENTS = [PNG, b"", b"Hello", numbers(300_000), *(b"%d" % number for number in range(20))]


@pytest.fixture
async def source(clock: ManualClock) -> MemoryBlobs:
    blobs = MemoryBlobs(clock)
    for content in CONTENTS:
        await put(blobs, content)
    return blobs


@pytest.fixture
def target(clock: ManualClock) -> MemoryBlobs:
    return MemoryBlobs(clock)


async def test_every_file_is_copied_once(source: MemoryBlobs, target: MemoryBlobs) -> None:
    size = sum(map(len, CONTENTS))

    first = await copy_blobs(source, target)
    second = await copy_blobs(source, target)

    assert first == Copied(len(CONTENTS), size, 0)
    assert second == Copied(0, 0, len(CONTENTS))
    assert await target.total() == BlobTotal(len(CONTENTS), size)
    ids = [file_id async for file_id in target.file_ids()]
    assert sorted([await read(target, file_id) for file_id in ids]) == sorted(CONTENTS)


async def test_a_call_that_failed_is_finished_by_the_next(
    source: MemoryBlobs, target: MemoryBlobs
) -> None:
    def stop(done: Copied) -> None:
        if done.copied == 10:
            raise StoreError("The server went away")

    with pytest.raises(StoreError, match="went away"):
        await copy_blobs(source, target, on_progress=stop)
    before = (await target.total()).files
    done = await copy_blobs(source, target)

    assert done.there == before >= 10
    assert done.copied == len(CONTENTS) - before


async def test_a_damaged_file_is_named_and_not_copied(
    source: MemoryBlobs, target: MemoryBlobs
) -> None:
    damaged = (await put(source, PNG)).file_id
    source.damage(damaged)

    done = await copy_blobs(source, target)

    assert done.damaged == [damaged]
    assert done.copied == len(CONTENTS) - 1
    assert await target.stat(damaged) is None


async def test_verifying_mends_what_is_damaged_where_it_goes(
    source: MemoryBlobs, target: MemoryBlobs
) -> None:
    await copy_blobs(source, target)
    damaged = (await put(source, PNG)).file_id
    target.damage(damaged)

    unseen = await copy_blobs(source, target)
    mended = await copy_blobs(source, target, verify=True)

    assert (unseen.copied, mended.copied) == (0, 1)
    assert await read(target, damaged) == PNG


async def test_a_folder_that_is_not_there_has_no_files(
    tmp_path: Path, target: MemoryBlobs, clock: ManualClock
) -> None:
    folder = DiskBlobs(tmp_path / "b.blobs", clock, RESERVE)

    assert await copy_blobs(folder, target) == Copied()
    await folder.close()
