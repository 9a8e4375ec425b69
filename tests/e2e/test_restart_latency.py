"""After a start, live messages do not wait until every channel has been read back.

Each room has one channel of one Slack workspace and one of one Discord server; the platforms keep
their published limits. Right after the start somebody writes in every room, which is more than
Slack's 50 readings a minute allow to read first.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import orjson
import pytest

from tests.e2e.processes import (
    BridgeProcess,
    SandboxProcess,
    bridge_beside,
    end,
    rooms_across,
    start_python,
)

ROOMS = int(os.environ.get("RESTART_ROOMS", "120"))
RATE = 15.0  # posts a second; each first copy asks for its webhook: two of Discord's 50 requests
CLEAN_P95, KILLED_P95 = 2.0, 10.0  # seconds


class Meter:
    """The sandbox with a stopwatch, and the bridge beside it."""

    def __init__(self, sandbox: SandboxProcess, bridge: BridgeProcess) -> None:
        self.bridge = bridge
        self._process = sandbox.process

    async def post(self, platform: str, seconds: float = 300) -> list[float]:
        """Somebody writes once in every room; how long each copy took, in seconds."""
        command = {
            "platform": platform, "count": ROOMS, "rate": RATE, "in_flight": 10_000, "copies": 1,
            "one_workspace": True, "seconds": seconds,
        }  # fmt: skip
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(orjson.dumps(command) + b"\n")
        line = await asyncio.wait_for(self._process.stdout.readline(), seconds + 60)
        result = orjson.loads(line)
        assert (result["missing"], result["doubled"]) == (0, 0)
        return [milliseconds / 1000 for milliseconds in result["waits_ms"]]

    async def is_current(self, seconds: float) -> None:
        """Wait until every channel has been read."""
        async with asyncio.timeout(seconds):
            while True:
                health = await self.bridge.health()
                if health is not None and not health["catching_up"]:
                    return
                await asyncio.sleep(0.5)


@asynccontextmanager
async def metered(folder: Path) -> AsyncGenerator[Meter, None]:
    more = ["--channels", str(ROOMS), "--limits"]
    process = await start_python(
        "tests.benchmarks.metered_sandbox", more, asyncio.subprocess.PIPE, limit=1 << 24
    )
    try:
        assert process.stdout
        url = orjson.loads(await asyncio.wait_for(process.stdout.readline(), 60))["url"]
        async with aiohttp.ClientSession() as http:
            async with http.get(f"{url}/_control/world") as answer:
                local = SandboxProcess(url, await answer.json(), http, process)
            settings = _one_workspace(rooms_across(local)[0])
            settings["store"] = {"path": str(folder / "bridge.sqlite3")}
            async with bridge_beside(local, settings, folder) as bridge:
                yield Meter(local, bridge)
    finally:
        await end(process)


def _one_workspace(parts: dict[str, Any]) -> dict[str, Any]:
    """The rooms of the first Slack workspace, without Teams."""
    slack = next(iter(parts["accounts"]))
    platforms = (slack, "discord")
    rooms = {
        name: {"members": [member for member in room["members"] if member["account"] in platforms]}
        for name, room in parts["rooms"].items()
        if any(member["account"] == slack for member in room["members"])
    }
    accounts = {name: parts["accounts"][name] for name in platforms}
    return {**parts, "accounts": accounts, "rooms": rooms}


def _report(what: str, waits: list[float]) -> float:
    ordered = sorted(waits)
    p50, p95 = (ordered[int(share * len(ordered))] for share in (0.5, 0.95))
    print(
        f"{what}: {len(ordered)} rooms, p50 {p50:.2f} s, p95 {p95:.2f} s, max {ordered[-1]:.2f} s"
    )
    return p95


@pytest.mark.long
@pytest.mark.timeout(4 * 3600)
async def test_live_messages_do_not_wait_for_catch_up(
    tmp_path: Path,
) -> None:
    async with metered(tmp_path) as meter:
        bridge = meter.bridge
        await bridge.start()
        await bridge.connected(300)
        _report("\nfirst start, Slack to Discord", await meter.post("slack"))
        await meter.is_current(ROOMS * 3 + 120)

        assert await bridge.stop() == 0
        await bridge.start()
        await bridge.connected(300)
        clean = _report("clean restart, Slack to Discord", await meter.post("slack"))
        clean_back = _report("clean restart, Discord to Slack", await meter.post("discord"))
        began = time.monotonic()
        await meter.is_current(ROOMS * 3 + 120)
        print(f"every channel read after {time.monotonic() - began:.0f} s more")

        await bridge.kill()
        await bridge.start()
        await bridge.connected(300)
        killed = _report("kill, Slack to Discord", await meter.post("slack"))
        killed_back = _report("kill, Discord to Slack", await meter.post("discord"))
        print(bridge.log.read_text().count("live_events_released"), "channels went on unread")

    assert max(clean, clean_back) <= CLEAN_P95
    assert max(killed, killed_back) <= KILLED_P95
