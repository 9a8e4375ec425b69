"""A copy of an SQLite store in PostgreSQL is the same store."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from bridge.errors import SchemaTooNew, StoreCorrupt, StoreError
from bridge.model import AccountId
from bridge.model.erasure_records import Erasure
from bridge.model.export_records import ArchiveFilter
from bridge.model.search_records import Search, Words
from bridge.store import SqliteStore, open_sqlite, schema
from bridge.store.postgresql import copied_pieces, copied_rows, copying
from bridge.store.postgresql.address import Address, connect
from bridge.store.postgresql.connection import PostgresConnection
from bridge.store.postgresql.copied_pieces import Piece
from bridge.store.postgresql.copying import Progress, copy_store
from bridge.store.postgresql.search import as_binary, as_indexed
from bridge.store.postgresql.store import open_postgres
from bridge.store.sql_store import SqlStore
from bridge.store.tables import columns_by_table
from bridge.testing.clock import ManualClock
from bridge.testing.store_contract import admit, new_message, raw
from tests.archive.conversation import BOB
from tests.store import test_chain, test_erasing
from tests.store.conftest import KEY
from tests.store.postgresql_server import empty_store

_ODD = "a\0b\ue0f0c"
_ALL = ArchiveFilter(deleted=True)
_REFERENCES = """
SELECT CAST(CAST(conrelid AS regclass) AS text), CAST(CAST(confrelid AS regclass) AS text)
FROM pg_constraint WHERE contype = 'f'
"""
_OTHER_ROW = "UPDATE message_rows SET time = time + 1 WHERE n = 1"


class Killed(Exception):
    """In the middle of a copy."""


@pytest.fixture
def address() -> Iterator[Address]:
    address = empty_store()
    yield address
    with closing(connect(address)) as db:
        db.control("DROP TABLE IF EXISTS copied")


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also a small archive has several pieces."""
    monkeypatch.setattr(copied_rows, "_WIDTH", 2)
    monkeypatch.setattr(copied_rows, "_WIDTHS", {"timeline": 1, "channel": 1})
    monkeypatch.setattr(copying, "_BLOCK", 200)


async def fill(store: SqliteStore) -> None:
    await test_chain.fill(store)
    await store.accept(raw(7, dedupe_key=_ODD), advance=False)
    for key in ("a\0c", "a\0b", "a\ue0f0", "ab", _ODD):
        await store.put_value(AccountId("tin"), key, f"value of {key}")


async def everything(store: SqlStore) -> Sequence[Any]:
    """What an export has of the store, what a search finds, and whether its chain holds."""
    conversations = await store.archived_conversations()
    timelines = [timeline for found in conversations for timeline in found.timelines]
    searches = [
        await store.find(Search((Words(word),), readers=(BOB.id,), deleted=True), limit=50)
        for word in ("first", "third", "grown", "changed", "former", "quicksilver", "nowhere")
    ]
    report = await store.verify_chain({})
    assert report.faults == []
    return [
        conversations,
        await store.archived_people(),
        await store.archived_messages(timelines, _ALL, after=None, limit=1000),
        searches,
        report,
    ]


def rows_of(address: Address) -> dict[str, list[Any]]:
    """All rows of a database."""
    with closing(connect(address)) as db:
        tables = {"words": ["moment", "document"], **columns_by_table(db)}
        return {
            name: sorted(db.rows(f'SELECT {", ".join(columns)} FROM "{name}"'), key=repr)
            for name, columns in tables.items()
        }


@pytest.mark.parametrize("kind", ["chain", "erasing"])
async def test_a_copy_has_the_archive_and_goes_on_like_the_store(
    path: Path, address: Address, clock: ManualClock, kind: str
) -> None:
    store = await open_sqlite(path, clock=clock, key=KEY)
    await (fill(store) if kind == "chain" else test_erasing.fill(store, BOB))
    await admit(store, new_message("m77", "the last in SQLite"))
    expected = await everything(store)
    await store.close()

    report = copy_store(path, address)
    copied = await open_postgres(address, clock=clock, key=KEY)
    found = await everything(copied)
    await admit(copied, new_message("m78", "the first in PostgreSQL"))
    page = await copied.find(Search((Words("PostgreSQL"),)), limit=5)
    row = await copied.accept(raw(99), advance=False)
    is_known = await copied.accept(raw(1), advance=False) is None
    await copied.close()

    assert not report.in_use
    assert found == expected
    assert [message.stored.native_id for message in page.found] == ["m78"]
    assert row
    assert is_known
    assert report.rows["message_rows"] == report.rows["words"]


@pytest.mark.parametrize("kind", ["chain", "erasing"])
async def test_every_row_has_the_values_that_units_of_work_read_in_sqlite(
    path: Path, address: Address, clock: ManualClock, kind: str
) -> None:
    store = await open_sqlite(path, clock=clock, key=KEY)
    await (fill(store) if kind == "chain" else test_erasing.fill(store, BOB))
    await store.close()
    with closing(schema.open_to_read(path)) as db:
        expected = {
            name: sorted(db.execute(_source_of(name, columns)).fetchall(), key=repr)
            for name, columns in columns_by_table(db).items()
        }

    copy_store(path, address)

    with closing(connect(address)) as db, closing(schema.open_to_read(path)) as source:
        for name, columns in columns_by_table(source).items():
            if name != "meta":
                found = list(db.rows(f'SELECT {", ".join(columns)} FROM "{name}"'))
                assert sorted(found, key=repr) == expected[name], name
    assert sum(map(bool, expected.values())) > 10


def _source_of(table: str, columns: Sequence[str]) -> str:
    """Bodies, reactions and ids as the views show them."""
    shown = {
        ("message_rows", "id"): "(SELECT own.id FROM messages AS own WHERE own.n = message_rows.n)",
        ("message_rows", "body"): "unpacked(body)",
        ("message_rows", "reactions"): "CAST(unpacked(reactions) AS TEXT)",
        ("version_rows", "body"): "unpacked(body)",
    }
    values = (shown.get((table, column), f'"{column}"') for column in columns)
    return f'SELECT {", ".join(values)} FROM "{table}"'


async def test_a_killed_copy_goes_on_where_it_was(
    store: SqliteStore, path: Path, address: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(store)
    await store.close()
    whole = copy_store(path, address).copied
    expected = rows_of(address)
    target = empty_store()
    note = copied_pieces.note
    copied: list[Piece] = []

    def killed_after(count: int) -> None:
        def noted(db: PostgresConnection, piece: Piece, digest: bytes) -> None:
            if len(copied) == count:
                raise Killed
            note(db, piece, digest)
            copied.append(piece)

        monkeypatch.setattr(copied_pieces, "note", noted)
        with pytest.raises(Killed):
            copy_store(path, target)
        monkeypatch.setattr(copied_pieces, "note", note)

    for count in (0, 1, whole // 2, whole - 1):
        killed_after(count)
    report = copy_store(path, target)

    assert report.copied == 1
    assert len(copied) == len(set(copied)) == whole - 1
    found = rows_of(target)
    assert found == expected


async def test_a_copy_killed_while_it_verifies_is_not_whole(
    store: SqliteStore, path: Path, address: Address
) -> None:
    await fill(store)
    await store.close()

    def kill(progress: Progress) -> None:
        if progress.done == progress.total - 1:
            raise Killed

    with pytest.raises(Killed):
        copy_store(path, address, kill)

    assert copy_store(path, address).copied == 0
    assert "copied" not in rows_of(address)


async def test_a_later_copy_brings_over_what_changed_since(
    store: SqliteStore, path: Path, address: Address
) -> None:
    await fill(store)
    first = copy_store(path, address)
    unchanged = copy_store(path, address)

    await store.erase(Erasure("e", "operator", "", actors=(BOB.id,)))
    await admit(store, new_message("m77", "later"))
    await store.remove_value(AccountId("tin"), "ab")
    await store.erase(Erasure("e2", "operator", "", message=new_message("m1").id))
    assert store.writer
    await store.writer.run(lambda db: db.execute("DELETE FROM inbox"))
    await store.writer.run(lambda db: db.execute("DELETE FROM version_rows WHERE message = 1"))
    second = copy_store(path, address)
    await store.close()
    last = copy_store(path, address)

    assert (first.in_use, second.in_use, last.in_use) == (True, True, False)
    assert unchanged.copied == last.copied == 0
    assert 0 < second.copied < first.copied
    found = rows_of(address)
    assert copy_store(path, empty_store()).rows == last.rows
    again = rows_of(address)
    assert found == again


async def test_a_unique_value_may_move_to_another_piece(
    store: SqliteStore, path: Path, address: Address
) -> None:
    await fill(store)
    copy_store(path, address)
    assert store.writer
    for change in (
        "UPDATE message_rows SET moment = -moment WHERE n IN (1, 5)",
        "UPDATE message_rows SET moment = (SELECT -other.moment FROM message_rows AS other "
        "WHERE other.n = 6 - message_rows.n) WHERE n = 1",
        "UPDATE message_rows SET moment = 77 WHERE n = 5",
    ):
        await store.writer.run(lambda db, sql=change: db.execute(sql))

    report = copy_store(path, address)

    assert report.rows["words"] == report.rows["message_rows"]


async def test_approvals_and_their_decisions_are_brought_over_again(
    store: SqliteStore, path: Path, address: Address
) -> None:
    await test_erasing.fill(store, BOB)
    assert store.writer
    decision = "INSERT INTO approval_decisions VALUES (1, 'a1', 'x', 1, 2.0, 'p')"
    await store.writer.run(lambda db: db.execute(decision))
    copy_store(path, address)
    await store.writer.run(lambda db: db.execute("UPDATE approvals SET quorum = 2"))

    report = copy_store(path, address)

    assert (report.rows["approvals"], report.rows["approval_decisions"]) == (1, 1)
    with closing(connect(address)) as db:
        assert list(db.rows(_REFERENCES)) == [
            ("approval_decisions", "approvals"),
            ("tenant_secrets", "tenants"),
        ]


async def test_a_target_that_differs_at_the_end_is_told_and_mended(
    store: SqliteStore, path: Path, address: Address
) -> None:
    await fill(store)
    copy_store(path, address)
    with closing(connect(address)) as db:
        db.control(_OTHER_ROW)

    with pytest.raises(StoreError, match=r"differs from its source in 1 pieces \(message_rows 0 2"):
        copy_store(path, address)

    assert copy_store(path, address).copied == 2  # the messages and their words


async def test_a_target_that_a_bridge_used_is_refused(
    store: SqliteStore, path: Path, address: Address, clock: ManualClock
) -> None:
    await fill(store)
    copy_store(path, address)
    used = await open_postgres(address, clock=clock, key=KEY)
    await used.accept(raw(50), advance=False)
    await used.close()

    with pytest.raises(StoreError, match="was used by a bridge"):
        copy_store(path, address)


async def test_a_store_that_was_no_copy_is_refused(
    store: SqliteStore, path: Path, address: Address, clock: ManualClock
) -> None:
    own = await open_postgres(address, clock=clock, key=KEY)
    await admit(own, new_message("m1"))
    with pytest.raises(StoreError, match=r"in use by another process|was used by a bridge"):
        copy_store(path, address)
    await own.close()

    with pytest.raises(StoreError, match="was used by a bridge"):
        copy_store(path, address)

    assert "copied" not in rows_of(address)


async def test_a_source_of_another_schema_is_refused(
    store: SqliteStore, path: Path, address: Address
) -> None:
    await store.close()
    for version, error in ((28, StoreError), (999, SchemaTooNew)):
        with closing(sqlite3.connect(path)) as db:
            db.execute(f"PRAGMA user_version = {version}")

        with pytest.raises(error, match=f"schema {version}"):
            copy_store(path, address)


async def test_a_damaged_row_is_told(store: SqliteStore, path: Path, address: Address) -> None:
    await fill(store)
    assert store.writer
    await store.writer.run(lambda db: db.execute("UPDATE message_rows SET body = x'01ff' "))

    with pytest.raises(StoreCorrupt, match="row of the table 'message_rows'"):
        copy_store(path, address)


def test_both_forms_of_a_document_are_the_same_to_the_server(address: Address) -> None:
    texts = ["", "one two one naïve 会議 xall", "xall", "many " * 300, "w " * 20_000]
    with closing(connect(address)) as db:
        for text in texts:
            document, _ = as_indexed(db, text, "xall xc1 xall")
            query = "SELECT tsvectorsend(CAST($1 AS tsvector))"
            ((expected,),) = db.rows(query, (document,))
            assert as_binary(text, "xall xc1 xall") == expected
