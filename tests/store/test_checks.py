"""A check finds what is damaged in a store, says which value, and finds nothing in a whole one."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from bridge.errors import StoreError
from bridge.model.check_records import CheckedPart, StoreCheck
from bridge.store import SqliteStore, open_sqlite
from bridge.store.blobs import open_blobs
from bridge.store.checks import check_store
from bridge.store.checks.stored_files import check_files
from bridge.store.maintenance import backup, encrypt, reindex
from bridge.store.schema import migrate, migrations, open_to_read
from bridge.store.seal import Seal
from bridge.store.vault import VARIABLE, files_key_of
from bridge.testing.clock import ManualClock
from bridge.testing.store_contract import ACME, admit, ann_message, new_message, post, raw
from bridge.uacs import FilePart, MediaSource
from tests.store.conftest import KEY
from tests.store.test_chain import TIMELINES, fill

PARTS = ["database", "references", "values", "conversations", "search index", "hash chain",
         "sealed values", "files"]  # fmt: skip


async def in_pieces(text: bytes) -> AsyncIterator[bytes]:
    yield text


async def put_file(path: Path, text: bytes, clock: ManualClock) -> str:
    folder, key = path.with_suffix(".blobs"), files_key_of(path)
    blobs = await open_blobs(folder, clock=clock, key=key, reserve=0)
    ref = await blobs.put(in_pieces(text), limit=1000)
    await blobs.close()
    return ref.file_id


def place_of(path: Path, file_id: str) -> Path:
    digest = file_id.removeprefix("blob:sha256-")
    return path.with_suffix(".blobs") / digest[:2] / digest


@pytest.fixture
async def filled(store: SqliteStore, clock: ManualClock) -> SqliteStore:
    """A store with something of everything, one file that a message names, and one that none
    names."""
    await fill(store)
    file_id = await put_file(store.path, b"a picture", clock)
    await put_file(store.path, b"nobody's", clock)
    part = FilePart(source=MediaSource(file_id=file_id), media_type="image/png")
    with_file = ann_message("f1").model_copy(update={"content": (part,)})
    new = new_message("f1")
    await admit(store, new, post("p1", new), timelines=TIMELINES)
    await store.change_message(with_file, "edited")
    sealed = raw(2).model_copy(update={"credentials": {"/token": "secret"}})
    await store.accept(sealed, advance=False)
    await store.put_credential("SLACK_TOKEN", "xoxb")
    await store.put_value(ACME, "refresh", "token", sealed=True)
    return store


def check(path: Path, *, key: bytes | None = KEY) -> StoreCheck:
    return check_store(path, seal=Seal(key), files=path.with_suffix(".blobs"))


def wrong(report: StoreCheck) -> list[str]:
    """The names of the parts that have faults."""
    return [part.name for part in report.parts if part.fault_count]


def part_of(report: StoreCheck, name: str) -> CheckedPart:
    return next(part for part in report.parts if part.name == name)


async def test_a_whole_store_has_no_faults_while_it_is_in_use(filled: SqliteStore) -> None:
    report = check(filled.path)

    assert [part.name for part in report.parts] == PARTS
    assert wrong(report) == []
    assert all(part.examined for part in report.parts)
    assert report.unnamed is not None
    assert (report.unnamed.count, report.unnamed.size) == (1, 8)


async def test_a_backup_is_examined_with_the_files_of_its_store(
    filled: SqliteStore, tmp_path: Path
) -> None:
    copy, folder = tmp_path / "copy.sqlite3", filled.path.with_suffix(".blobs")
    backup(filled.path, copy)

    assert wrong(check_store(copy, seal=Seal(KEY), files=folder)) == []
    assert wrong(check_store(copy, seal=Seal(KEY), files=tmp_path / "nowhere")) == ["files"]
    assert [p.name for p in check_store(copy, seal=Seal(KEY), files=None).parts] == PARTS[:-1]


# What is done to a store, and the parts in which a check finds it, with a word of the first fault.
DAMAGE = {
    "an author is gone": (
        "DELETE FROM authors WHERE n = 1", ["references", "hash chain"], "authors",
    ),
    "a payload belongs to no row": (
        "DELETE FROM inbox WHERE id = 1", ["references"], "inbox",
    ),
    "an operation belongs to no message": (
        "UPDATE operations SET message = 99", ["references"], "message_rows",
    ),
    "a conversation has another length": (
        "UPDATE timelines SET length = length + 1 WHERE n = 1", ["conversations"], "it says",
    ),
    "a message left its conversation": (
        "DELETE FROM entries WHERE timeline = 2 AND seq = 1", ["conversations"], "it says",
    ),
    "the index is empty": (
        "INSERT INTO words (words) VALUES ('delete-all')", ["search index"], "does not find it",
    ),
    "a message is gone": (
        "DELETE FROM message_rows WHERE n = 2",
        ["references", "search index", "hash chain"], "message_rows",
    ),
    "a body cannot be read": (
        "UPDATE message_rows SET body = x'01ffff' WHERE n = 1", ["values", "hash chain"], "body",
    ),
    "an operation cannot be read": (
        "UPDATE operations SET body = x'01ffff'", ["values"], "body",
    ),
    "a body is another one": (
        "UPDATE message_rows SET body = packed('{}') WHERE n = 1", ["hash chain"], "edited",
    ),
    "a link of the chain is gone": (
        "DELETE FROM chain WHERE seq = 3", ["hash chain"], "missing",
    ),
    "a credential was sealed with another key": (
        "UPDATE credentials SET sealed = CAST(x'01' || randomblob(40) AS BLOB)",
        ["sealed values"], "key",
    ),
    "a decision is on no approval": (
        "INSERT INTO approval_decisions (approval, actor, allowed, at, place)"
        " VALUES ('none', 'a', 1, 0, '')", ["database"], "approvals",
    ),
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGE)
async def test_damage_is_found_in_its_place(filled: SqliteStore, damage: str) -> None:
    statement, parts, words = DAMAGE[damage]
    assert filled.writer is not None
    await filled.writer.run(lambda db: db.execute(statement).rowcount)

    report = check(filled.path)

    assert wrong(report) == parts
    fault = part_of(report, parts[0]).faults[0]
    assert words in fault.what
    assert fault.value
    assert fault.todo


async def test_a_damaged_page_is_a_fault_and_does_not_stop_the_check(filled: SqliteStore) -> None:
    await filled.close()
    with closing(sqlite3.connect(filled.path)) as db:
        query = "SELECT rootpage FROM sqlite_master WHERE name = 'links_of_native_id'"
        (page,) = db.execute(query).fetchone()
        (size,) = db.execute("PRAGMA page_size").fetchone()
    with filled.path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(bytes(size))

    report = check(filled.path)

    assert "database" in wrong(report)
    assert [part.name for part in report.parts] == PARTS
    assert "db restore" in part_of(report, "database").faults[0].todo


async def test_a_table_that_cannot_be_read_to_its_end_is_a_fault(filled: SqliteStore) -> None:
    assert filled.writer is not None
    await filled.writer.run(lambda db: db.execute("DROP TABLE pins").rowcount)

    report = check(filled.path)

    assert [part.name for part in report.parts] == PARTS
    assert "cannot be read to its end" in part_of(report, "references").faults[0].what


async def test_a_missing_and_a_changed_file_are_named_with_the_message(
    filled: SqliteStore, clock: ManualClock
) -> None:
    file_id = await put_file(filled.path, b"a picture", clock)
    place = place_of(filled.path, file_id)

    place.write_bytes(b"another picture")
    (changed,) = part_of(check(filled.path), "files").faults
    place.unlink()
    (missing,) = part_of(check(filled.path), "files").faults

    assert changed.value == missing.value == f"file {file_id}"
    assert changed.what.startswith("its bytes are not those that were kept; message tin:W1:home:f1")
    assert missing.what.startswith("it is not in the folder; message tin:W1:home:f1")


async def test_a_file_that_was_erased_during_the_check_is_no_fault(filled: SqliteStore) -> None:
    part = CheckedPart("files")
    gone = f"blob:sha256-{'0' * 64}"
    with closing(open_to_read(filled.path)) as db:
        folder = filled.path.with_suffix(".blobs")
        check_files(db, part, folder, None, {gone}, lambda: ())

    assert (part.examined, part.faults) == (1, [])


async def test_sealed_values_need_the_key_that_sealed_them(filled: SqliteStore) -> None:
    other = part_of(check(filled.path, key=bytes(32)), "sealed values")
    without = part_of(check(filled.path, key=None), "sealed values")

    assert other.fault_count == 4
    assert [fault.value for fault in other.faults][:2] == [
        "This store", "The credential 'SLACK_TOKEN'",
    ]  # fmt: skip
    assert (without.fault_count, without.note) == (
        0, "4 sealed values were not opened: there is no key here",
    )  # fmt: skip


async def test_an_encrypted_store_and_its_files_are_examined(
    filled: SqliteStore, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("sqlcipher3", reason="sqlcipher3 is not installed")
    await filled.close()
    monkeypatch.setenv(VARIABLE, "a key of some length")
    encrypt(filled.path)
    file_id = await put_file(filled.path, b"a picture", clock)

    whole = check(filled.path)
    place_of(filled.path, file_id).write_bytes(b"UACSENC1" + bytes(60))
    (fault,) = part_of(check(filled.path), "files").faults

    assert whole.encrypted
    assert wrong(whole) == []
    assert "cannot be read" in fault.what


async def test_the_index_is_built_anew(filled: SqliteStore, clock: ManualClock) -> None:
    assert filled.writer is not None
    await filled.writer.run(lambda db: db.execute(DAMAGE["the index is empty"][0]).rowcount)
    await filled.close()
    assert wrong(check(filled.path)) == ["search index"]

    reindex(filled.path)

    assert wrong(check(filled.path)) == []
    again = await open_sqlite(filled.path, clock=clock, key=KEY)
    await again.close()


def test_a_store_of_another_schema_and_a_missing_one_are_errors(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "old", isolation_level=None)) as db:
        migrate(db, {version: step for version, step in migrations().items() if version <= 16})

    with pytest.raises(StoreError, match="db migrate"):
        check(tmp_path / "old")
    with pytest.raises(StoreError, match="no store"):
        check(tmp_path / "none")
