"""A stream -> the content of one object and its digest: small ones in memory, others on disk."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TypeVar, TypeVarTuple
from uuid import uuid4

from bridge.content.media.types import HEAD, sniffed_type
from bridge.model.blob_ids import file_id_of
from bridge.ports.blobs import BlobRef
from bridge.store.encrypted_files import Encryptor, encrypted_size
from bridge.store.part_files import PARTS, PartFile, blocks_of, disk_errors
from bridge.store.place import make_folder

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

IN_MEMORY = 4 * 1024 * 1024  # bytes of a file that goes from memory in one request
_AT_ONCE = 256 * 1024  # bytes that are hashed in the event loop; a hop to a thread costs 100 us


@dataclass(frozen=True)
class Gathered:
    """A whole file: its ref, the content of its object, and the bytes of that."""

    ref: BlobRef
    content: bytes | Path
    stored: int


@asynccontextmanager
async def gathered(
    chunks: AsyncIterable[bytes], *, limit: int, folder: Path, reserve: int, key: bytes | None
) -> AsyncGenerator[Gathered]:
    """Read a stream to its end and, with a key, encrypt it; a file on disk lasts as long as the
    block. Raises FileTooLarge, StoreFull, StoreError.
    """
    held: list[bytes] = []
    size = 0
    part: PartFile | None = None
    try:
        async for block in blocks_of(chunks, limit):
            size += sum(map(len, block))
            if part is None and size <= IN_MEMORY:
                held += block
                continue
            if part is None:
                part = PartFile(folder / PARTS / uuid4().hex, reserve, key)
                await _in_thread(folder, make_folder, folder / PARTS)
                await _in_thread(folder, part.write, held)
                held = []
            await _in_thread(folder, part.write, block)
        if part is not None:
            ref = await _in_thread(folder, part.finish)
            yield Gathered(ref, part.path, size if key is None else encrypted_size(size))
        elif size <= _AT_ONCE:
            yield _whole(held, key)
        else:
            yield await asyncio.to_thread(_whole, held, key)
    finally:
        if part is not None:
            await _in_thread(folder, part.discard)


async def _in_thread(folder: Path, work: Callable[[*Ts], T], *args: *Ts) -> T:
    def translated() -> T:
        with disk_errors(folder):
            return work(*args)

    return await asyncio.to_thread(translated)


def _whole(chunks: Sequence[bytes], key: bytes | None) -> Gathered:
    content = b"".join(chunks)
    ref = BlobRef(
        file_id_of(sha256(content).hexdigest()), len(content), sniffed_type(content[:HEAD])
    )
    if key is not None:
        encryptor = Encryptor(key)
        content = b"".join((encryptor.head, encryptor.update(content), encryptor.finish()))
    return Gathered(ref, content, len(content))
