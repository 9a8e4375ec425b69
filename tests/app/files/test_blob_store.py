"""A bridge and its commands with the files in a bucket: put, exported, erased, copied, checked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Generator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from bridge.app.archive.stored_files import StoredFiles
from bridge.app.build import build
from bridge.app.files.blob_store import open_blob_store
from bridge.app.settings.file import read_settings
from bridge.app.settings.sections import Settings
from bridge.archive.formats.uacs_lines import UacsLines
from bridge.errors import StoreError
from bridge.model.blob_ids import file_id_of
from bridge.ports.blobs import Blobs
from bridge.runtime.clock import SystemClock
from bridge.store.s3.bucket import Bucket, Retries
from bridge.store.s3.place import S3Place
from bridge.store.s3.probe import probe
from bridge.store.vault import VARIABLE
from bridge.testing.blobs_contract import PNG, UNKNOWN_ID, numbers, put, read
from bridge.testing.clock import ManualClock
from bridge.testing.export_contract import write_all
from bridge.testing.memory_blobs import MemoryBlobs
from bridge.uacs import FilePart, MediaSource
from tests.app.running import SMALL, cli
from tests.archive.conversation import a_conversation, exported
from tests.store.s3_server import KEYS, S3Server, s3_server

QUICK = Retries(most=1, seconds=2.0, first_pause=0.001, longest_pause=0.002)
LARGE = numbers(5_000_000)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[S3Server]:
    with s3_server(tmp_path_factory.mktemp("s3")) as server:
        yield server


@pytest.fixture
def place(server: S3Server, monkeypatch: pytest.MonkeyPatch) -> S3Place:
    """A bucket, whose keys are in the standard variables."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEYS.access_key_id)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEYS.secret_access_key)
    monkeypatch.delenv("AWS_SESSION_TOKEN", raising=False)
    return server.new_place()


@pytest.fixture
def config(place: S3Place, tmp_path: Path) -> Path:
    blobs = {
        "url": f"s3://{place.bucket}/{place.prefix}",
        "endpoint": place.endpoint,
        "region": place.region,
    }
    path = tmp_path / "bridge.yaml"
    store = f"store: {{path: bridge.sqlite3, blobs: {json.dumps(blobs)}}}"
    path.write_text(SMALL.replace("store: {path: bridge.sqlite3}", store))
    return path


async def opened(config: Path, *, in_bucket: bool = True) -> Blobs:
    store = read_settings(config).store
    return await open_blob_store(
        store.path, store.blobs if in_bucket else None, clock=SystemClock()
    )


async def put_all(config: Path, *contents: bytes, in_bucket: bool = True) -> list[str]:
    blobs = await opened(config, in_bucket=in_bucket)
    refs = [await put(blobs, content) for content in contents]
    await blobs.close()
    return [ref.file_id for ref in refs]


def archive_with_files(config: Path, *file_ids: str) -> None:
    """A message that has these files."""
    parts = tuple(FilePart(source=MediaSource(file_id=i), media_type="image/png") for i in file_ids)
    message = exported(90)
    whole = message.posted.message.model_copy(update={"content": parts})
    item = replace(message, posted=message.posted.model_copy(update={"message": whole}))
    lines = config.with_name("in.jsonl")
    write_all(UacsLines(), [*a_conversation(), item], lines, "tin")
    result = cli("archive", "import", str(lines), "-c", str(config))
    assert result.exit_code == 0, result.output


async def test_a_bridge_stores_its_files_in_the_bucket(config: Path, place: S3Place) -> None:
    bridge = await build(read_settings(config))
    try:
        ref = await put(bridge.files.blobs, PNG)
        assert await read(bridge.files.blobs, ref.file_id) == PNG
    finally:
        await bridge.close()

    digest = ref.file_id.rpartition("-")[2]
    assert await Bucket(place, QUICK).read(f"{digest[:2]}/{digest}", 0, None) is not None
    assert not config.with_name("bridge.blobs").exists()


def test_an_export_has_the_files_of_the_bucket(config: Path, tmp_path: Path) -> None:
    file_ids = [file_id_of(sha256(content).hexdigest()) for content in (PNG, LARGE)]
    archive_with_files(config, *file_ids, UNKNOWN_ID)
    asyncio.run(put_all(config, PNG, LARGE))

    result = cli("archive", "export", str(tmp_path / "out"), "--format", "markdown", "-c",
                 str(config))  # fmt: skip

    assert result.exit_code == 0, result.output
    written = {path.read_bytes() for path in (tmp_path / "out" / "files").iterdir()}
    assert written == {PNG, LARGE}


def test_an_erased_message_takes_its_file_out_of_the_bucket(config: Path, server: S3Server) -> None:
    (file_id,) = asyncio.run(put_all(config, PNG))
    archive_with_files(config, file_id)

    result = cli("archive", "erase", "message", "tin:W1:home:90", "--yes", "-c", str(config))

    assert result.exit_code == 0, result.output
    assert asyncio.run(_total(config)) == 0
    assert any(sent.method == "DELETE" for sent in server.requests())


async def _total(config: Path, *, in_bucket: bool = True) -> int:
    blobs = await opened(config, in_bucket=in_bucket)
    try:
        return (await blobs.total()).files
    finally:
        await blobs.close()


def test_files_are_copied_into_the_bucket_and_back(config: Path, tmp_path: Path) -> None:
    asyncio.run(put_all(config, PNG, LARGE, b"", in_bucket=False))

    first = cli("db", "blobs", "copy", "--to", "bucket", "-c", str(config))
    second = json.loads(
        cli("db", "blobs", "copy", "--to", "bucket", "--json", "-c", str(config)).stdout
    )
    for file in tmp_path.glob("bridge.blobs/??/*"):
        file.unlink()
    back = cli("db", "blobs", "copy", "--to", "folder", "--verify", "-c", str(config))

    assert "Copied: 3 files" in first.output
    assert (second["copied"], second["there"]) == (0, 3)
    assert "Copied: 3 files" in back.output
    assert asyncio.run(_total(config, in_bucket=False)) == 3


def test_a_damaged_file_is_named_by_the_copy(config: Path, tmp_path: Path) -> None:
    (file_id,) = asyncio.run(put_all(config, PNG, in_bucket=False))
    (file,) = tmp_path.glob("bridge.blobs/??/*")
    file.write_bytes(PNG[:-1] + b"!")

    result = cli("db", "blobs", "copy", "--to", "bucket", "-c", str(config))

    assert result.exit_code == 1
    assert f"Damaged, not copied: {file_id}" in result.output


def test_the_copy_needs_a_bucket(tmp_path: Path) -> None:
    config = tmp_path / "bridge.yaml"
    config.write_text(SMALL)

    result = cli("db", "blobs", "copy", "--to", "bucket", "-c", str(config))

    assert result.exit_code == 2
    assert "name it in store.blobs.url" in result.output


def test_sizes_and_status_name_the_bucket(config: Path, place: S3Place) -> None:
    archive_with_files(config, *asyncio.run(put_all(config, PNG)))

    assert "1 files in the bucket" in cli("db", "size", "-c", str(config)).output
    assert f"files     in s3://{place.bucket}" in cli("status", "-c", str(config)).output


def test_the_files_of_an_encrypted_store_are_sealed_in_the_bucket(
    config: Path, place: S3Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("sqlcipher3", reason="sqlcipher3 is not installed")
    (file_id,) = asyncio.run(put_all(config, PNG))
    archive_with_files(config, file_id)
    digest = file_id.rpartition("-")[2]

    async def stored() -> bytes:
        found = await Bucket(place, QUICK).read(f"{digest[:2]}/{digest}", 0, None)
        assert found is not None
        return found.content

    monkeypatch.setenv(VARIABLE, "the first key of all")
    encrypted = cli("db", "encrypt", "-c", str(config))
    sealed = asyncio.run(stored())
    decrypted = cli("db", "decrypt", "-c", str(config))

    assert "1 files" in encrypted.output
    assert PNG not in sealed
    assert "1 files" in decrypted.output
    assert asyncio.run(stored()) == PNG


# --- check ----------------------------------------------------------------------------------------


def check(config: Path, *options: str) -> list[dict[str, Any]]:
    found = json.loads(cli("check", "--json", *options, "-c", str(config)).stdout)
    return [finding for finding in found["findings"] if finding["about"] == "Store"]


def test_check_writes_reads_and_removes_a_probe(config: Path, place: S3Place) -> None:
    findings = check(config)

    assert [finding["level"] for finding in findings] == ["ok", "ok", "warning"]
    assert "a probe was written, read and removed" in findings[1]["what"]
    assert "without TLS" in findings[2]["what"]
    assert asyncio.run(_objects(place)) == []


async def _objects(place: S3Place) -> list[str]:
    return [listed.name async for page in Bucket(place, QUICK).listed() for listed in page]


def test_check_without_requests_does_not_try_the_bucket(config: Path, server: S3Server) -> None:
    findings = check(config, "--offline")

    assert "was not tried" in findings[1]["what"]
    assert server.requests() == []


def test_check_says_what_is_wrong_with_the_bucket(config: Path) -> None:
    config.write_text(config.read_text().replace("s3://bucket-", "s3://other-"))

    (_, finding) = check(config)

    assert finding["level"] == "error"
    assert "There is no bucket 'other-" in finding["what"]
    assert "create it, or correct store.blobs.url" in finding["todo"]


def test_check_finds_files_that_were_not_copied(config: Path) -> None:
    asyncio.run(put_all(config, PNG, in_bucket=False))

    (warning,) = [f for f in check(config) if "still in the folder" in f["what"]]

    assert warning["level"] == "warning"
    assert "db blobs copy --to bucket" in warning["todo"]


async def test_a_bucket_that_keeps_former_versions_is_noticed(
    server: S3Server, place: S3Place
) -> None:
    assert await probe(place, QUICK) is False
    server.keep_versions(place)

    assert await probe(place, QUICK) is True


# --- exports --------------------------------------------------------------------------------------


def test_a_writer_of_an_export_gets_no_damaged_file(tmp_path: Path) -> None:
    blobs = MemoryBlobs(ManualClock())
    whole, damaged = [asyncio.run(put(blobs, content)).file_id for content in (PNG, LARGE)]
    blobs.damage(damaged)

    async def given() -> Blobs:
        return blobs

    files = StoredFiles(given, tmp_path)
    try:
        with files.open(whole) or pytest.fail("no file") as file:
            assert file.read() == PNG
        assert files.open(damaged) is None
        assert files.open(file_id_of("0" * 64)) is None
    finally:
        files.close()
    assert list(tmp_path.iterdir()) == []


def test_a_blob_store_that_does_not_open_leaves_no_thread(tmp_path: Path) -> None:
    async def failing() -> Blobs:
        raise StoreError("no key")

    with pytest.raises(StoreError, match="no key"):
        StoredFiles(failing, tmp_path)


def test_settings_without_a_bucket_are_as_before() -> None:
    assert Settings().store.blobs is None
