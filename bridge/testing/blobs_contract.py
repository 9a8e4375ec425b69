"""Contract suite for blob stores: inherit `BlobsContract` and provide its `blobs` fixture.

class TestMyBlobs(BlobsContract):
    @pytest.fixture
    async def blobs(self, clock: ManualClock) -> AsyncIterator[Blobs]: ...
"""

from __future__ import annotations

import asyncio
import contextlib
import struct
from collections.abc import AsyncGenerator
from hashlib import sha256

import pytest

from bridge.errors import FileMissing, FileTooLarge
from bridge.model.blob_ids import file_id_of
from bridge.ports.blobs import BlobRef, Blobs, BlobTotal
from bridge.testing.clock import START, ManualClock

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(100)
UNKNOWN_ID = file_id_of("0" * 64)
INVALID_IDS = [
    "",
    "blob:sha256-",
    "blob:sha256-../../../../etc/passwd",
    f"blob:sha256-{'A' * 64}",
    f"blob:sha256-{'a' * 63}",
    f"blob:sha256-{'a' * 64}\n",
    f"blob:sha256-{'a' * 62}/x",
    "/etc/passwd",
    "F0123ABC",
    "blob:sha256-" + "\x00" * 64,
    "x" * 100_000,
]


async def stream(*chunks: bytes) -> AsyncGenerator[bytes]:
    """Yield the chunks, with a pause of the event loop before each."""
    for chunk in chunks:
        await asyncio.sleep(0)
        yield chunk


async def put(blobs: Blobs, content: bytes) -> BlobRef:
    """Store the content in one chunk."""
    return await blobs.put(stream(content), limit=len(content))


async def read(blobs: Blobs, file_id: str, start: int = 0, end: int | None = None) -> bytes:
    """Return the bytes from `start` to before `end`."""
    async with blobs.open(file_id, start=start, end=end) as pieces:
        return b"".join([piece async for piece in pieces])


def numbers(size: int) -> bytes:
    """Return `size` bytes in which no two aligned blocks of 8 bytes are equal."""
    count = size // 8 + 1
    return struct.pack(f">{count}Q", *range(count))[:size]


class BlobsContract:
    """Tests of the promises that every blob store keeps."""

    @pytest.fixture
    def clock(self) -> ManualClock:
        """The clock of the store."""
        return ManualClock()

    async def test_a_file_is_named_by_its_hash_and_read_back_unchanged(self, blobs: Blobs) -> None:
        ref = await blobs.put(stream(PNG[:3], PNG[3:50], b"", PNG[50:]), limit=1000)

        assert ref == BlobRef(file_id_of(sha256(PNG).hexdigest()), len(PNG), "image/png")
        assert await read(blobs, ref.file_id) == PNG
        assert await blobs.stat(ref.file_id) == ref

    async def test_files_of_every_size_are_read_back_unchanged(self, blobs: Blobs) -> None:
        edge = 256 * 1024
        for size in (0, 1, edge - 1, edge, edge + 1, 4 * edge, 5 * edge + 3):
            ref = await put(blobs, numbers(size))

            assert await read(blobs, ref.file_id) == numbers(size)

    async def test_equal_bytes_are_stored_once(self, blobs: Blobs) -> None:
        first = await blobs.put(stream(b"Hello", b" there"), limit=100)
        second = await blobs.put(stream(b"Hello there"), limit=11)

        assert first == second
        assert await blobs.total() == BlobTotal(1, 11)

    async def test_a_file_above_the_limit_is_not_stored(self, blobs: Blobs) -> None:
        with pytest.raises(FileTooLarge, match="10 bytes"):
            await blobs.put(stream(b"12345", b"678901"), limit=10)

        assert await blobs.total() == BlobTotal(0, 0)

    async def test_an_endless_stream_is_read_no_further_than_the_limit(self, blobs: Blobs) -> None:
        taken = 0

        async def endless() -> AsyncGenerator[bytes]:
            nonlocal taken
            while True:
                taken += 1
                yield bytes(1000)

        with pytest.raises(FileTooLarge):
            await blobs.put(endless(), limit=5_000_000)

        assert taken == 5001

    async def test_a_stream_that_breaks_stores_nothing(self, blobs: Blobs) -> None:
        async def broken() -> AsyncGenerator[bytes]:
            yield bytes(3_000_000)
            raise ConnectionResetError

        with pytest.raises(ConnectionResetError):
            await blobs.put(broken(), limit=10_000_000)

        assert await blobs.total() == BlobTotal(0, 0)

    async def test_a_cancelled_put_stores_nothing(self, blobs: Blobs) -> None:
        async def slow() -> AsyncGenerator[bytes]:
            yield bytes(3_000_000)
            await asyncio.sleep(60)
            yield b""

        putting = asyncio.create_task(blobs.put(slow(), limit=10_000_000))
        await asyncio.sleep(0.05)
        putting.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await putting

        assert await blobs.total() == BlobTotal(0, 0)

    async def test_many_files_are_put_concurrently(self, blobs: Blobs) -> None:
        contents = [numbers(300_000 + number) for number in range(20)]

        refs = await asyncio.gather(*(put(blobs, content) for content in contents * 2))

        assert len({ref.file_id for ref in refs}) == 20
        assert [await read(blobs, ref.file_id) for ref in refs[:20]] == contents

    @pytest.mark.parametrize(
        ("start", "end", "part"),
        [
            (0, 5, b"01234"),
            (3, 7, b"3456"),
            (3, None, b"3456789"),
            (0, 100, b"0123456789"),
            (5, 5, b""),
            (10, None, b""),
            (100, 200, b""),
        ],
    )
    async def test_a_range_of_a_file_is_read(
        self, blobs: Blobs, start: int, end: int | None, part: bytes
    ) -> None:
        ref = await put(blobs, b"0123456789")

        assert await read(blobs, ref.file_id, start, end) == part

    async def test_a_long_range_is_read(self, blobs: Blobs) -> None:
        content = numbers(1_000_000)
        ref = await put(blobs, content)

        assert await read(blobs, ref.file_id, 123, 900_001) == content[123:900_001]

    async def test_a_reader_may_stop_before_the_end(self, blobs: Blobs) -> None:
        content = numbers(1_000_000)
        ref = await put(blobs, content)

        async with blobs.open(ref.file_id) as pieces:
            first = await anext(pieces)

        assert content.startswith(first)
        assert await read(blobs, ref.file_id) == content

    @pytest.mark.parametrize("file_id", [UNKNOWN_ID, *INVALID_IDS])
    async def test_an_unknown_file_id_is_missing(self, blobs: Blobs, file_id: str) -> None:
        with pytest.raises(FileMissing) as caught:
            await read(blobs, file_id)

        assert len(str(caught.value)) < 200
        assert await blobs.stat(file_id) is None
        assert await blobs.remove(file_id) is False

    async def test_a_removed_file_is_missing_until_it_is_put_again(self, blobs: Blobs) -> None:
        ref = await put(blobs, PNG)

        assert await blobs.remove(ref.file_id) is True
        assert await blobs.stat(ref.file_id) is None
        assert await blobs.remove(ref.file_id) is False
        assert await put(blobs, PNG) == ref

    async def test_a_file_that_was_put_again_is_not_removed_as_an_old_one(
        self, blobs: Blobs, clock: ManualClock
    ) -> None:
        ref = await put(blobs, b"again")
        clock.now = START + 100
        await put(blobs, b"again")

        assert await blobs.remove(ref.file_id, before=START + 50) is False
        assert await blobs.stat(ref.file_id) == ref
        assert await blobs.remove(ref.file_id, before=START + 101) is True
        assert await blobs.stat(ref.file_id) is None

    async def test_a_sweep_deletes_only_old_unused_files(
        self, blobs: Blobs, clock: ManualClock
    ) -> None:
        used, unused, again = [await put(blobs, word) for word in (b"used", b"unused", b"again")]
        clock.now = START + 100
        await put(blobs, b"again")
        young = await put(blobs, b"young")

        swept = await blobs.sweep({used.file_id}, START + 50)

        assert swept == 1
        assert await blobs.stat(unused.file_id) is None
        for ref in (used, again, young):
            assert await blobs.stat(ref.file_id) == ref

    async def test_the_ids_of_all_files_are_listed_in_order(self, blobs: Blobs) -> None:
        refs = [await put(blobs, word) for word in (b"one", b"two", b"three")]
        await put(blobs, b"one")
        await blobs.remove(refs[1].file_id)

        listed = [file_id async for file_id in blobs.file_ids()]

        assert listed == sorted([refs[0].file_id, refs[2].file_id])

    async def test_the_media_type_comes_from_the_bytes(self, blobs: Blobs) -> None:
        words = (b"Hello", b"<html><p>Hello", b"", b"\x00\x01", b"GIF89a\x01\x00\x01\x00\x00")

        refs = [await put(blobs, content) for content in words]

        assert [ref.media_type for ref in refs] == [
            "text/plain", "text/html", "application/octet-stream", "application/octet-stream",
            "image/gif",
        ]  # fmt: skip
