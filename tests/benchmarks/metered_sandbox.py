"""The sandbox with people of its own and a stopwatch: `python -m tests.benchmarks.metered_sandbox`.

One JSON command a line comes in on standard input, one JSON answer a line goes out. People's posts
are made here, and both times of each message are taken here: when it is handed over, and when a
request that shows it arrives. So a bridge is measured from outside, and no clocks are compared.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import os
import re
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import orjson

from bridge.sandbox.feed import Change
from bridge.sandbox.platform import LocalPlatform, SandboxContext
from bridge.sandbox.server import serve_sandbox

_TAG = re.compile(r"#(\d{7})\b")
_WORDS = "The quick brown fox jumps over the lazy dog, and *then* some more words follow."


class Stopwatch:
    """When each numbered post was made and when its copies arrived."""

    def __init__(self, context: SandboxContext) -> None:
        self.began: dict[int, float] = {}
        self.arrived: dict[int, list[float]] = {}
        self.on_copy: Callable[[int, int], None] = lambda _number, _copies: None
        self._publish = context.feed.publish
        context.feed.publish = self._note  # type: ignore[method-assign]  # seen nowhere else

    def _note(self, change: Change) -> None:
        now = time.perf_counter()
        if change.kind == "posted" and (match := _TAG.search(change.message.text)):
            number = int(match[1])
            if change.message.bot:
                copies = self.arrived.setdefault(number, [])
                copies.append(now)
                self.on_copy(number, len(copies))
            else:
                self.began[number] = now
        self._publish(change)


class People:
    """They post at a given rate, or as fast as what they say is shown."""

    def __init__(self, platforms: dict[str, LocalPlatform], watch: Stopwatch) -> None:
        self._platforms = platforms
        self._watch = watch
        self._numbers = itertools.count(1)

    async def post(
        self,
        platform: str,
        count: int,
        rate: float | None,
        in_flight: int,
        copies: int,
        *,
        one_workspace: bool = False,
        seconds: float = 60,
    ) -> dict[str, Any]:
        """`copies` is how often each post is to appear elsewhere; waits until all have."""
        local = self._platforms[platform]
        world = local.world()
        people = {person.workspace: person.id for person in world.people}
        first = world.places[0].workspace
        places = itertools.cycle(
            [place for place in world.places if not one_workspace or place.workspace == first]
        )
        numbers: list[int] = []
        room = asyncio.Semaphore(in_flight)
        left = count
        all_there = asyncio.Event()

        def on_copy(_number: int, arrived: int) -> None:
            nonlocal left
            if arrived == copies:
                left -= 1
                room.release()
                if not left:
                    all_there.set()

        self._watch.on_copy = on_copy
        start = time.perf_counter()
        for index in range(count):
            await room.acquire()
            if rate and (ahead := start + index / rate - time.perf_counter()) > 0:
                await asyncio.sleep(ahead)
            place = next(places)
            numbers.append(number := next(self._numbers))
            person = people[place.workspace]
            text = f"#{number:07d} {_WORDS}"
            await local.post_as(place.workspace, place.channel, person, text)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(all_there.wait(), seconds)
        took = time.perf_counter() - start
        return {"seconds": took, "missing": left, **self._latencies(numbers, copies)}

    def _latencies(self, numbers: list[int], copies: int) -> dict[str, Any]:
        began, arrived = self._watch.began, self._watch.arrived
        waits = sorted(
            1000 * (when - began[number])
            for number in numbers
            for when in arrived.get(number, ())[:copies]
        )
        doubled = sum(len(arrived.get(number, ())) > copies for number in numbers)
        return {"doubled": doubled, "waits_ms": waits}


async def serve(channels: int, *, limits: bool) -> None:
    ready: asyncio.Future[tuple[SandboxContext, dict[str, LocalPlatform]]] = (
        asyncio.get_running_loop().create_future()
    )
    serving = asyncio.create_task(
        serve_sandbox(
            channels=channels, limits=limits, on_ready=lambda *parts: ready.set_result(parts)
        )
    )
    context, platforms = await ready
    people = People(platforms, Stopwatch(context))
    say({"url": context.base_url})
    lines = lines_of_stdin()
    try:
        while (line := await lines.get()) is not None:
            say(await people.post(**orjson.loads(line)))
    finally:
        serving.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await serving


def lines_of_stdin() -> asyncio.Queue[bytes | None]:
    """Lines as they come; None at the end."""
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[bytes | None] = asyncio.Queue()

    def read() -> None:
        with os.fdopen(os.dup(0), "rb") as stdin:
            for line in stdin:
                loop.call_soon_threadsafe(lines.put_nowait, line)
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(lines.put_nowait, None)

    threading.Thread(target=read, daemon=True).start()
    return lines


def say(answer: dict[str, Any]) -> None:
    sys.stdout.write(orjson.dumps(answer).decode() + "\n")
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--channels", type=int, default=7)
    parser.add_argument("--limits", action="store_true")
    options = parser.parse_args()
    asyncio.run(serve(options.channels, limits=options.limits))


if __name__ == "__main__":
    main()
