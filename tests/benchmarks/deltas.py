"""What a delta of an answer costs the bridge alone: the CPU of its process while answers grow on
three platforms, against the same answers given in one piece."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
from pathlib import Path
from typing import Any

from tests.benchmarks.relay import cpu_seconds
from tests.e2e.processes import (
    BridgeProcess,
    SandboxProcess,
    Spot,
    bridge_beside,
    rooms_across,
    sandbox_beside,
)

_ROOMS = 6  # each of a Slack, a Discord and a Teams channel
_QUESTION = " ".join(f"word{number}" for number in range(33))
_PACE_S = 0.1  # between two deltas
_END = "my answer is shown on"


async def measure(rounds: int) -> dict[str, Any]:
    """Milliseconds of CPU a delta: the medians of so many rounds, one of each kind after another.
    All limits are on."""
    async with sandbox_beside(channels=_ROOMS // 2) as local:
        growing, whole = [], []
        for _ in range(rounds):
            growing.append(await _spent(local, _PACE_S))
            whole.append(await _spent(local, 0.0))
    deltas = growing[0][1]
    costs = [1000 * cpu / deltas for cpu, _ in growing]
    at_once = [1000 * cpu / deltas for cpu, _ in whole]
    added = [cost - other for cost, other in zip(costs, at_once, strict=True)]
    return {
        "rooms": _ROOMS, "deltas": deltas,
        "growing_ms": round(statistics.median(costs), 3),
        "whole_ms": round(statistics.median(at_once), 3),
        "added_ms": round(statistics.median(added), 3),
        "added_from_to": [round(min(added), 3), round(max(added), 3)],
    }  # fmt: skip


async def _spent(local: SandboxProcess, pace: float) -> tuple[float, int]:
    """CPU seconds of the bridge for one answer in each room, and how many deltas those had."""
    parts, rooms = rooms_across(local)
    membership = {"agent": "echo", "listen": "mentions"}
    with tempfile.TemporaryDirectory() as folder:
        settings = {
            **parts,
            "rooms": {
                name: {**room, "agents": [membership]} for name, room in parts["rooms"].items()
            },
            "agents": {"echo": {"kind": "echo", "pace": pace}},
            "store": {"path": str(Path(folder) / "bridge.sqlite3")},
        }
        async with bridge_beside(local, settings, Path(folder)) as bridge:
            await bridge.start()
            await bridge.connected(60)
            roots = [await _say(local, room[0], "a question follows") for room in rooms]
            await asyncio.sleep(5.0)  # the start and the roots are no part of it
            messages = await _answers(local, bridge, rooms, roots)
            assert await bridge.stop() == 0
    return messages


async def _answers(
    local: SandboxProcess, bridge: BridgeProcess, rooms: list[tuple[Spot, ...]], roots: list[str]
) -> tuple[float, int]:
    before = {room[0]: await _ended(local, room[0]) for room in rooms}
    began = cpu_seconds(bridge)
    for room, root in zip(rooms, roots, strict=True):
        await local.say(room[0], room[0].people[0], f"@echo {_QUESTION}", root)
    async with asyncio.timeout(120):
        for room in rooms:
            while len(await _ended(local, room[0])) == len(before[room[0]]):  # noqa: ASYNC110
                await asyncio.sleep(0.2)
    await asyncio.sleep(3.0)  # the other platforms' last edits
    spent = cpu_seconds(bridge) - began
    news = [(await _ended(local, room[0]))[-1] for room in rooms]
    return spent, sum(len(text.split()) for text in news)


async def _say(local: SandboxProcess, spot: Spot, text: str) -> str:
    return (await local.say(spot, spot.people[0], text)).id


async def _ended(local: SandboxProcess, spot: Spot) -> list[str]:
    return [message.text for message in await local.standing(spot) if _END in message.text]
