"""Puts a large file and reads it again; prints MB/s of each, and by how many MB memory grew.

Run as `python -m tests.store.large_blob FOLDER MEGABYTES`, and with `URL BUCKET` for the files of
an S3 server.
"""

from __future__ import annotations

import asyncio
import os
import resource
import sys
import time
from collections.abc import AsyncGenerator
from pathlib import Path

from bridge.ports.blobs import Blobs
from bridge.runtime.clock import SystemClock
from bridge.store.blobs import open_blobs
from bridge.store.s3.blobs import open_s3_blobs
from bridge.store.s3.place import S3Keys, S3Place

_CHUNK = 64 * 1024  # as they come from the network


async def chunks(megabytes: int) -> AsyncGenerator[bytes]:
    for number in range(megabytes * 1_000_000 // _CHUNK):
        yield number.to_bytes(8, "big") * (_CHUNK // 8)


def most_memory() -> float:
    """The largest so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


async def through(blobs: Blobs, megabytes: int) -> tuple[float, float]:
    """Seconds to put it, and to read it."""
    start = time.perf_counter()
    ref = await blobs.put(chunks(megabytes), limit=megabytes * 1_000_000)
    put_at = time.perf_counter()
    async with blobs.open(ref.file_id) as pieces:
        async for _ in pieces:
            pass
    return put_at - start, time.perf_counter() - put_at


async def main(folder: Path, megabytes: int, *server: str) -> None:
    blobs: Blobs
    if server:
        url, bucket = server
        place = S3Place(bucket, "", url, "us-east-1", S3Keys("id", "secret"))
        blobs = await open_s3_blobs(place, folder, clock=SystemClock())
    else:
        blobs = await open_blobs(folder, clock=SystemClock())
    await through(blobs, 1)
    before = most_memory()
    writing, reading = await through(blobs, megabytes)
    grown = most_memory() - before
    print(f"put {megabytes / writing:.0f} MB/s, open {megabytes / reading:.0f} MB/s, {grown:.1f}")
    await blobs.close()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:]))
    sys.stdout.flush()
    os._exit(0)  # the S3 client's own threads now and then abort an interpreter that ends
