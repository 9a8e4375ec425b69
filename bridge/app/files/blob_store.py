"""Settings -> the blob store that they name: a folder beside the store, or a bucket."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from bridge.app.settings.blobs import BlobSettings
from bridge.app.settings.secrets import SecretReader
from bridge.errors import ConfigError
from bridge.ports.blobs import Blobs
from bridge.ports.clock import Clock
from bridge.runtime.extras import has_module, how_to_install
from bridge.store.blobs import DiskBlobs, open_blobs
from bridge.store.part_files import RESERVE
from bridge.store.s3.place import S3Keys, S3Place, split_url
from bridge.store.vault import files_key_of

if TYPE_CHECKING:
    from bridge.store.s3.blobs import S3Blobs


def folder_of(store: Path) -> Path:
    """Return the folder beside a store that has its files, or what is on its way to a bucket."""
    return store.with_suffix(".blobs")


async def open_blob_store(store: Path, blobs: BlobSettings | None, *, clock: Clock) -> Blobs:
    """Open the files of a store for this process alone; sends no request.

    Raises:
        ConfigError: the extra `s3` is not installed, or a key is missing.
        StoreError: the folder cannot be used, or the store's own key is missing.
    """
    key = await asyncio.to_thread(files_key_of, store)
    if blobs is None:
        return await open_blobs(folder_of(store), clock=clock, key=key)
    place = await place_of(blobs)

    from bridge.store.s3.blobs import open_s3_blobs

    return await open_s3_blobs(place, folder_of(store), clock=clock, key=key)


async def read_blob_store(store: Path, blobs: BlobSettings | None, *, clock: Clock) -> Blobs:
    """Open the files of a store to read them, also while a bridge uses them. Raises as
    `open_blob_store` does."""
    key = await asyncio.to_thread(files_key_of, store)
    if blobs is None:
        return DiskBlobs(folder_of(store), clock, RESERVE, key)
    return await bucket_of(store, blobs, clock=clock, key=key)


async def bucket_of(
    store: Path, blobs: BlobSettings, *, clock: Clock, key: bytes | None
) -> S3Blobs:
    """Return the files of a bucket, whatever else uses them. Raises ConfigError."""
    place = await place_of(blobs)

    from bridge.store.s3.blobs import S3Blobs

    return S3Blobs(place, folder_of(store), clock, key=key)


async def place_of(blobs: BlobSettings) -> S3Place:
    """Return the bucket with its keys.

    Raises:
        ConfigError: the extra `s3` is not installed, or a key is missing.
    """
    if not has_module("obstore"):
        raise ConfigError(f"store.blobs needs the package obstore: {how_to_install('s3')}")
    bucket, prefix = split_url(blobs.url)
    secrets = {name: await SecretReader(None).secret(ref) for name, ref in blobs.refs().items()}
    keys = None
    if "access_key_id" in secrets:
        keys = S3Keys(
            secrets["access_key_id"], secrets["secret_access_key"], secrets.get("session_token")
        )
    return S3Place(bucket, prefix, blobs.endpoint or _endpoint_of_environment(), blobs.region, keys)


def _endpoint_of_environment() -> str | None:
    """The address in the standard variables: that of S3, or that of all services."""
    named = (os.environ.get(name) for name in ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"))
    return next((address.rstrip("/") for address in named if address), None)


def files_left_in(store: Path) -> int:
    """Return the number of files in the folder beside a store."""
    with suppress(FileNotFoundError):
        return sum(1 for _ in folder_of(store).glob("??/*"))
    return 0
