"""Relaying measured from outside: CPU per message against a baseline, latency, throughput, RSS.

Three processes: the sandbox with its people and stopwatch, and beside it either the bridge
(durable, default settings) or the baseline program, which hears and posts with the same SDKs and
clients and has neither store nor router. CPU is user + system time of the whole process.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import tempfile
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import orjson

from tests.e2e.processes import (
    BridgeProcess,
    SandboxProcess,
    bridge_beside,
    end,
    rooms_across,
    start_python,
)

BAR = 2.5
CHANNELS = 7  # per workspace, guild and team: 42 channels, 14 rooms
COPIES = 2
# Without IRC: the baseline relays between these three.
PLATFORMS = ("slack", "discord", "teams")
WHO = {
    "baseline": "tests.benchmarks.baseline_process",
    "bridge": "tests.benchmarks.bridge_process",
    "bridge with rate limits": "tests.e2e.bridge_process",
}
COMPARED = ("baseline", "bridge")
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Size:
    """How much is measured."""

    pairs: int
    warm_up: int
    messages: int
    rate: float
    rates: tuple[int, ...]
    seconds_per_rate: float
    sustained: int
    limited: int


FULL = Size(5, 280, 1000, 100.0, (10, 50, 200), 12.0, 3000, 300)
QUICK = Size(1, 140, 300, 100.0, (10, 50), 4.0, 600, 60)


@dataclass
class Metered:
    """The metered sandbox and how to command it."""

    sandbox: SandboxProcess
    strict: bool = True  # the baseline may lose some: it promises nothing

    async def post(
        self, platform: str, count: int, *, rate: float | None = None, in_flight: int = 10_000
    ) -> dict[str, Any]:
        """People post; see `People.post`."""
        command = {
            "platform": platform, "count": count, "rate": rate, "in_flight": in_flight,
            "copies": COPIES,
        }  # fmt: skip
        process = self.sandbox.process
        assert process.stdin
        assert process.stdout
        process.stdin.write(orjson.dumps(command) + b"\n")
        result = orjson.loads(await asyncio.wait_for(process.stdout.readline(), 180))
        if self.strict and (result["missing"] or result["doubled"]):
            raise AssertionError(
                f"From {platform}: {result['missing']} posts were not shown everywhere, "
                f"{result['doubled']} were shown twice"
            )
        return result


@asynccontextmanager
async def metered(*, limits: bool) -> AsyncGenerator[Metered, None]:
    """A sandbox that measures, until the block ends."""
    more = ["--channels", str(CHANNELS), *(["--limits"] if limits else [])]
    process = await start_python(
        "tests.benchmarks.metered_sandbox", more, asyncio.subprocess.PIPE, limit=1 << 24
    )
    try:
        assert process.stdout
        url = orjson.loads(await asyncio.wait_for(process.stdout.readline(), 30))["url"]
        async with aiohttp.ClientSession() as http:
            async with http.get(f"{url}/_control/world") as answer:
                world = await answer.json()
            yield Metered(SandboxProcess(url, world, http, process))
    finally:
        await end(process)


@asynccontextmanager
async def program(sandbox: Metered, who: str) -> AsyncGenerator[BridgeProcess, None]:
    """The bridge or the baseline, hearing all platforms."""
    parts, _ = rooms_across(sandbox.sandbox)
    sandbox.strict = who != "baseline"
    with tempfile.TemporaryDirectory(prefix="uacs-benchmark-") as folder:
        path = Path(folder)
        settings = {**parts, "store": {"path": str(path / "bridge.sqlite3")}}
        async with bridge_beside(sandbox.sandbox, settings, path, module=WHO[who]) as running:
            await running.start()
            if who != "baseline":
                await running.connected()
            await warm(sandbox)
            yield running


async def warm(sandbox: Metered) -> None:
    """Every channel has sent and received a message: webhooks, tokens and names are known."""
    await asyncio.sleep(5)  # the baseline does not tell when it hears
    for platform in PLATFORMS:
        await sandbox.post(platform, 2 * CHANNELS * 2, rate=40)


# --- CPU ------------------------------------------------------------------------------------


async def cpu_ratios(size: Size) -> dict[str, Any]:
    """Paired runs in turns; for each direction the bridge's CPU over the baseline's."""
    runs: dict[str, dict[str, list[float]]] = {p: {w: [] for w in COMPARED} for p in PLATFORMS}
    for pair in range(size.pairs):
        order = COMPARED if pair % 2 == 0 else COMPARED[::-1]
        for who in order:
            async with metered(limits=False) as sandbox, program(sandbox, who) as running:
                for platform in PLATFORMS:
                    await sandbox.post(platform, size.warm_up, rate=size.rate)
                    before = cpu_seconds(running)
                    await sandbox.post(platform, size.messages, rate=size.rate)
                    await asyncio.sleep(0.3)  # echoes and settlements belong to it
                    spent = cpu_seconds(running) - before
                    runs[platform][who].append(1e6 * spent / size.messages)
    return {
        "rate": size.rate,
        "messages": size.messages,
        "pairs": size.pairs,
        "bar": BAR,
        "directions": [_direction(platform, runs[platform]) for platform in PLATFORMS],
    }


def _direction(platform: str, results: dict[str, list[float]]) -> dict[str, Any]:
    ratios = [b / a for a, b in zip(results["baseline"], results["bridge"], strict=True)]
    return {
        "from": platform,
        "to": [other for other in PLATFORMS if other != platform],
        "baseline_us": round(statistics.median(results["baseline"])),
        "bridge_us": round(statistics.median(results["bridge"])),
        "ratio": round(statistics.median(ratios), 2),
        "ratio_min": round(min(ratios), 2),
        "ratio_max": round(max(ratios), 2),
    }


def cpu_seconds(running: BridgeProcess) -> float:
    """User and system time of all threads so far."""
    assert running.process
    stat = Path(f"/proc/{running.process.pid}/stat").read_text()
    fields = stat.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def rss_mb(running: BridgeProcess) -> float:
    assert running.process
    for line in Path(f"/proc/{running.process.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return round(int(line.split()[1]) / 1024, 1)
    return 0.0


# --- latency, throughput, memory ------------------------------------------------------------


async def pace(size: Size) -> dict[str, Any]:
    """Latency at several rates, what can be sustained, and memory before and after."""
    async with metered(limits=False) as sandbox, program(sandbox, "bridge") as running:
        results: dict[str, Any] = {"rss_start_mb": rss_mb(running), "latency": []}
        for rate in size.rates:
            count = int(rate * size.seconds_per_rate)
            waits: list[float] = []
            for platform in PLATFORMS:
                waits += (await sandbox.post(platform, count // 3, rate=rate))["waits_ms"]
            results["latency"].append({"rate": rate, "posts": count} | _percentiles(waits))
        sustained = {}
        for platform in PLATFORMS:
            report = await sandbox.post(platform, size.sustained // 3, in_flight=200)
            sustained[platform] = round(size.sustained // 3 / report["seconds"])
        return results | {"sustained_per_s": sustained, "rss_end_mb": rss_mb(running)}


def _percentiles(waits: Sequence[float]) -> dict[str, float]:
    ordered = sorted(waits)

    def at(share: float) -> float:
        return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 1)

    return {"p50_ms": at(0.50), "p95_ms": at(0.95), "p99_ms": at(0.99), "max_ms": at(1.0)}


async def within_limits(size: Size) -> dict[str, Any]:
    """The published limits on: how many requests were refused for being too many."""
    async with metered(limits=True) as sandbox, program(sandbox, "bridge with rate limits"):
        before = _too_many(await sandbox.sandbox.refusals())
        for platform in PLATFORMS:
            await sandbox.post(platform, size.limited, rate=6, in_flight=200)
        refused = _too_many(await sandbox.sandbox.refusals())
        return {"posts": 3 * size.limited, "refused": {
            where: count - before.get(where, 0)
            for where, count in refused.items()
            if count > before.get(where, 0)
        }, "refused_at_start": before}  # fmt: skip


def _too_many(refusals: dict[str, int]) -> dict[str, int]:
    return {where: count for where, count in refusals.items() if where.split(":")[1] == "429"}
