"""An object -> the plain bytes of its file, range by range, so that no request waits for the
reader."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from hashlib import sha256

from bridge.content.media.types import HEAD as SNIFFED
from bridge.content.media.types import sniffed_type
from bridge.errors import FileDamaged, FileMissing, StoreError
from bridge.model.blob_ids import sha256_of
from bridge.ports.blobs import BlobRef
from bridge.store.encrypted_files import HEAD, MAGIC, Decryptor, chunk_range, plain_size
from bridge.store.s3.bucket import Bucket, Found

RANGE = 4 * 1024 * 1024  # bytes of one request, and in memory
_FIRST_CHUNK = 128 * 1024  # bytes that hold the first chunk of an encrypted file


class StoredFile:
    """An object that was found, of which the first bytes are known."""

    def __init__(
        self, bucket: Bucket, name: str, found: Found, file_id: str, key: bytes | None
    ) -> None:
        """Raises StoreError for an encrypted file without a key."""
        self._bucket = bucket
        self._name = name
        self._found = found
        self._file_id = file_id
        self._key = key if found.content.startswith(MAGIC) else None
        if self._key is None and found.content.startswith(MAGIC):
            raise StoreError(f"The file {file_id!r} is encrypted, and its store is not")

    @property
    def size(self) -> int:
        """The plain bytes."""
        return self._found.size if self._key is None else plain_size(self._found.size)

    def ref(self) -> BlobRef:
        """Return the file's ref. Raises FileDamaged."""
        head = self._found.content
        if (decryptor := self._decryptor()) is not None:
            head = decryptor.update(head[HEAD:]) or decryptor.finish()
        return BlobRef(self._file_id, self.size, sniffed_type(head[:SNIFFED]))

    async def whole(self) -> AsyncGenerator[bytes]:
        """Yield all bytes, the last of them only when all match the hash. Raises FileDamaged,
        FileMissing."""
        digest = sha256()
        decryptor = self._decryptor()
        held = b""
        async for stored in self._stored(HEAD if decryptor else 0, self._found.size):
            piece = stored if decryptor is None else decryptor.update(stored)
            digest.update(piece)
            if held and piece:
                yield held
            held = piece or held
        if decryptor is not None:
            last = decryptor.finish()
            digest.update(last)
            held += last
        if digest.hexdigest() != sha256_of(self._file_id):
            raise FileDamaged(
                f"The file {self._file_id!r} is damaged: the bytes in {self._bucket.place} are "
                "not those that were kept; restore it from a backup, or remove it"
            )
        if held:
            yield held

    async def part(self, start: int, end: int | None) -> AsyncGenerator[bytes]:
        """Yield the bytes from `start` to before `end`, without a look at the hash. Raises
        FileDamaged, FileMissing."""
        end = self.size if end is None else min(end, self.size)
        if start >= end:
            return
        if self._key is None:
            async for piece in self._stored(start, end):
                yield piece
            return
        number, skipped, begin, beyond = chunk_range(start, end)
        decryptor = Decryptor(
            self._key, self._found.content, self._found.size, self._file_id, number
        )
        left = end - start
        async for stored in self._stored(begin, min(beyond, self._found.size)):
            plain = decryptor.update(stored)
            plain, skipped = plain[skipped:], max(skipped - len(plain), 0)
            if plain:
                yield plain[:left]
                left -= min(len(plain), left)
        if left:
            yield decryptor.finish()[skipped:][:left]

    async def _stored(self, start: int, end: int) -> AsyncGenerator[bytes]:
        """The bytes of the object; those that are known already are not read again."""
        while start < end:
            known = self._found.content[start:end]
            if known:
                yield known
                start += len(known)
                continue
            to = min(start + RANGE, end)
            found = await self._bucket.read(self._name, start, to, self._found.tag)
            if found is None:
                raise FileMissing(f"The file {self._file_id!r} was removed while it was read")
            if len(found.content) != to - start:
                raise FileDamaged(f"The file {self._file_id!r} is damaged: bytes are missing")
            yield found.content
            start = to

    def _decryptor(self) -> Decryptor | None:
        if self._key is None:
            return None
        if len(self._found.content) < HEAD:
            raise FileDamaged(f"The file {self._file_id!r} is damaged: bytes are missing")
        return Decryptor(self._key, self._found.content, self._found.size, self._file_id)


async def find(
    bucket: Bucket, name: str, file_id: str, key: bytes | None, *, first: int
) -> StoredFile | None:
    """Return a stored file with at least the first bytes of its object that its ref needs."""
    wanted = max(first, SNIFFED if key is None else _FIRST_CHUNK)
    found = await bucket.read(name, 0, wanted)
    return None if found is None else StoredFile(bucket, name, found, file_id, key)
