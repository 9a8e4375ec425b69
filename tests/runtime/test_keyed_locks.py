"""What has the same key is done in order, the rest side by side."""

from __future__ import annotations

import asyncio

from bridge.runtime.keyed_locks import KeyedLocks


async def test_the_work_of_a_key_follows_the_order_in_which_it_came() -> None:
    locks, done = KeyedLocks[str](), list[str]()
    go_on = asyncio.Event()

    async def work(key: str, name: str) -> None:
        async with locks.hold(key):
            if name == "a1":
                await go_on.wait()
            done.append(name)

    tasks = [asyncio.create_task(work(name[0], name)) for name in ("a1", "a2", "b1", "a3", "b2")]
    await asyncio.wait(tasks[2:3])
    await asyncio.sleep(0)
    assert done == ["b1", "b2"]
    assert "a" in locks
    assert "b" not in locks
    go_on.set()
    await asyncio.gather(*tasks)

    assert done == ["b1", "b2", "a1", "a2", "a3"]
    assert "a" not in locks


async def test_who_gives_up_waiting_leaves_the_order_to_the_others() -> None:
    locks, done = KeyedLocks[str](), list[str]()

    async def work(name: str) -> None:
        async with locks.hold("key"):
            done.append(name)

    async with locks.hold("key"):
        tasks = [asyncio.create_task(work(name)) for name in ("one", "two", "three")]
        await asyncio.sleep(0)
        tasks[0].cancel()
    await asyncio.gather(*tasks, return_exceptions=True)

    assert done == ["two", "three"]
    assert "key" not in locks
