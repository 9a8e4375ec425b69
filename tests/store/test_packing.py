"""Payloads leave the store as they came in."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.store import SqliteStore, payload_blocks
from bridge.store.packing import beginning, pack, unpack
from bridge.testing.store_contract import raw


@given(st.one_of(st.binary(max_size=400), st.binary(max_size=50).map(lambda part: part * 40)))
def test_any_payload_comes_back(payload: bytes) -> None:
    assert unpack(pack(payload)) == payload


@pytest.mark.parametrize("payload", [b"", b"{}", b'{"a": 1}' * 100])
def test_a_payload_of_an_earlier_version_is_read_as_it_came(payload: bytes) -> None:
    assert unpack(payload) == payload


def test_a_large_payload_is_stored_smaller() -> None:
    payload = b'{"type": "section", "text": {"type": "mrkdwn", "text": "hello"}}' * 40

    assert len(pack(payload)) < len(payload) / 10


async def test_the_payload_of_an_inbox_row_is_stored_packed(store: SqliteStore, path: Path) -> None:
    payload = b'{"text": "%s"}' % (b"word " * 200)
    row = await store.accept(raw(payload=payload), advance=False)
    assert row is not None

    with sqlite3.connect(path) as db:
        ((stored,),) = db.execute("SELECT payload FROM payloads").fetchall()
    db.close()

    assert len(stored) < len(payload) / 5
    assert [waiting.raw.payload for waiting in await store.waiting_rows()] == [payload]


@pytest.mark.parametrize("value", [b"short", b"a longer value " * 50], ids=["as it is", "packed"])
def test_the_beginning_of_a_value_is_read_alone(value: bytes) -> None:
    assert beginning(pack(value), 5) == value[:5]
    assert beginning(pack(value), 10_000) == value
    assert beginning(b"\0" + zlib.compress(value), 5) == value[:5]


@contextmanager
def blocks_of(*formats: str | None) -> Generator[sqlite3.Connection]:
    """Blocks of payloads in these formats, numbered from 1; None has been removed."""
    with closing(sqlite3.connect(":memory:")) as db:
        fill(db, formats)
        yield db


def fill(db: sqlite3.Connection, formats: Sequence[str | None]) -> None:
    db.execute("CREATE TABLE payload_blocks (first INTEGER PRIMARY KEY, count, payloads)")
    payload_blocks.add(db, 1, [("zip", b"one %d" % n) for n, _ in enumerate(formats, 1)])
    for number, form in enumerate(formats, 1):
        if form is None:
            payload_blocks.remove(db, [number])
        elif form != "zip":
            payload_blocks.replace(db, number, (form, b"other %d" % number))


@pytest.mark.parametrize(
    ("formats", "wanted", "found"),
    [
        (("zip", "zip"), None, {1: ("zip", b"one 1"), 2: ("zip", b"one 2")}),
        (("zip", "zip"), {"lines"}, {}),
        (("zip", "zip"), set[str](), {}),
        ((None, "zip"), {"zip"}, {2: ("zip", b"one 2")}),
        ((None, None), {"zip"}, {}),
        (("zip", "lines", "zip"), {"lines"}, {2: ("lines", b"other 2")}),
        (("zip", "lines", "zip"), {"zip"}, {1: ("zip", b"one 1"), 3: ("zip", b"one 3")}),
        (("lines", "zip"), {"lines"}, {1: ("lines", b"other 1")}),
    ],
)
def test_payloads_of_one_format_are_found_without_reading_others(
    formats: tuple[str | None, ...], wanted: set[str] | None, found: dict[int, tuple[str, bytes]]
) -> None:
    with blocks_of(*formats) as db:
        assert payload_blocks.payloads_of(db, range(1, len(formats) + 1), wanted) == found


def test_a_format_behind_a_whole_block_of_gaps_is_found() -> None:
    with blocks_of(*[None] * 255, "zip") as db:
        assert payload_blocks.payloads_of(db, range(1, 257), {"zip"}) == {256: ("zip", b"one 256")}
