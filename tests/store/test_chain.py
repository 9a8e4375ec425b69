"""The hash chain finds every change of the archive, and survives erasures."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from bridge.errors import StoreCorrupt
from bridge.model.admission import Admission
from bridge.model.archive_records import Change, channel_timeline
from bridge.model.chain_records import ChainReport
from bridge.model.erasure_records import Erasure
from bridge.model.export_records import ExportedEdit, ExportedReaction, ImportBatch
from bridge.model.reaction_records import ReactionChange
from bridge.store import SqliteStore, open_sqlite
from bridge.store.connection import Connection
from bridge.testing.clock import START, ManualClock
from bridge.testing.store_contract import HOME, ROOM_TIMELINE, admit, ann_message, new_message, raw
from tests.archive.conversation import ANN, BOB, exported
from tests.store.conftest import KEY

TIMELINES = (channel_timeline(HOME), ROOM_TIMELINE)


async def fill(store: SqliteStore) -> None:
    """Live and imported messages with edits, deletions, reactions, payloads and versions."""
    row = await store.accept(raw(1), advance=False)
    assert row
    first = new_message("m1", "first")
    await store.admit(Admission("routed", row.id, first, timelines=TIMELINES))
    for text in ("second", "third"):
        edit = Change(ann_message("m1", text), "edited", START + len(text))
        await store.admit(Admission("edited", changes=(edit,)))
    deleted = new_message("m2", "to be deleted")
    await admit(store, deleted, timelines=TIMELINES)
    end = Change(deleted.message, "deleted", START + 9)
    await store.admit(Admission("deleted", changes=(end,)))
    reaction = ReactionChange(first.id, HOME, "m1", START, present=True, actor=BOB.id, emoji="👍")
    await store.admit(Admission("reacted", reactions=(reaction,)))
    former = exported(3, text="former").posted.message
    imported = replace(
        exported(3, edited=True),
        versions=(ExportedEdit(former, START),),
        reactions=(ExportedReaction("🎉", BOB.id),),
    )
    messages = (imported, exported(4), replace(exported(5), deleted=True))
    await store.add_imported(ImportBatch("tin", "tin", messages=messages))
    newer = replace(exported(4, text="changed", edited=True), payload=b'{"newer": 1}')
    await store.add_imported(ImportBatch("tin", "tin", messages=(newer,)))
    growing = new_message("m9", "gro", state="streaming")
    await admit(store, growing, timelines=TIMELINES)
    await store.change_message(ann_message("m9", "grown"), "complete")


async def verified(store: SqliteStore, report: ChainReport | None = None) -> ChainReport:
    return await store.verify_chain({} if report is None else report.heads)


async def test_an_archive_that_nobody_changed_has_no_faults(store: SqliteStore) -> None:
    await fill(store)

    report = await verified(store)

    assert report.faults == []
    assert (report.messages, report.links) == (6, 12)
    assert report.payloads_gone == 0
    assert [head.links for head in report.heads.values()] == [12]
    assert (await verified(store, report)).faults == []


COVERED = [
    ("message_rows", "body"), ("message_rows", "author"), ("authors", "body"),
    ("message_rows", "time"), ("message_rows", "channel"), ("message_rows", "native_id"),
    ("message_rows", "key"), ("version_rows", "body"), ("payloads", "payload"),
    ("payload_blocks", "payloads"), ("payload_blocks", "first"), ("payload_blocks", "count"),
    ("reaction_rows", "emoji"), ("reaction_rows", "actor"), ("reaction_rows", "at"),
    ("chain", "salt"), ("chain", "digest"), ("chain", "payload_digest"),
    ("chain", "hash"), ("chain", "kind"), ("chain", "at"),
]  # fmt: skip


@pytest.mark.parametrize(("table", "column"), COVERED, ids=lambda value: value)
async def test_any_changed_byte_is_found(store: SqliteStore, table: str, column: str) -> None:
    await fill(store)
    before = await verified(store)
    await store.close()
    random_bytes = random.Random(f"{table}.{column}")
    rows = _count(store.path, table, column)
    assert rows
    for row in range(rows):
        with _changed(store.path, table, column, row, random_bytes) as undo:
            faults = await _faults(store.path, before)
            undo()
        assert faults, f"row {row} of {table}"


async def test_a_message_whose_stored_payload_is_damaged_is_admitted_and_found(
    store: SqliteStore,
) -> None:
    await fill(store)
    row = await store.accept(raw(7), advance=False)
    assert row
    assert store.writer
    damaged = "UPDATE payloads SET payload = x'01ffff' WHERE row = ?"
    await store.writer.run(lambda db: db.execute(damaged, (row.id,)).rowcount)

    await store.admit(Admission("routed", row.id, new_message("m7"), timelines=TIMELINES))

    assert await store.message(new_message("m7").id)
    assert (await verified(store)).faults == []


async def test_a_message_that_is_gone_is_found(store: SqliteStore) -> None:
    await fill(store)
    assert store.writer is not None
    await store.writer.run(lambda db: db.execute("DELETE FROM message_rows WHERE n = 2").rowcount)

    faults = (await verified(store)).faults

    assert "a message of the conversation is not there" in [fault.what for fault in faults]


async def _faults(path: Path, before: ChainReport) -> int:
    """A check of the database itself may find the change first."""
    try:
        store = await open_sqlite(path, clock=ManualClock(), key=KEY)
    except StoreCorrupt:
        return 1
    report = await verified(store, before)
    await store.close()
    return report.fault_count


def _count(path: Path, table: str, column: str) -> int:
    with closing(sqlite3.connect(path)) as db:
        where = f'SELECT count(*) FROM "{table}" WHERE "{column}" IS NOT NULL'
        return db.execute(where).fetchone()[0]


class _changed:  # noqa: N801 - used as a context
    """One byte of one value, or a number, is another one; `undo` puts it back."""

    def __init__(
        self, path: Path, table: str, column: str, row: int, chance: random.Random
    ) -> None:
        self._path, self._copy = path, path.with_suffix(".copy")
        self._change = (table, column, row, chance)

    def __enter__(self) -> Callable[[], None]:
        self._copy.write_bytes(self._path.read_bytes())
        table, column, row, chance = self._change
        with closing(sqlite3.connect(self._path)) as db:
            db.execute("PRAGMA ignore_check_constraints = ON")
            values = db.execute(f'SELECT * FROM "{table}" WHERE "{column}" IS NOT NULL')
            names = [item[0] for item in values.description]
            chosen = dict(zip(names, values.fetchall()[row], strict=True))
            key = " AND ".join(f'"{name}" IS ?' for name in names)
            db.execute(
                f'UPDATE "{table}" SET "{column}" = ? WHERE {key}',
                (_other(chosen[column], chance), *chosen.values()),
            )
            db.commit()
        return self._undo

    def __exit__(self, *_: object) -> None:
        self._undo()

    def _undo(self) -> None:
        for suffix in ("-wal", "-shm"):
            self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
        self._path.write_bytes(self._copy.read_bytes())


def _other(value: object, chance: random.Random) -> object:
    if isinstance(value, float | int):
        return value + 1
    if isinstance(value, str):
        place = chance.randrange(len(value))
        return value[:place] + chr(ord(value[place]) ^ 1) + value[place + 1 :]
    assert isinstance(value, bytes)
    place = chance.randrange(len(value))
    return value[:place] + bytes([value[place] ^ 1]) + value[place + 1 :]


STATEMENTS: Mapping[str, tuple[str, str]] = {
    "a link is taken from the middle": (
        "DELETE FROM chain WHERE seq = 3", "the link is missing; 4 follows"),
    "a link is taken from the end": (
        "DELETE FROM chain WHERE seq = (SELECT max(seq) FROM chain)", "the chain ends at 11"),
    "two links change places": (
        "UPDATE chain SET seq = CASE seq WHEN 2 THEN -3 WHEN 3 THEN -2 END WHERE seq IN (2, 3);"
        "UPDATE chain SET seq = -seq WHERE seq < 0", "the link was changed"),
    "a message goes with its links": (
        "DELETE FROM chain WHERE message = 2; DELETE FROM entries WHERE message = 2",
        "the link is missing"),
    "a message goes": (
        "DELETE FROM entries WHERE message = 2", "a message that the conversation has not"),
    "a message is put in": (
        "INSERT INTO message_rows SELECT n + 90, message_key('x'), 'x', body, author, time,"
        " channel, thread, native_id, root, reply_to, audience, state, row, outcome, changed,"
        " reactions, feedback, moment + 90 FROM message_rows WHERE n = 1;"
        "INSERT INTO entries SELECT timeline, seq + 90, message + 90, epoch, moment + 90"
        " FROM entries WHERE message = 1", "is in no link"),
    "a version goes": ("DELETE FROM version_rows WHERE message = 1 AND version = 1", "is missing"),
    "a version is put in": (
        "INSERT INTO version_rows SELECT message, version + 9, body, until, actor FROM version_rows"
        " WHERE message = 1 AND version = 1", "is in no link"),
    "a deletion is undone": (
        "UPDATE message_rows SET state = 'complete' WHERE state = 'deleted'",
        "its newest link says deleted"),
    "reactions go": ("DELETE FROM reaction_rows", "the reactions are not those that came"),
    "a salt goes": ("UPDATE chain SET salt = NULL WHERE seq = 1", "no erasure says why"),
    "a conversation goes": (
        "DELETE FROM timelines", "the conversation was pinned and is not there"),
}  # fmt: skip


@pytest.mark.parametrize("name", STATEMENTS)
async def test_what_is_removed_put_in_or_moved_is_found(store: SqliteStore, name: str) -> None:
    await fill(store)
    before = await verified(store)
    statement, what = STATEMENTS[name]
    assert store.writer

    def harm(db: Connection) -> None:
        for one in statement.split(";"):
            db.execute(one)

    await store.writer.run(harm)
    report = await verified(store, before)

    assert any(what in fault.what for fault in report.faults), report.faults


async def test_a_chain_that_was_made_anew_differs_from_the_pinned_head(store: SqliteStore) -> None:
    await fill(store)
    before = await verified(store)
    assert store.writer

    def forge(db: Connection) -> None:
        from bridge.store import chain

        db.execute(
            "UPDATE message_rows SET body = packed(replace(unpacked(body), 'third', 'forged'))"
            " WHERE n = 1"
        )
        chain.build(db, START)

    await store.writer.run(forge)

    assert (await verified(store)).faults == []
    report = await verified(store, before)
    assert any("pinned" in fault.what for fault in report.faults)


@pytest.mark.parametrize(
    "subject", [{"message": new_message("m1").id}, {"actors": (ANN.id,)}, {"actors": (BOB.id,)}]
)
async def test_the_chain_holds_after_an_erasure(
    store: SqliteStore, subject: Mapping[str, object]
) -> None:
    await fill(store)
    before = await verified(store)

    await store.erase(Erasure("e", "op", "", **subject))  # pyright: ignore[reportArgumentType]

    report = await verified(store, before)
    assert report.faults == []
    assert report.links > before.links


async def test_retention_may_remove_payloads(store: SqliteStore) -> None:
    await fill(store)
    assert store.writer
    await store.writer.run(lambda db: db.execute("DELETE FROM payloads"))

    report = await verified(store)

    assert (report.faults, report.payloads_gone) == ([], 1)


async def test_a_store_without_a_chain_gets_one_when_it_is_opened(
    path: Path, clock: ManualClock
) -> None:
    store = await open_sqlite(path, clock=clock, key=KEY)
    await fill(store)
    assert store.writer

    def forget(db: Connection) -> None:
        db.execute("DELETE FROM chain")
        db.execute("DELETE FROM meta WHERE key = 'chain_version'")

    await store.writer.run(forget)
    assert (await verified(store)).fault_count
    await store.close()

    again = await open_sqlite(path, clock=clock, key=KEY)
    report = await verified(again)
    await again.close()
    assert (report.faults, report.messages) == ([], 6)
