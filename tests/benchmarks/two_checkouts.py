"""CPU per relayed post of two checkouts, in turns.

`python -m tests.benchmarks.two_checkouts BEFORE AFTER [--pairs N] [--messages N] [--rate R]`. The
folders are clones of the project; the sandbox, its people and this Python are the same for both.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.relay import PLATFORMS, WHO, Metered, cpu_seconds, metered, warm
from tests.e2e.processes import BridgeProcess, bridge_beside, rooms_across


@dataclass(frozen=True)
class Run:
    """How much is posted in one run of each."""

    messages: int
    rate: float


async def measure(folders: Sequence[Path], pairs: int, run: Run) -> None:
    """Prints the CPU of each pair as it comes, then the medians and their ratio."""
    seconds_by_platform: dict[str, list[tuple[float, float]]] = {
        platform: [] for platform in PLATFORMS
    }
    for pair in range(pairs):
        order = (0, 1) if pair % 2 == 0 else (1, 0)
        spent = {which: await _spent(folders[which], run) for which in order}
        for platform in PLATFORMS:
            both = (spent[0][platform], spent[1][platform])
            seconds_by_platform[platform].append(both)
            print(f"{platform:<8} {both[0]:>8.0f} {both[1]:>8.0f} us", flush=True)
    for platform, times in seconds_by_platform.items():
        ratios = sorted(after / before for before, after in times)
        before, after = (statistics.median(time) for time in zip(*times, strict=True))
        print(
            f"from {platform:<8} before {before:.0f} us, after {after:.0f} us, ratio "
            f"{statistics.median(ratios):.2f} ({ratios[0]:.2f}-{ratios[-1]:.2f})"
        )


async def _spent(folder: Path, run: Run) -> dict[str, float]:
    """Microseconds per message from each platform."""
    async with metered(limits=False) as sandbox:
        parts, _ = rooms_across(sandbox.sandbox)
        with tempfile.TemporaryDirectory(prefix="uacs-benchmark-") as made:
            store = {"path": str(Path(made) / "bridge.sqlite3")}
            settings = {"accounts": parts["accounts"], "rooms": parts["rooms"], "store": store}
            async with bridge_beside(
                sandbox.sandbox, settings, Path(made), module=WHO["bridge"], checkout=folder
            ) as bridge:
                await bridge.start()
                await bridge.connected(120)
                await warm(sandbox)
                return {
                    platform: await _of(sandbox, bridge, platform, run) for platform in PLATFORMS
                }


async def _of(sandbox: Metered, bridge: BridgeProcess, platform: str, run: Run) -> float:
    await sandbox.post(platform, run.messages // 4, rate=run.rate)
    before = cpu_seconds(bridge)
    await sandbox.post(platform, run.messages, rate=run.rate)
    await asyncio.sleep(0.3)  # echoes and settlements belong to it
    return 1e6 * (cpu_seconds(bridge) - before) / run.messages


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.two_checkouts")
    parser.add_argument("folders", nargs=2, type=Path, metavar=("BEFORE", "AFTER"))
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--messages", type=int, default=800)
    parser.add_argument("--rate", type=float, default=40.0)
    options = parser.parse_args()
    folders = [folder.resolve() for folder in options.folders]
    asyncio.run(measure(folders, options.pairs, Run(options.messages, options.rate)))


if __name__ == "__main__":
    main()
