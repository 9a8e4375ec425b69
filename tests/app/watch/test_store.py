"""A store that accepts no writes is reported in /healthz, in the metrics, and once a minute in the
log."""

from __future__ import annotations

import asyncio
import random
import re
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import httpx
import pytest
from structlog.testing import capture_logs

from bridge.app.build import Bridge, build
from bridge.app.settings.file import settings_of
from bridge.app.watch import store as store_watch
from bridge.app.watch.store import EVERY, SAY_AGAIN, TEST_TIMEOUT, StoreWatch
from bridge.app.web.server import web_app
from bridge.errors import StoreError, StoreFull
from bridge.model.store_status import MAX_COUNTED
from bridge.ports.store.whole import Store
from bridge.store import SqliteStore
from bridge.store.connection import Connection, Rows
from bridge.store.status import read_pulse
from bridge.testing.clock import ManualClock
from bridge.testing.store_contract import raw


class Takes:
    """The part of a store that is tested; `error` is what it raises, `held` makes it wait."""

    def __init__(self) -> None:
        self.error: Exception | None = None
        self.held: asyncio.Event | None = None
        self.proofs = 0

    async def prove_writable(self) -> None:
        self.proofs += 1
        if self.held is not None:
            await self.held.wait()
        if self.error is not None:
            raise self.error


def watch_of(store: Takes, clock: ManualClock) -> StoreWatch:
    return StoreWatch(cast("Store", store), clock)


@pytest.fixture
async def bridge(tmp_path: Path) -> AsyncIterator[Bridge]:
    """A bridge without accounts, whose router does not run."""
    made = await build(settings_of({"store": {"path": str(tmp_path / "data" / "b.sqlite3")}}))
    made.running = True
    yield made
    await made.close()


async def ask(bridge: Bridge, path: str) -> tuple[int, Any]:
    transport = httpx.ASGITransport(web_app(bridge))
    async with httpx.AsyncClient(transport=transport, base_url="http://bridge") as http:
        answer = await http.get(path)
        return answer.status_code, answer.text if path == "/metrics" else answer.json()


def test_a_store_failure_is_reported_within_five_seconds() -> None:
    """A test begins at most EVERY after the last one, and is given up after TEST_TIMEOUT."""
    assert EVERY + TEST_TIMEOUT < 5


@pytest.mark.parametrize(
    "error",
    [StoreFull("No room left for '/srv/b'"), StoreError("The disk of '/srv/b' failed"), OSError()],
)
async def test_a_store_that_accepts_no_write_fails_health_and_readiness(
    bridge: Bridge, error: Exception
) -> None:
    takes = Takes()
    bridge.watch = watch_of(takes, ManualClock())
    await bridge.watch.look()
    before = [(await ask(bridge, path))[0] for path in ("/healthz", "/readyz", "/livez")]
    takes.error = error
    await bridge.watch.look()

    health, ready = await ask(bridge, "/healthz"), await ask(bridge, "/readyz")
    alive, metrics = await ask(bridge, "/livez"), await ask(bridge, "/metrics")

    assert before == [200, 200, 200]
    assert (health[0], ready[0], alive[0], metrics[0]) == (503, 503, 200, 200)
    assert health[1]["ok"] is False
    assert "store" in health[1]["problems"][0]
    assert "/srv" not in str(health[1]) + str(ready[1])
    assert "bridge_store_writable 0.0" in metrics[1]
    takes.error = None
    await bridge.watch.look()
    assert (await ask(bridge, "/healthz"))[0] == 200
    assert "bridge_store_writable 1.0" in (await ask(bridge, "/metrics"))[1]


async def test_a_store_failure_is_logged_at_once_and_then_once_a_minute() -> None:
    takes, clock = Takes(), ManualClock()
    watch = watch_of(takes, clock)
    takes.error = StoreFull("No room left for '/srv/b'")

    with capture_logs() as logged:
        for _ in range(int(3 * SAY_AGAIN / EVERY)):
            await watch.look()
            clock.now += EVERY
        takes.error = None
        await watch.look()

    assert [(event["event"], event.get("seconds")) for event in logged] == [
        ("store_write_failed", 0),
        ("store_write_failed", 60),
        ("store_write_failed", 120),
        ("store_write_recovered", None),
    ]
    assert logged[0]["error"] == "No room left for '/srv/b'"


async def test_a_test_write_that_hangs_is_a_failure_and_no_other_begins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(store_watch, "TEST_TIMEOUT", 0.01)
    takes = Takes()
    takes.held = asyncio.Event()
    watch = watch_of(takes, ManualClock())

    for _ in range(3):
        await watch.look()
    assert (takes.proofs, bool(watch.trouble)) == (1, True)
    takes.held.set()
    await asyncio.sleep(0)
    await watch.look()

    assert (takes.proofs, watch.trouble) == (1, "")


async def test_the_watch_can_be_stopped_during_a_test_write() -> None:
    takes = Takes()
    takes.held = asyncio.Event()
    running = asyncio.create_task(watch_of(takes, ManualClock()).run())
    await asyncio.sleep(0)
    running.cancel()

    with pytest.raises(asyncio.CancelledError):
        await running


# --- real stores --------------------------------------------------------------------------------


async def test_a_file_that_another_program_has_locked_is_noticed(
    bridge: Bridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_watch, "TEST_TIMEOUT", 0.05)
    with closing(sqlite3.connect(bridge.settings.store.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        await bridge.watch.look()
        assert "accepted no write" in bridge.watch.trouble
        assert (await ask(bridge, "/healthz"))[0] == 503
        other.execute("ROLLBACK")

    monkeypatch.setattr(store_watch, "TEST_TIMEOUT", 10.0)
    await bridge.watch.look()
    assert (await ask(bridge, "/healthz"))[0] == 200


async def test_a_file_that_was_removed_is_noticed(bridge: Bridge) -> None:
    path = bridge.settings.store.path
    _rename(path, path.with_name("away"))

    await bridge.watch.look()

    assert "was removed while the bridge runs" in bridge.watch.trouble
    assert (await ask(bridge, "/healthz"))[0] == 503
    _rename(path.with_name("away"), path)
    await bridge.watch.look()
    assert (await ask(bridge, "/healthz"))[0] == 200


def _rename(path: Path, target: Path) -> None:
    path.rename(target)


async def test_a_full_disk_is_noticed_though_a_small_write_would_pass(bridge: Bridge) -> None:
    """After a real write found no space, the test must write as much as a batch of messages."""
    store = bridge.store
    assert isinstance(store, SqliteStore)
    await store.prove_writable()
    await _pages(store, lambda used: used + 8)
    with pytest.raises(StoreFull):
        await store.accept(raw(1, payload=random.Random(1).randbytes(200_000)), advance=False)

    for _ in range(2):
        await bridge.watch.look()
        assert "No room left" in bridge.watch.trouble
    status, health = await ask(bridge, "/healthz")
    assert (status, health["problems"]) == (
        503,
        ["The bridge's store has no room left on its disk"],
    )

    await _pages(store, lambda _: 1_000_000)
    await bridge.watch.look()
    assert (await ask(bridge, "/healthz"))[0] == 200


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        ("read-only", "cannot be written (attempt to write a readonly database)"),
        ("disk", "The disk of the store"),
    ],
)
async def test_a_disk_failure_while_the_bridge_runs_is_noticed(
    bridge: Bridge, monkeypatch: pytest.MonkeyPatch, failure: str, expected: str
) -> None:
    """A disk that becomes read-only, and one that returns errors, while the store is open."""
    store = bridge.store
    assert isinstance(store, SqliteStore)
    assert store.writer is not None
    db: Connection = vars(store.writer)["_db"]
    if failure == "read-only":
        db.execute("PRAGMA query_only = ON")
    else:
        monkeypatch.setattr(store.writer, "_db", _FailingDisk(db))

    await bridge.watch.look()
    broken = [await ask(bridge, path) for path in ("/healthz", "/readyz")]
    with pytest.raises(StoreError, match=re.escape(expected)):
        await store.accept(raw(1), advance=False)

    assert expected in bridge.watch.trouble
    assert [status for status, _ in broken] == [503, 503]
    monkeypatch.undo()
    db.execute("PRAGMA query_only = OFF")
    await bridge.watch.look()
    assert (await ask(bridge, "/healthz"))[0] == 200


class _FailingDisk:
    """A connection whose COMMIT fails as with an EIO of the disk."""

    def __init__(self, db: Connection) -> None:
        self._db = db

    def execute(self, statement: str, *values: Any) -> Rows:
        if statement == "COMMIT":
            error = sqlite3.OperationalError("disk I/O error")
            error.sqlite_errorcode = sqlite3.SQLITE_IOERR_WRITE
            raise error
        return self._db.execute(statement, *values)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._db, name)


async def _pages(store: SqliteStore, most: Callable[[int], int]) -> None:
    """Limit the pages of the file, like a small disk; outside of a transaction, as SQLite
    requires."""
    assert store.writer is not None

    def unit(db: Connection) -> None:
        (used,) = db.execute("PRAGMA page_count").fetchone()
        db.execute(f"PRAGMA max_page_count = {most(used)}")

    await store.writer.run(unit)


async def test_a_health_check_takes_no_longer_in_a_large_store(bridge: Bridge) -> None:
    store = bridge.store
    assert isinstance(store, SqliteStore)
    assert store.writer is not None
    steps = [await store.writer.run(_steps)]
    for _ in range(2):
        await store.writer.run(_fill, 5000)
        steps.append(await store.writer.run(_steps))

    assert (await store.pulse()).messages == 10_000
    assert (await store.pulse()).outbox == dict.fromkeys(("open", "dead", "unproved"), MAX_COUNTED)
    assert steps[2] <= steps[1] + 100


def _fill(db: Connection, count: int) -> None:
    (first,) = db.execute("SELECT coalesce(max(n), 0) + 1 FROM message_rows").fetchone()
    numbers = [(first + number,) for number in range(count)]
    db.executemany(
        "INSERT INTO message_rows (n, key, body, author, time, state, outcome, changed) "
        "VALUES (?1, 'm' || ?1, x'', 1, 0, 'complete', '', 0)", numbers,
    )  # fmt: skip
    db.executemany(
        "INSERT INTO operations (seq, id, lane, type, message, body, state, due, created) "
        "VALUES (?1, 'o' || ?1, 'l', 'post_message', 1, x'', "
        "CASE ?1 % 4 WHEN 0 THEN 'waiting' WHEN 1 THEN 'dead' WHEN 2 THEN 'unproved' "
        "ELSE 'done' END, 0, 0)", numbers,
    )  # fmt: skip


def _steps(db: Connection) -> int:
    """The instructions of SQLite's virtual machine that a query takes."""
    assert isinstance(db, sqlite3.Connection)
    steps = 0

    def step() -> int:
        nonlocal steps
        steps += 1
        return 0

    db.set_progress_handler(step, 1)
    read_pulse(db)
    db.set_progress_handler(None, 1)
    return steps
