"""One large file to five channels that take it: by how much the bridge's resident memory grows.

The local platforms and the bridge are processes of their own. The file is posted in Slack and goes
to three more channels of two workspaces and to two guilds; a small one goes the same way before, so
that every client, thread and channel is known. Measured is the peak that the kernel keeps
(`VmHWM`), set back before the large one.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path
from typing import Any

import aiohttp

from tests.e2e.processes import (
    BridgeProcess,
    SandboxProcess,
    Spot,
    bridge_beside,
    rooms_across,
    sandbox_beside,
)

MEGABYTES = 100
BAR = 32
COPIES = 5
_KILOBYTE = 1024


async def measure(megabytes: int = MEGABYTES, runs: int = 3) -> dict[str, Any]:
    """Growth in MB in each run, each with a bridge of its own."""
    grown: list[float] = []
    seconds: list[float] = []
    for _ in range(runs):
        async with sandbox_beside(channels=3, limits=False, boosted=True) as local:
            with tempfile.TemporaryDirectory(prefix="uacs-files-") as folder:
                result = await _through(local, Path(folder), megabytes)
        grown.append(result[0])
        seconds.append(result[1])
    return {
        "megabytes": megabytes, "copies": COPIES, "grown_mb": grown,
        "seconds": [round(second, 1) for second in seconds], "bar": BAR,
    }  # fmt: skip


async def _through(local: SandboxProcess, folder: Path, megabytes: int) -> tuple[float, float]:
    parts, rooms = rooms_across(local)
    source, *targets = _members(rooms)
    of_spot = {
        (member["workspace"], member["channel"]): member
        for room in parts["rooms"].values()
        for member in room["members"]
    }
    members = [of_spot[spot.workspace, spot.channel] for spot in (source, *targets)]
    settings = {
        "accounts": parts["accounts"],
        "rooms": {"large": {"members": members}},
        "store": {"path": str(folder / "bridge.sqlite3")},
        "files": {"allow_loopback": True, "max_file_mb": 2.0 * megabytes},
    }
    async with bridge_beside(local, settings, folder) as bridge:
        await bridge.start()
        await bridge.connected()
        await _share(local, source, targets, bridge, "small", 1)
        before = _memory(bridge, "VmRSS")
        _begin_peak(bridge)
        began = time.perf_counter()
        await _share(local, source, targets, bridge, "large", megabytes)
        took = time.perf_counter() - began
        return round(_memory(bridge, "VmHWM") - before, 1), took


def _members(rooms: list[tuple[Spot, ...]]) -> list[Spot]:
    """Four channels of two workspaces of Slack, and one of each guild."""
    slack = sorted((room[0] for room in rooms), key=lambda spot: spot.channel[-1])[:4]
    guilds: dict[str, Spot] = {room[1].workspace: room[1] for room in reversed(rooms)}
    return [*slack, *guilds.values()]


async def _share(
    local: SandboxProcess,
    source: Spot,
    targets: list[Spot],
    bridge: BridgeProcess,
    name: str,
    megabytes: int,
) -> None:
    """A person shares a file; until it stands in every other channel with all its bytes."""
    form = aiohttp.FormData()
    fields = {
        "workspace": source.workspace, "channel": source.channel, "person": source.people[0],
        "text": f"a {name} file",
    }  # fmt: skip
    for key, value in fields.items():
        form.add_field(key, value)
    data = bytes(megabytes * 1_000_000)
    form.add_field("file", data, filename=f"{name}.bin", content_type="application/octet-stream")
    address = f"{local.url}/_control/slack/files"
    async with local.http.post(address, data=form) as answer:
        assert answer.status == 200, await answer.text()
    async with asyncio.timeout(120):
        while not all([await _has_it(local, spot, name, len(data)) for spot in targets]):
            assert bridge.process
            assert bridge.process.returncode is None
            await asyncio.sleep(0.1)


async def _has_it(local: SandboxProcess, spot: Spot, name: str, size: int) -> bool:
    for message in await local.standing(spot):
        files = message.raw.get("files") or message.raw.get("attachments") or ()
        if any(file.get("size") == size and name in str(file) for file in files):
            return True
    return False


def _begin_peak(bridge: BridgeProcess) -> None:
    assert bridge.process
    Path(f"/proc/{bridge.process.pid}/clear_refs").write_text("5")


def _memory(bridge: BridgeProcess, which: str) -> float:
    """`VmRSS` or `VmHWM` in MB."""
    assert bridge.process
    for line in Path(f"/proc/{bridge.process.pid}/status").read_text().splitlines():
        if line.startswith(f"{which}:"):
            return int(line.split()[1]) * _KILOBYTE / 1_000_000
    raise AssertionError(f"the kernel tells no {which}")


def table(results: dict[str, Any]) -> str:
    grown = ", ".join(f"{value:g}" for value in results["grown_mb"])
    seconds = ", ".join(f"{value:g}" for value in results["seconds"])
    return (
        f"{results['megabytes']} MB to {results['copies']} channels: "
        f"resident memory grew by {grown} MB"
        f" (< {results['bar']}), in {seconds} s"
    )
