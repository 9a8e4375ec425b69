"""Files in a bucket keep the promises of every blob store; errors, retries, encryption."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

import pytest

from bridge.errors import FileDamaged, StoreError, StoreFull
from bridge.model.blob_ids import sha256_of
from bridge.ports.blobs import BlobRef, Blobs
from bridge.store.encrypted_files import MAGIC
from bridge.store.s3.blobs import S3Blobs, open_s3_blobs
from bridge.store.s3.bucket import Bucket, Retries
from bridge.store.s3.place import S3Keys, S3Place, split_url
from bridge.testing.blobs_contract import PNG, UNKNOWN_ID, BlobsContract, numbers, put, read
from bridge.testing.clock import START, ManualClock
from tests.free_ports import free_port
from tests.store.s3_server import S3Server, s3_server

KEY = bytes(range(32))
QUICK = Retries(most=2, seconds=5.0, first_pause=0.001, longest_pause=0.002)
LARGE = numbers(10_000_000)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[S3Server]:
    with s3_server(tmp_path_factory.mktemp("s3")) as server:
        yield server


@pytest.fixture
def place(server: S3Server) -> S3Place:
    return server.new_place()


@pytest.fixture
async def blobs(place: S3Place, tmp_path: Path, clock: ManualClock) -> S3Blobs:
    return await open_s3_blobs(place, tmp_path / "b.blobs", clock=clock, retries=QUICK)


class TestS3Blobs(BlobsContract):
    @pytest.fixture
    async def blobs(self, place: S3Place, tmp_path: Path, clock: ManualClock) -> Blobs:
        return await open_s3_blobs(place, tmp_path / "b.blobs", clock=clock, retries=QUICK)


class TestEncryptedS3Blobs(BlobsContract):
    @pytest.fixture
    async def blobs(self, place: S3Place, tmp_path: Path, clock: ManualClock) -> Blobs:
        return await open_s3_blobs(place, tmp_path / "b.blobs", clock=clock, key=KEY, retries=QUICK)

    async def test_equal_bytes_are_stored_once(self, blobs: Blobs) -> None:
        await put(blobs, b"Hello there")
        await put(blobs, b"Hello there")

        assert (await blobs.total()).files == 1


def name(ref: BlobRef) -> str:
    digest = sha256_of(ref.file_id) or ""
    return f"{digest[:2]}/{digest}"


async def test_an_object_has_the_bytes_of_its_file_under_their_hash(
    blobs: S3Blobs, place: S3Place
) -> None:
    ref = await put(blobs, PNG)

    found = await Bucket(place, QUICK).read(name(ref), 0, None)

    assert found is not None
    assert found.content == PNG
    assert found.notes["Content-Type"] == "application/octet-stream"


async def test_a_small_file_is_one_request_and_bytes_that_are_there_are_not_written_again(
    blobs: S3Blobs, server: S3Server
) -> None:
    ref = await put(blobs, PNG)
    first = server.requests()
    await put(blobs, PNG)
    second = server.requests()

    assert [(sent.method, sent.length) for sent in first] == [("PUT", len(PNG))]
    again = [sent.path for sent in second if sent.method == "PUT" and sent.length == 0]
    assert [path.rpartition("/")[2] for path in again] == [sha256_of(ref.file_id)]


async def test_a_large_file_goes_in_parts_and_not_twice(
    blobs: S3Blobs, server: S3Server, tmp_path: Path
) -> None:
    ref = await put(blobs, LARGE)
    first = server.requests()
    await put(blobs, LARGE)
    second = server.requests()

    parts = [sent.length for sent in first if "partNumber" in sent.query]
    assert sorted(parts, reverse=True) == [8 * 1024 * 1024, 10_000_000 - 8 * 1024 * 1024]
    assert sum(sent.length for sent in second) == 0
    assert list((tmp_path / "b.blobs" / "parts").iterdir()) == []
    assert await read(blobs, ref.file_id) == LARGE


async def test_a_server_without_conditional_writes_is_asked_first(
    blobs: S3Blobs, server: S3Server
) -> None:
    server.fail("PUT", 501, "NotImplemented", times=9, conditional=True)

    ref = await put(blobs, PNG)
    server.requests()
    await put(blobs, PNG)

    assert sum(sent.length for sent in server.requests()) == 0
    assert await read(blobs, ref.file_id) == PNG


async def test_a_damaged_object_of_the_same_size_is_not_taken_for_the_file(
    blobs: S3Blobs, place: S3Place
) -> None:
    ref = await put(blobs, LARGE)
    await Bucket(place, QUICK).write(name(ref), LARGE[:-1] + b"!", {})

    received = 0

    async def receive() -> None:
        nonlocal received
        async with blobs.open(ref.file_id) as pieces:
            async for piece in pieces:
                received += len(piece)

    with pytest.raises(FileDamaged, match="restore it from a backup"):
        await receive()

    assert received < len(LARGE)


async def test_an_object_of_another_size_is_replaced(blobs: S3Blobs, place: S3Place) -> None:
    ref = await put(blobs, PNG)
    await Bucket(place, QUICK).write(name(ref), PNG[:-1], {})

    await put(blobs, PNG)

    assert await read(blobs, ref.file_id) == PNG


async def test_an_object_that_another_program_copied_has_the_time_of_the_server(
    blobs: S3Blobs, place: S3Place
) -> None:
    ref = await put(blobs, PNG)
    await Bucket(place, QUICK).write(name(ref), PNG, {})

    assert await blobs.remove(ref.file_id, before=1.0) is False
    assert await blobs.remove(ref.file_id, before=1e12) is True


async def test_other_objects_of_the_bucket_are_left_alone(blobs: S3Blobs, place: S3Place) -> None:
    bucket = Bucket(place, QUICK)
    for other in ("ab/readme.txt", "ab/" + "cd" * 32, "cd" * 32, f"x/ab/{'ab' * 32}"):
        await bucket.write(other, b"mine", {})

    assert await blobs.sweep((), 1e12) == 0
    assert (await blobs.total()).files == 0
    assert [file_id async for file_id in blobs.file_ids()] == []


# --- errors ---------------------------------------------------------------------------------------


async def test_a_server_error_is_tried_again(blobs: S3Blobs, server: S3Server) -> None:
    server.fail("PUT", 503, "SlowDown", times=2)
    ref = await put(blobs, PNG)
    server.fail("GET", 500, "InternalError", times=2)

    assert await read(blobs, ref.file_id) == PNG


async def test_a_large_file_that_fails_leaves_nothing(
    blobs: S3Blobs, server: S3Server, tmp_path: Path
) -> None:
    server.fail("PUT", 500, "InternalError", times=99)

    with pytest.raises(StoreError, match="InternalError"):
        await put(blobs, LARGE)

    server.works()
    sent = server.requests()
    assert any(one.method == "DELETE" and "uploadId" in one.query for one in sent)
    assert list((tmp_path / "b.blobs" / "parts").iterdir()) == []
    assert (await blobs.total()).files == 0


@pytest.mark.parametrize(
    ("status", "code", "text"),
    [
        (403, "AccessDenied", "give them s3:GetObject"),
        (403, "InvalidAccessKeyId", "are not accepted"),
        (403, "SignatureDoesNotMatch", "are not accepted"),
        (404, "NoSuchBucket", "create it, or correct store.blobs.url"),
        (301, "PermanentRedirect", "another region"),
        (418, "Teapot", "answered Teapot"),
    ],
)
async def test_an_error_says_what_to_do_and_no_secret(
    blobs: S3Blobs, server: S3Server, status: int, code: str, text: str
) -> None:
    for method, work in (("PUT", lambda: put(blobs, PNG)), ("GET", blobs.total)):
        server.fail(method, status, code, times=3)
        with pytest.raises(StoreError, match=text) as caught:
            await work()
        assert "AKIATEST" not in f"{caught.value!r} {caught.value.__cause__!r}"
    server.works()


async def test_a_full_server_is_a_full_store(blobs: S3Blobs, server: S3Server) -> None:
    server.fail("PUT", 507, "XMinioStorageFull", times=9)

    with pytest.raises(StoreFull, match="make room"):
        await put(blobs, PNG)

    server.works()


async def test_a_missing_bucket_is_an_error_also_where_a_missing_file_is_none(
    place: S3Place, tmp_path: Path, clock: ManualClock
) -> None:
    gone = replace(place, bucket="no-such-bucket")
    blobs = await open_s3_blobs(gone, tmp_path / "b.blobs", clock=clock, retries=QUICK)

    for work in (blobs.stat, blobs.remove):
        with pytest.raises(StoreError, match="no bucket 'no-such-bucket'"):
            await work(UNKNOWN_ID)


async def test_a_server_that_is_away_is_named(tmp_path: Path, clock: ManualClock) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    away = S3Place("files", "", url, "us-east-1", S3Keys("id", "secret"))
    blobs = await open_s3_blobs(away, tmp_path / "b.blobs", clock=clock, retries=QUICK)

    with pytest.raises(StoreError, match=r"s3://files at http.*cannot be reached"):
        await put(blobs, PNG)


# --- encryption -----------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0, 1, 65_535, 65_536, 65_537, 200_000, 5_000_000])
async def test_an_encrypted_file_is_sealed_before_it_is_sent(
    place: S3Place, tmp_path: Path, clock: ManualClock, size: int
) -> None:
    sealed = await open_s3_blobs(place, tmp_path / "b", clock=clock, key=KEY, retries=QUICK)
    content = numbers(size)

    ref = await put(sealed, content)

    found = await Bucket(place, QUICK).read(name(ref), 0, None)
    assert found is not None
    assert found.content.startswith(MAGIC)
    assert len(content) < 64 or content[:64] not in found.content
    assert await read(sealed, ref.file_id) == content
    assert await sealed.stat(ref.file_id) == ref
    for start, end in ((0, 10), (65_530, 65_540), (size - 3, None), (70_000, 150_000)):
        assert await read(sealed, ref.file_id, max(start, 0), end) == content[max(start, 0) : end]


async def test_files_are_encrypted_and_decrypted_where_they_are(
    place: S3Place, tmp_path: Path, clock: ManualClock
) -> None:
    plain = await open_s3_blobs(place, tmp_path / "b", clock=clock, retries=QUICK)
    small, large = await put(plain, PNG), await put(plain, LARGE)
    sealed = await open_s3_blobs(place, tmp_path / "b", clock=clock, key=KEY, retries=QUICK)
    clock.now = START + 100

    assert await sealed.recrypt(encrypt=True) == 2
    assert await sealed.recrypt(encrypt=True) == 0

    with pytest.raises(StoreError, match="encrypted, and its store is not"):
        await read(plain, small.file_id)
    assert await read(sealed, large.file_id) == LARGE
    assert await sealed.remove(small.file_id, before=START + 50) is True  # it is as old as before
    assert await sealed.recrypt(encrypt=False) == 1
    assert await read(plain, large.file_id) == LARGE


async def test_a_file_under_another_key_is_damaged(
    place: S3Place, tmp_path: Path, clock: ManualClock
) -> None:
    sealed = await open_s3_blobs(place, tmp_path / "b", clock=clock, key=KEY, retries=QUICK)
    ref = await put(sealed, PNG)
    other = await open_s3_blobs(place, tmp_path / "b", clock=clock, key=bytes(32), retries=QUICK)

    with pytest.raises(FileDamaged, match="another key"):
        await read(other, ref.file_id)


# --- places ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "parts"),
    [
        ("s3://files", ("files", "")),
        ("s3://files/", ("files", "")),
        ("s3://my.files-1/cell-1/blobs/", ("my.files-1", "cell-1/blobs")),
    ],
)
def test_a_url_names_a_bucket_and_a_prefix(url: str, parts: tuple[str, str]) -> None:
    assert split_url(url) == parts


@pytest.mark.parametrize(
    "url",
    [
        "",
        "files",
        "https://files",
        "s3://",
        "s3://A",
        "s3://a_b/c",
        "s3://abc/d//e",
        "s3://abc/d e",
    ],
)
def test_other_texts_are_no_url_of_a_bucket(url: str) -> None:
    with pytest.raises(ValueError, match="s3://BUCKET"):
        split_url(url)


def test_keys_are_never_shown() -> None:
    place = S3Place("files", "x", None, None, S3Keys("AKIAID", "the-secret", "the-token"))

    for shown in (repr(place), str(place)):
        assert "AKIAID" not in shown
        assert "the-" not in shown


@pytest.mark.process
def test_memory_use_does_not_grow_with_the_file(server: S3Server, tmp_path: Path) -> None:
    """50 MB to the server and back, in a process of its own."""
    place = server.new_place()
    done = subprocess.run(
        [sys.executable, "-m", "tests.store.large_blob", str(tmp_path / "b.blobs"), "50",
         server.url, place.bucket],
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    grown = float(done.stdout.split()[-1])
    assert grown < 45
