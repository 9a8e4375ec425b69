"""kill -9 in the middle of group commits: what was acknowledged is there, and nothing is half."""

from __future__ import annotations

import asyncio
import random
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from bridge.model import ChannelRef
from bridge.model.archive_records import StoredMessage
from bridge.store import SqliteStore, open_sqlite
from bridge.testing.clock import ManualClock
from bridge.testing.store_contract import ROOM_TIMELINE, new_message
from tests.store.crashing import LANES

pytestmark = pytest.mark.process

ROUNDS = 5
STEP = 100_000  # numbers of one round


async def test_acknowledged_payloads_survive_a_kill(path: Path, clock: ManualClock) -> None:
    chance = random.Random(7)
    acknowledged: dict[str, set[int]] = defaultdict(set)

    for number in range(ROUNDS):
        newest = await _run_and_kill(path, number * STEP, chance.randint(200, 800))
        for kind, numbers in newest.items():
            acknowledged[kind] |= numbers
        store = await open_sqlite(path, clock=clock, key=None)
        await _check(store, newest)
        assert (await store.status()).messages >= len(acknowledged["admitted"])
        await store.close()

    assert len(acknowledged["settled"]) > ROUNDS * 20


async def _run_and_kill(path: Path, first: int, after: int) -> dict[str, set[int]]:
    """What was acknowledged until some moment after the given number of lines, whole ones only."""
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.store.crashing", str(path), str(first),
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert child.stdout is not None
    output = b""
    try:
        while output.count(b"\n") < after:
            chunk = await child.stdout.read(4096)
            assert chunk, "the child ended by itself"
            output += chunk
    finally:
        child.kill()
        output += await child.stdout.read()
        await child.wait()
    acknowledged: dict[str, set[int]] = defaultdict(set)
    for line in output.decode().splitlines(keepends=True):
        if line.endswith("\n"):
            kind, number = line.split()
            acknowledged[kind].add(int(number))
    return acknowledged


async def _check(store: SqliteStore, acknowledged: dict[str, set[int]]) -> None:
    waiting = {int(row.raw.order_key) for row in await store.waiting_rows()}
    archived = {
        number: await store.message(new_message(f"m{number}").id)
        for number in acknowledged["accepted"]
    }
    for number, message in archived.items():
        assert (number in waiting) != (message is not None), "either it waits or it is archived"
    assert all(archived[number] for number in acknowledged["admitted"])
    for number, message in archived.items():
        if message is not None:
            await _check_message(store, number, message, number in acknowledged["settled"])
    conversation = await store.conversation(ROOM_TIMELINE.id)
    assert len(conversation.messages) == (await store.status()).messages


async def _check_message(
    store: SqliteStore, number: int, message: StoredMessage, settled: bool
) -> None:
    explanation = await store.explain(new_message(f"m{number}").id)
    assert explanation is not None
    assert explanation.stored == message
    assert len(explanation.timelines) == 2
    assert [record.operation.id for record in explanation.operations] == [
        f"p{number}-0",
        f"p{number}-1",
    ]
    for end, record in enumerate(explanation.operations):
        assert record.state == "done" or not settled
        copied = await store.resolve(_lane(number, end), f"x{record.operation.id}")
        assert (copied is not None) == (record.state == "done") == bool(record.receipts)


def _lane(number: int, end: int) -> ChannelRef:
    return LANES[(number + end) % 10]
