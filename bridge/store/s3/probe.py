"""Tries a bucket: writes, reads, lists and removes a probe."""

from __future__ import annotations

from uuid import uuid4

from bridge.errors import StoreError
from bridge.store.s3.bucket import Bucket, Retries
from bridge.store.s3.place import S3Place

_CONTENT = b"uacs-bridge tries whether it may write here"
_SOON = Retries(most=2, seconds=10.0, longest_pause=1.0)


async def probe(place: S3Place, retries: Retries = _SOON) -> bool:
    """Write an object of its own below the prefix, read it, list the prefix, and remove the object.
    Returns whether the bucket keeps former versions of objects, which nothing here removes.

    Raises:
        StoreError: one of that fails; the text says what to do.
    """
    bucket = Bucket(place, retries)
    name = f"probe/{uuid4().hex}"
    version = await bucket.write(name, _CONTENT, {})
    try:
        found = await bucket.read(name, 0, None)
        if found is None or found.content != _CONTENT:
            raise StoreError(f"The bucket of {place} does not give back what was written to it")
        async for _ in bucket.listed():
            break
    finally:
        await bucket.remove([name])
    if await bucket.read(name, 0, None) is not None:
        raise StoreError(f"The bucket of {place} keeps objects that were deleted")
    return version is not None
