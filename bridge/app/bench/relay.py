"""Relays messages of people on local platforms through a bridge in a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections import Counter
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

import httpx
import orjson
import yaml

from bridge.app.bench.disk import make_store
from bridge.app.bench.results import Relay
from bridge.app.demo.world import demo_types
from bridge.app.local_accounts import announce_accounts, local_accounts
from bridge.errors import BridgeError
from bridge.sandbox.feed import Feed
from bridge.sandbox.platform import LocalPlatform, SandboxContext, SeededPlace, World
from bridge.sandbox.server import serve_sandbox

COPIES = 2  # of each message: on two other platforms
_CHANNELS = 4  # on each platform: as many rooms
_IN_FLIGHT = 32  # messages that are on their way at once
_STARTS = 30.0  # seconds for the bridge to start and connect
_ARRIVES = 15.0  # seconds for the last message to arrive
_TAG = re.compile(r"#(\d{7})\b")
_WORDS = "The quick brown fox jumps over the lazy dog, and then some more words follow."


@dataclass(frozen=True)
class _Local:
    """The running local platforms."""

    context: SandboxContext
    platforms: dict[str, LocalPlatform]


async def measure_relay(folder: Path, seconds: float, *, encrypted: bool) -> Relay:
    """Relay for so long a time, with the store in this folder.

    Raises:
        BridgeError: the bridge did not start, or a message did not arrive.
    """
    store = folder / "relay.sqlite3"
    await make_store(store, encrypted=encrypted)
    async with _local_platforms() as local, _bridge(local, folder, store) as process:
        people = _People(local)
        with people.watching(local.context.feed):
            await people.post(2 * COPIES * _CHANNELS, 0.0)  # webhooks, tokens and names are known
            before, began = await _used(process), time.perf_counter()
            count = await people.post(_IN_FLIGHT, seconds)
            took, after = time.perf_counter() - began, await _used(process)
    cpu, units = (after[name] - before[name] for name in ("cpu", "units"))
    return Relay(count, took, count / took, 1e6 * cpu / count, units / count)


class _People:
    """Post in all channels in turn, and see what arrives."""

    def __init__(self, local: _Local) -> None:
        self._local = local
        worlds = {name: platform.world() for name, platform in local.platforms.items()}
        rooms = zip(*(places_of(world) for world in worlds.values()), strict=True)
        self._places = cycle([
            (name, place) for room in rooms for name, place in zip(worlds, room, strict=True)
        ])  # fmt: skip
        self._person = {name: _person_of(world) for name, world in worlds.items()}
        self._count = 0
        self._copies: Counter[int] = Counter()
        self._arrived = asyncio.Condition()
        self._complete = 0

    @contextlib.contextmanager
    def watching(self, feed: Feed) -> Generator[None]:
        """Count copies until the block ends."""
        watching = asyncio.create_task(self._watch(feed))
        try:
            yield
        finally:
            watching.cancel()

    async def _watch(self, feed: Feed) -> None:
        async for change in feed.watch():
            found = _TAG.search(change.message.text)
            if change.kind == "posted" and change.message.bot and found:
                self._copies[int(found[1])] += 1
                if self._copies[int(found[1])] == COPIES:
                    async with self._arrived:
                        self._complete += 1
                        self._arrived.notify_all()

    async def post(self, least: int, seconds: float) -> int:
        """Post for so long a time, `least` messages at least, and wait until all have arrived.
        Returns how many. Raises BridgeError when they do not."""
        end, first = time.perf_counter() + seconds, self._count
        while self._count - first < least or time.perf_counter() < end:
            await self._until(self._count - _IN_FLIGHT + 1)
            self._count += 1
            name, place = next(self._places)
            text = f"#{self._count:07d} {_WORDS}"
            local = self._local.platforms[name]
            await local.post_as(place.workspace, place.channel, self._person[name], text)
        await self._until(self._count)
        return self._count - first

    async def _until(self, complete: int) -> None:
        try:
            async with asyncio.timeout(_ARRIVES), self._arrived:
                await self._arrived.wait_for(lambda: self._complete >= complete)
        except TimeoutError:
            raise BridgeError(
                f"{self._count - self._complete} messages did not arrive within {_ARRIVES:g} s"
            ) from None


def places_of(world: World) -> list[SeededPlace]:
    """The channels of the first workspace of a platform."""
    first = world.places[0]
    own = (first.workspace, first.workspace_name)
    return [p for p in world.places if (p.workspace, p.workspace_name) == own][:_CHANNELS]


def _person_of(world: World) -> str:
    workspace = world.places[0].workspace
    return next(person.id for person in world.people if person.workspace == workspace)


@asynccontextmanager
async def _local_platforms() -> AsyncGenerator[_Local]:
    """Three local platforms without limits in this process."""
    ready: asyncio.Future[_Local] = asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(
        serve_sandbox(
            channels=_CHANNELS, limits=False, names=tuple(demo_types())[: COPIES + 1],
            on_ready=lambda *parts: ready.set_result(_Local(*parts)),
        )
    )  # fmt: skip
    try:
        await asyncio.wait({ready, serving}, return_when=asyncio.FIRST_COMPLETED)
        if not ready.done():
            serving.result()
            raise BridgeError("The local platforms stopped before they were ready")
        yield ready.result()
    finally:
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)


@asynccontextmanager
async def _bridge(local: _Local, folder: Path, store: Path) -> AsyncGenerator[Process]:
    """A bridge that is connected to the local platforms, until the block ends."""
    worlds = {name: platform.world() for name, platform in local.platforms.items()}
    accounts, environment = local_accounts(worlds, local.context.base_url)
    config = folder / "relay.yaml"
    settings = {"accounts": accounts, "rooms": _rooms(worlds), "store": {"path": str(store)},
                "web": {"host": "127.0.0.1", "port": 0}}  # fmt: skip
    config.write_text(yaml.safe_dump(settings), "utf-8")
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bridge.app.bench.bridge_process", str(config),
        stdin=PIPE, stdout=PIPE, env={**os.environ, **environment},
    )  # fmt: skip
    try:
        url = (await _line(process))["url"]
        announce_accounts(local.platforms, url)
        await _connected(url)
        yield process
    finally:
        if process.stdin is not None:
            process.stdin.close()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), _ARRIVES)
        if process.returncode is None:
            process.kill()
            await process.wait()


def _rooms(worlds: Mapping[str, World]) -> dict[str, Any]:
    """The first channels of all platforms are one room, the second ones another, and so on."""
    by_platform = [places_of(world) for world in worlds.values()]
    return {
        f"room-{number}": {
            "members": [
                {"account": name, "workspace": place.workspace, "channel": place.channel}
                for name, place in zip(worlds, places, strict=True)
            ]
        }
        for number, places in enumerate(zip(*by_platform, strict=True))
    }


async def _line(process: Process) -> dict[str, Any]:
    if process.stdout is None:
        raise BridgeError("The bridge has no output")
    try:
        line = await asyncio.wait_for(process.stdout.readline(), _STARTS)
    except TimeoutError:
        line = b""
    if not line:
        raise BridgeError("The bridge of the benchmark did not start; its errors are above")
    return orjson.loads(line)


async def _used(process: Process) -> dict[str, float]:
    """What the bridge has used so far."""
    if process.stdin is not None:
        process.stdin.write(b"\n")
    return await _line(process)


async def _connected(url: str) -> None:
    try:
        async with httpx.AsyncClient(base_url=url) as http, asyncio.timeout(_STARTS):
            while True:
                accounts = (await http.get("/healthz")).json()["accounts"].values()
                if all(account["state"] in ("connected", "listening") for account in accounts):
                    return
                await asyncio.sleep(0.05)
    except TimeoutError:
        raise BridgeError(f"The bridge did not connect within {_STARTS:g} s") from None
