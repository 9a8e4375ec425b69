"""Copies the files of one blob store into another; what is there already is not copied again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from bridge.errors import FileDamaged, FileMissing
from bridge.ports.blobs import Blobs

_AT_ONCE = 8


@dataclass
class Copied:
    """Numbers of files that were copied, with their bytes, and that were there; the ids of those
    that are damaged where they come from."""

    copied: int = 0
    size: int = 0
    there: int = 0
    damaged: list[str] = field(default_factory=list[str])


async def copy_blobs(
    source: Blobs,
    target: Blobs,
    *,
    verify: bool = False,
    on_progress: Callable[[Copied], None] = lambda _: None,
) -> Copied:
    """Copy every file, several at a time; each is compared with its hash on the way. A call that
    was stopped is finished by the next one. With `verify`, files that are there are read and, if
    they are damaged, copied again.

    Raises:
        StoreError: one of the two fails.
    """
    done = Copied()
    waiting: asyncio.Queue[str | None] = asyncio.Queue(_AT_ONCE)

    async def work() -> None:
        while (file_id := await waiting.get()) is not None:
            await _copy(source, target, file_id, done, verify=verify)
            on_progress(done)

    async def feed() -> None:
        async for file_id in source.file_ids():
            await waiting.put(file_id)
        for _ in range(_AT_ONCE):
            await waiting.put(None)

    try:
        async with asyncio.TaskGroup() as tasks:
            for _ in range(_AT_ONCE):
                tasks.create_task(work())
            tasks.create_task(feed())
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return done


async def _copy(source: Blobs, target: Blobs, file_id: str, done: Copied, *, verify: bool) -> None:
    ref = await source.stat(file_id)
    if ref is None:
        return  # removed meanwhile
    if await target.stat(file_id) == ref and (not verify or await _is_whole(target, file_id)):
        done.there += 1
        return
    try:
        async with source.open(file_id) as pieces:
            await target.put(pieces, limit=ref.size)
    except FileMissing:
        return
    except FileDamaged:
        done.damaged.append(file_id)
        return
    done.copied += 1
    done.size += ref.size


async def _is_whole(blobs: Blobs, file_id: str) -> bool:
    try:
        async with blobs.open(file_id) as pieces:
            async for _ in pieces:
                pass
    except FileDamaged:
        await blobs.remove(file_id)  # else the store would keep it for the one that comes
        return False
    return True
