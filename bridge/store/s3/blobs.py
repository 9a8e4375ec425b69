"""Files by their content as objects of a bucket: `ab/ab34...` is a file, `again/ab34...` the note
that it was put once more."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Container,
    Iterator,
    Sequence,
)
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from pathlib import Path

from bridge.errors import FileMissing
from bridge.model.blob_ids import file_id_of, sha256_of
from bridge.ports.blobs import BlobRef, BlobTotal
from bridge.ports.clock import Clock
from bridge.runtime.keyed_locks import KeyedLocks
from bridge.store.encrypted_files import MAGIC
from bridge.store.part_files import PARTS, RESERVE
from bridge.store.s3.bucket import Bucket, Found, Listed, Retries
from bridge.store.s3.gathering import Gathered, gathered
from bridge.store.s3.place import S3Place
from bridge.store.s3.reading import RANGE, find

_PUT_AT = "put-at"  # seconds since 1970, by the clock of the bridge
_AGAIN = "again/"
_AT_ONCE = 16  # old files that are looked at together
_LARGEST = 1 << 50  # of a file that is stored already


async def open_s3_blobs(
    place: S3Place,
    folder: Path,
    *,
    clock: Clock,
    reserve: int = RESERVE,
    key: bytes | None = None,
    retries: Retries | None = None,
) -> S3Blobs:
    """Open the files of a place for this process alone; sends no request. `folder` holds what is
    on its way; what a process that died left there is removed. With a key, new files are
    encrypted.

    Raises:
        StoreError: the place cannot be one.
    """
    await asyncio.to_thread(shutil.rmtree, folder / PARTS, ignore_errors=True)
    return S3Blobs(place, folder, clock, reserve, key, retries)


class S3Blobs:
    """Implements `bridge.ports.blobs.Blobs`. Made by `open_s3_blobs`; for reading alone, which may
    go on beside another process, by itself. Of a file there are never more than a few megabytes in
    memory."""

    def __init__(
        self,
        place: S3Place,
        folder: Path,
        clock: Clock,
        reserve: int = RESERVE,
        key: bytes | None = None,
        retries: Retries | None = None,
    ) -> None:
        self._bucket = Bucket(place, retries or Retries())
        self._folder = folder
        self._clock = clock
        self._reserve = reserve
        self._key = key
        self._alone_with = KeyedLocks[str]()  # a file is put, or removed if it is old

    async def put(self, chunks: AsyncIterable[bytes], *, limit: int) -> BlobRef:
        """Store a stream, as `Blobs.put`; bytes that are stored already are not sent again."""
        async with self._gathered(chunks, limit, self._key) as whole:
            digest = sha256_of(whole.ref.file_id) or ""
            async with self._alone_with.hold(digest):
                await self._keep(digest, whole)
        return whole.ref

    @asynccontextmanager
    async def open(
        self, file_id: str, *, start: int = 0, end: int | None = None
    ) -> AsyncGenerator[AsyncIterator[bytes]]:
        """Read a file, as `Blobs.open`."""
        digest = sha256_of(file_id)
        if digest is None:
            raise FileMissing(f"{file_id[:40]!r} is no id of a kept file")
        is_whole = start == 0 and end is None
        first = RANGE if is_whole else 0
        stored = await find(self._bucket, _name(digest), file_id, self._key, first=first)
        if stored is None:
            raise FileMissing(f"No file {file_id!r} is kept")
        async with aclosing(stored.whole() if is_whole else stored.part(start, end)) as pieces:
            yield pieces

    async def stat(self, file_id: str) -> BlobRef | None:
        """Return the ref of a stored file, as `Blobs.stat`."""
        digest = sha256_of(file_id)
        if digest is None:
            return None
        stored = await find(self._bucket, _name(digest), file_id, self._key, first=0)
        return None if stored is None else stored.ref()

    async def remove(self, file_id: str, *, before: float | None = None) -> bool:
        """Delete a file, as `Blobs.remove`."""
        digest = sha256_of(file_id)
        return digest is not None and await self._remove(digest, before)

    async def sweep(self, used: Container[str], before: float) -> int:
        """Delete unused files, as `Blobs.sweep`."""
        removed = 0
        async for page in self._pages():
            unused = [digest for digest, _ in page if file_id_of(digest) not in used]
            for at in range(0, len(unused), _AT_ONCE):
                together = unused[at : at + _AT_ONCE]
                removed += sum(await asyncio.gather(*(self._remove(d, before) for d in together)))
        return removed

    async def total(self) -> BlobTotal:
        """Return the number of stored files and of their bytes, as `Blobs.total`."""
        files = size = 0
        async for page in self._pages():
            files += len(page)
            size += sum(own for _, own in page)
        return BlobTotal(files, size)

    async def file_ids(self) -> AsyncGenerator[str]:
        """Yield the ids of all stored files, as `Blobs.file_ids`."""
        async for page in self._pages():
            for digest, _ in page:
                yield file_id_of(digest)

    async def close(self) -> None:
        """Do nothing: connections end by themselves."""
        return

    async def recrypt(self, *, encrypt: bool) -> int:
        """Encrypt the stored files with the key, or decrypt them, one by one; those that are it
        already stay. Nothing else may use them. Returns how many were changed.

        Raises:
            FileDamaged: the bytes of one do not match its hash.
        """
        changed = 0
        async for file_id in self.file_ids():
            name = _name(sha256_of(file_id) or "")
            found = await self._bucket.read(name, 0, len(MAGIC))
            if found is None or found.content.startswith(MAGIC) == encrypt:
                continue
            key = self._key if encrypt else None
            async with self.open(file_id) as pieces, self._gathered(pieces, _LARGEST, key) as whole:
                await self._bucket.write(name, whole.content, {_PUT_AT: repr(_put_at(found))})
            changed += 1
        return changed

    # --- objects ------------------------------------------------------------------------------

    def _gathered(
        self, chunks: AsyncIterable[bytes], limit: int, key: bytes | None
    ) -> AbstractAsyncContextManager[Gathered]:
        return gathered(chunks, limit=limit, folder=self._folder, reserve=self._reserve, key=key)

    async def _keep(self, digest: str, whole: Gathered) -> None:
        """A file that is there already counts as new, and one of another size is replaced: it is
        damaged, or not encrypted as it is to be."""
        name, notes = _name(digest), {_PUT_AT: repr(self._clock.time())}
        if isinstance(whole.content, bytes) and await self._bucket.create(
            name, whole.content, notes
        ):
            return
        found = await self._bucket.read(name, 0, 1)
        if found is not None and found.size == whole.stored:
            await self._bucket.write(_AGAIN + digest, b"", notes)
        else:
            await self._bucket.write(name, whole.content, notes)

    async def _remove(self, digest: str, before: float | None) -> bool:
        async with self._alone_with.hold(digest):
            found = await self._bucket.read(_name(digest), 0, 1)
            if found is None or (
                before is not None and await self._last_put(digest, found) >= before
            ):
                return False
            await self._bucket.remove([_name(digest), _AGAIN + digest])
            return True

    async def _last_put(self, digest: str, found: Found) -> float:
        again = await self._bucket.read(_AGAIN + digest, 0, None)
        return max(_put_at(found), _put_at(again) if again else 0.0)

    async def _pages(self) -> AsyncGenerator[list[tuple[str, int]]]:
        async with aclosing(self._bucket.listed()) as pages:
            async for page in pages:
                yield list(_files_of(page))


def _files_of(page: Sequence[Listed]) -> Iterator[tuple[str, int]]:
    """The digests and sizes of the files among objects."""
    for listed in page:
        digest = listed.name.rpartition("/")[2]
        if listed.name == _name(digest) and sha256_of(file_id_of(digest)):
            yield digest, listed.size


def _put_at(found: Found) -> float:
    """When the bridge put it; what another program copied there has the server's time."""
    try:
        return float(found.notes.get(_PUT_AT, ""))
    except ValueError:
        return found.modified


def _name(digest: str) -> str:
    return f"{digest[:2]}/{digest}"
