"""No hot query reads more than it gives: SQLite's own plan of each named query is looked at."""

from __future__ import annotations

import re

import pytest

from bridge.store import SqliteStore
from bridge.store.queries import read_queries
from bridge.testing.clock import ManualClock

FILES = (
    "archive", "catch_up", "changes", "channels", "inbox", "links", "reactions", "outbox", "people",
    "reading", "key_values", "turns", "imports", "threads", "payload_blocks",
    "tenants",
)  # fmt: skip
ALIASES = {
    "o": "operations", "m": "message_rows", "l": "lanes", "e": "entries", "t": "timelines",
    "n": "person_names", "p": "people", "asked": "message_rows", "c": "changes",
    "during": "periods", "f": "links", "reactions": "reaction_rows",
    "v": "version_rows", "received": "inbox", "live": "payloads", "writer": "authors",
    "place": "channels", "former": "version_rows", "named": "rooms",
    "stood": "epochs", "about": "room_metadata",
}  # fmt: skip
NARROW = {
    "accounts": {"actor=?", "person=?"},
    "emails": {"actor=?", "digest=?"},
    "link_attempts": {"actor=?"},
    "link_codes": {"digest=?"},
    "person_names": {"skeleton=?"},
    "display_names": {
        "room=? AND actor=?",
        "room=? AND name_skeleton=?",
        "room=? AND display_skeleton=?",
        "actor=?",
    },
    # What a search must be narrowed by, so that it finds a few rows among millions.
    "api_tokens": {"name=?"},
    "changes": {"timeline=?", "timeline=? AND seq>?"},
    "channels": {"key=?", "rowid=?"},
    "credentials": {"name=?"},
    "cursors": {"account=? AND channel=?"},
    "entries": {
        "timeline=?",
        "message=?",
        "timeline=? AND seq>?",
        "timeline=? AND seq<?",
        "timeline=? AND seq>? AND seq<?",
        "message=? AND timeline=?",
        "timeline=? AND moment>? AND moment<?",
    },  # the first is read in order, up to a limit
    "inbox": {
        "rowid=?",
        "account=? AND dedupe_key=?",
        "state=?",
    },  # the index by state holds no row that is done
    "lanes": {"lane=?"},
    "links": {
        "channel=? AND native_id=?",
        "message=? AND channel=?",
        "message=? AND channel=? AND kind=?",
        "message=? AND channel=? AND kind=? AND slot=? AND gone=?",
        "channel=? AND at>?",
    },
    "descriptions": {"kind=?"},
    "payload_blocks": {"rowid=?", "rowid<?"},
    "authors": {"rowid=?"},
    "imported_units": {"export=?"},
    "message_rows": {"key=?", "rowid=?", ""},  # the last: max(n), one look at the end of the table
    "orphans": {"at>?", "at<?"},
    "operations": {
        "id=?",
        "lane=?",  # in an index that holds open operations only
        "message=?",
        "message=? AND lane=?",
        "state=?",  # in an index that holds no operation that is open or done
        "",  # max(seq): one look at the end of the table
    },
    "payload_credentials": {"rowid=?", "expires<?"},
    "payloads": {"rowid=?"},
    "people": {"id=?"},
    "epochs": {"room=?", "room=? AND epoch=?"},
    "room_metadata": {"room=?"},
    "periods": {"room=?", "room=? AND member=? AND since<?"},
    "pins": {"rowid=?"},
    "reaction_rows": {
        "message=?",
        "message=? AND emoji=?",
        "message=? AND emoji=? AND channel=? AND target=? AND actor=?",
    },
    "rooms": {"room=?"},
    "key_values": {"account=? AND key=?", "account=? AND key>?"},
    "stand_ins": {"channel=? AND native_id=?", "root=? AND channel=?"},
    "timelines": {"id=?", "rowid=?"},
    "tenants": {"id=?"},
    "tenant_secrets": {"tenant=?", "tenant=? AND name=?"},
    "used_install_states": {"digest=?"},
    "version_rows": {"message=?", "message=? AND version=?"},
    "turns": {
        "id=?",
        "state=?",
        "agent=? AND thread=?",
        "trigger_message=? AND agent=?",
        "trigger_message=?",
        "origin=?",
        "room=?",  # the newest ones, up to a limit
        "session=?",
    },
}
SUBQUERIES = ("SCAN counted", "SCAN found", "SCAN newest")  # PostgreSQL wants them named
WHOLE = {
    "SCAN payload_blocks",  # for the erasure of a person
    "SCAN timelines",  # lists everything there is
    "SCAN api_tokens",  # so does this
    "SCAN credentials",  # lists their names
    "SCAN people",  # for an export
    "SCAN tenants",  # lists everything there is
    "SCAN used_install_states",  # those of ten minutes
    "SCAN periods",  # so is this
    "SCAN pins",  # few, and nothing is less urgent
    "SCAN accounts USING INDEX accounts_of_person",  # so does this
    "SCAN operations USING INDEX operations_open",  # holds open ones only
}
SORTED = {
    "tenants",  # of a thousand, at a change of one of them
    # a few rows each: places and copies of one message, threads of one channel, what is lost
    "live_threads", "turns_about", "resolve", "timelines_of_message", "copies", "dead_letters",
    "channels", "rooms", "reactions_of",
    "operations_of_message", "posts_of", "root_in_channel", "open_turns",
    "reactions", "reactions_of_number", "waiting_marks", "marks_in_lane", "waiting_by_account",
}  # fmt: skip
QUERIES = [(file, name) for file in FILES for name in read_queries(file)]


@pytest.fixture
def store(clock: ManualClock) -> SqliteStore:
    """A store in memory: its schema, and with it its plans, are those of a file."""
    return SqliteStore.in_memory(clock)


@pytest.mark.parametrize(("file", "name"), QUERIES)
async def test_a_query_finds_its_rows_by_an_index(store: SqliteStore, file: str, name: str) -> None:
    for step in await _plan(store, read_queries(file)[name]):
        small = ("SCAN (subquery", "SCAN CONSTANT", "SCAN one VIRTUAL TABLE")
        lists = ("SCAN wanted VIRTUAL TABLE", "SCAN actor VIRTUAL TABLE")  # arguments as JSON
        if step.startswith("SCAN") and not step.startswith((*small, *SUBQUERIES, *lists)):
            assert step in WHOLE
        if step.startswith("SEARCH"):
            _, table, *_ = step.split()
            narrowed = re.search(r"\(([^()]*)\)", step)
            by = "" if narrowed is None else narrowed[1]
            assert by in NARROW[ALIASES.get(table, table)]


@pytest.mark.parametrize(("file", "name"), QUERIES)
async def test_only_small_results_are_sorted(store: SqliteStore, file: str, name: str) -> None:
    plan = await _plan(store, read_queries(file)[name])

    assert name in SORTED or not [step for step in plan if "TEMP B-TREE" in step]


async def _plan(store: SqliteStore, sql: str) -> list[str]:
    assert store.writer is not None
    numbered = {int(number) for number in re.findall(r"\?(\d+)", sql)}
    blanks = [None] * (max(numbered) if numbered else sql.count("?"))
    rows = await store.writer.run(
        lambda db: db.execute(f"EXPLAIN QUERY PLAN {sql}", blanks).fetchall()
    )
    return [row[3] for row in rows]
