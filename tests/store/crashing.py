"""A program that fills a store as fast as it can and says what was acknowledged, until it dies.

Run as `python -m tests.store.crashing PATH FIRST`; prints `kind number` once a write is durable.
"""

from __future__ import annotations

import asyncio
import itertools
import sys
from pathlib import Path

from bridge.model import ChannelRef, OperationId
from bridge.model.admission import Admission
from bridge.ports.store.whole import Store
from bridge.runtime.clock import SystemClock
from bridge.store import open_sqlite
from bridge.testing.store_contract import (
    HOME_TIMELINE,
    ROOM_TIMELINE,
    copy,
    done,
    new_message,
    post,
    raw,
)

LANES = [ChannelRef(platform="wire", workspace="W2", channel=str(number)) for number in range(10)]


async def carry(store: Store, number: int) -> None:
    """One payload from the inbox to two settled posts, each step acknowledged."""
    row = await store.accept(raw(number), advance=True)
    assert row is not None
    acknowledge("accepted", number)
    new = new_message(f"m{number}")
    operations = [post(f"p{number}-{end}", new, LANES[(number + end) % 10]) for end in range(2)]
    timelines = (ROOM_TIMELINE, HOME_TIMELINE)
    await store.admit(Admission("routed", row.id, new, (), timelines, tuple(operations)))
    acknowledge("admitted", number)
    for operation in operations:
        await store.begin(OperationId(operation.id))
        await store.settle(done(operation.id, copy(f"x{operation.id}")))
    acknowledge("settled", number)


def acknowledge(kind: str, number: int) -> None:
    print(kind, number, flush=True)


async def main(path: Path, first: int) -> None:
    store = await open_sqlite(path, clock=SystemClock(), key=None)
    numbers = itertools.count(first)

    async def work() -> None:
        for number in numbers:
            await carry(store, number)

    async with asyncio.TaskGroup() as group:
        for _ in range(30):
            group.create_task(work())


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
