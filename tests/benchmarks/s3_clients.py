"""CPU of a put and a get of 50 KB and 5 MB on a local S3 server, by obstore, by our blob store on
it, plain and encrypted, and by aioboto3 where it is installed; each in a process of its own.

Run as `python -m tests.benchmarks.s3_clients`, with `UACS_S3_PYTHON` as the tests have it.
"""

from __future__ import annotations

import asyncio
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from tests.store.s3_server import KEYS, s3_server

SIZES = {50_000: 60, 5_000_000: 8}  # bytes of a file, and how many
ROUNDS = 5
_PIECE = 256 * 1024


class Client(NamedTuple):
    """How a library puts and gets one object; `put` returns what `get` takes."""

    put: Callable[[bytes], Awaitable[str]]
    get: Callable[[str], Awaitable[int]]


@asynccontextmanager
async def _obstore(url: str, bucket: str) -> AsyncGenerator[Client]:
    import obstore
    from obstore.store import S3Store

    store = S3Store(bucket, config={"endpoint": url}, client_options={"allow_http": True})

    async def put(content: bytes) -> str:
        name = os.urandom(8).hex()
        await obstore.put_async(store, name, content, use_multipart=False)
        return name

    async def get(name: str) -> int:
        result = await obstore.get_async(store, name)
        return sum([len(piece) async for piece in result.stream(min_chunk_size=_PIECE)])

    yield Client(put, get)


@asynccontextmanager
async def _aioboto3(url: str, bucket: str) -> AsyncGenerator[Client]:
    session: Any = import_module("aioboto3").Session()
    async with session.client("s3", endpoint_url=url) as client:

        async def put(content: bytes) -> str:
            name = os.urandom(8).hex()
            await client.put_object(Bucket=bucket, Key=name, Body=content)
            return name

        async def get(name: str) -> int:
            result = await client.get_object(Bucket=bucket, Key=name)
            return sum([len(piece) async for piece in result["Body"].iter_chunks(_PIECE)])

        yield Client(put, get)


@asynccontextmanager
async def _blobs(url: str, bucket: str, key: bytes | None = None) -> AsyncGenerator[Client]:
    from bridge.runtime.clock import SystemClock
    from bridge.store.s3.blobs import open_s3_blobs
    from bridge.store.s3.place import S3Place

    place = S3Place(bucket, "", url, "us-east-1", KEYS)
    with tempfile.TemporaryDirectory() as folder:
        blobs = await open_s3_blobs(place, Path(folder), clock=SystemClock(), key=key)

        async def chunks(content: bytes) -> AsyncIterator[bytes]:
            for at in range(0, len(content), _PIECE):
                yield content[at : at + _PIECE]

        async def put(content: bytes) -> str:
            return (await blobs.put(chunks(content), limit=len(content))).file_id

        async def get(file_id: str) -> int:
            async with blobs.open(file_id) as pieces:
                return sum([len(piece) async for piece in pieces])

        yield Client(put, get)


def _sealed(url: str, bucket: str) -> Any:
    return _blobs(url, bucket, bytes(32))


CLIENTS: dict[str, tuple[str, Callable[[str, str], Any]]] = {
    "obstore": ("obstore", _obstore),
    "aioboto3": ("aioboto3", _aioboto3),
    "blobs": ("obstore", _blobs),
    "sealed": ("obstore", _sealed),
}


async def _measure(url: str, bucket: str, opened: Callable[[str, str], Any]) -> None:
    async with opened(url, bucket) as client:
        await client.get(await client.put(b"first"))
        for size, number in SIZES.items():
            puts: list[float] = []
            gets: list[float] = []
            for _ in range(ROUNDS):
                contents = [os.urandom(size) for _ in range(number)]
                start = time.process_time()
                names = [await client.put(content) for content in contents]
                middle = time.process_time()
                for name in names:
                    assert await client.get(name) == size
                puts.append((middle - start) / number * 1000)
                gets.append((time.process_time() - middle) / number * 1000)
            print(
                f"  {size:>9,} bytes: put {median(puts):.2f} ms, get {median(gets):.2f} ms of CPU"
            )


def _child(name: str, url: str, bucket: str) -> None:
    module, opened = CLIENTS[name]
    start = time.process_time()
    import_module(module)
    imported = (time.process_time() - start) * 1000
    print(f"{name}: import {imported:.0f} ms of CPU")
    asyncio.run(_measure(url, bucket, opened))
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    print(f"  {most:.0f} MB at most")


def main() -> None:
    """Measure each client that is installed."""
    environment = {
        **os.environ,
        "AWS_ACCESS_KEY_ID": KEYS.access_key_id,
        "AWS_SECRET_ACCESS_KEY": KEYS.secret_access_key,
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    with tempfile.TemporaryDirectory() as folder, s3_server(Path(folder)) as server:
        for name, (module, _) in CLIENTS.items():
            if find_spec(module) is None:
                print(f"{name}: not installed")
                continue
            bucket = server.new_place().bucket
            command = [
                sys.executable,
                "-m",
                "tests.benchmarks.s3_clients",
                name,
                server.url,
                bucket,
            ]
            subprocess.run(command, env=environment, check=True)


if __name__ == "__main__":
    _child(*sys.argv[1:]) if len(sys.argv) > 1 else main()
