"""No hot query reads a whole table: SQLite's own plan of each named query is looked at."""

from __future__ import annotations

import re

import pytest

from bridge.store import SqliteStore
from bridge.store.queries import read_queries

FILES = ("archive", "inbox", "outbox", "shelf", "turns")
WHOLE_BY_NATURE = {("archive", "timelines")}  # lists everything there is
SORTS = {
    # a few rows each: copies of one message, dead letters of one end, threads of one channel
    ("archive", "resolve"),
    ("archive", "live_threads"),
    ("archive", "timelines_of_message"),
    ("inbox", "waiting_rows"),
    ("outbox", "copies"),
    ("outbox", "dead_letters"),
    ("outbox", "operations_of_message"),
    ("outbox", "root_in_channel"),
    ("turns", "open_turns"),
}
QUERIES = [(file, name) for file in FILES for name in read_queries(file)]


@pytest.mark.parametrize(("file", "name"), QUERIES)
async def test_a_query_searches_and_never_scans(store: SqliteStore, file: str, name: str) -> None:
    plan = await _plan(store, read_queries(file)[name])

    scans = {step for step in plan if re.match(r"SCAN (?!\(|CONSTANT)", step)}
    allowed = {"SCAN operations USING INDEX operations_open"}  # which holds open ones only
    assert (file, name) in WHOLE_BY_NATURE or scans <= allowed


@pytest.mark.parametrize(("file", "name"), QUERIES)
async def test_only_small_results_are_sorted(store: SqliteStore, file: str, name: str) -> None:
    plan = await _plan(store, read_queries(file)[name])

    assert (file, name) in SORTS or not [step for step in plan if "TEMP B-TREE" in step]


async def test_the_head_of_a_lane_is_found_in_the_index_of_open_operations(
    store: SqliteStore,
) -> None:
    assert await _plan(store, read_queries("outbox")["head"]) == [
        "SEARCH o USING INDEX operations_open (lane=?)",
        "SEARCH m USING INTEGER PRIMARY KEY (rowid=?)",
        "SEARCH l USING PRIMARY KEY (lane=?) LEFT-JOIN",
    ]


async def _plan(store: SqliteStore, sql: str) -> list[str]:
    assert store.writer is not None
    blanks = [None] * max(_numbered(sql), _plain(sql))
    rows = await store.writer.run(
        lambda db: db.execute(f"EXPLAIN QUERY PLAN {sql}", blanks).fetchall()
    )
    return [row[3] for row in rows]


def _plain(sql: str) -> int:
    return len(re.findall(r"\?(?!\d)", sql))


def _numbered(sql: str) -> int:
    return max((int(number) for number in re.findall(r"\?(\d+)", sql)), default=0)
