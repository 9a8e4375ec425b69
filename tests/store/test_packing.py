"""Payloads leave the store as they came in."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.store import SqliteStore
from bridge.store.packing import pack, unpack
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
