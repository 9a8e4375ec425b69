"""A program that puts files as fast as it can and says which are kept, until it dies.

Run as `python -m tests.store.crashing_blobs FOLDER`; prints an id once its file is durable.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from bridge.runtime.clock import SystemClock
from bridge.store.blobs import open_blobs
from bridge.testing.blobs_contract import put


async def main(folder: Path) -> None:
    blobs = await open_blobs(folder, clock=SystemClock())

    async def work(worker: int) -> None:
        number = 0
        while True:
            number += 1
            ref = await put(blobs, f"{worker} {number} ".encode() * 20_000)
            print(ref.file_id, flush=True)

    async with asyncio.TaskGroup() as group:
        for worker in range(5):
            group.create_task(work(worker))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
