"""`uacs-bridge db blobs copy`, and what other `db` commands do with files in a bucket."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bridge.app.cli.commands.options import config_option, json_option, settings_from
from bridge.errors import ConfigError

if TYPE_CHECKING:
    from bridge.app.settings.store import StoreSettings
    from bridge.store.copying import Copied
    from bridge.store.maintenance import Recrypt

_EVERY = 100  # files between two lines of progress
_SHOWN = 10  # ids of damaged files


@click.group("blobs")
def blobs() -> None:
    """Move the files of messages between the folder beside the store and a bucket."""


@blobs.command("copy")
@click.option(
    "--to", "target", type=click.Choice(["bucket", "folder"]), required=True,
    help="Where to: the bucket of `store.blobs`, or the folder beside the store.",
)  # fmt: skip
@click.option("--verify", is_flag=True, help="Read also the files that are there already.")
@config_option
@json_option
def copy(target: str, verify: bool, config: Path, as_json: bool) -> None:
    """Copy the files into the bucket, or back into the folder.

    Each file is compared with its SHA-256 on the way, and none is removed where it comes from. A
    call that was stopped is finished by the next one: files that are there are left out. To the
    bucket the bridge may run meanwhile: copy, stop the bridge, copy again, set `store.blobs`, start
    it. To the folder it must not run. Exits with 1 if a file is damaged.

    \b
    Examples:
      uacs-bridge db blobs copy --to bucket
      uacs-bridge db blobs copy --to folder --verify
    """
    from dataclasses import asdict

    from bridge.app.printing import bytes_text, print_json

    store = settings_from(config).store
    if store.blobs is None:
        raise ConfigError("There is no bucket: name it in store.blobs.url")
    done = asyncio.run(_copy(store, target, verify=verify, shown=_progress(as_json=as_json)))
    if as_json:
        print_json(asdict(done))
    else:
        click.echo(
            f"Copied: {done.copied:,} files, {bytes_text(done.size)}; "
            f"{done.there:,} were there already"
        )
        for file_id in done.damaged[:_SHOWN]:
            click.echo(f"Damaged, not copied: {file_id}")
    if done.damaged:
        raise SystemExit(1)


def _progress(*, as_json: bool) -> Callable[[Copied], None]:
    def shown(done: Copied) -> None:
        files = done.copied + done.there
        if not as_json and files % _EVERY == 0:
            click.echo(f"{files:,} files", err=True)

    return shown


async def _copy(
    store: StoreSettings, target: str, *, verify: bool, shown: Callable[[Copied], None]
) -> Copied:
    from contextlib import AsyncExitStack, closing

    from bridge.app.files.blob_store import open_blob_store, read_blob_store
    from bridge.runtime.clock import SystemClock
    from bridge.store.copying import copy_blobs
    from bridge.store.lock import StoreLock

    clock = SystemClock()
    async with AsyncExitStack() as stack:
        bucket = await read_blob_store(store.path, store.blobs, clock=clock)
        stack.push_async_callback(bucket.close)
        if target == "bucket":
            folder = await read_blob_store(store.path, None, clock=clock)
            stack.push_async_callback(folder.close)
            return await copy_blobs(folder, bucket, verify=verify, on_progress=shown)
        stack.enter_context(closing(await asyncio.to_thread(StoreLock, store.path)))
        folder = await open_blob_store(store.path, None, clock=clock)
        stack.push_async_callback(folder.close)
        return await copy_blobs(bucket, folder, verify=verify, on_progress=shown)


def recrypt_in_bucket(store: StoreSettings) -> Recrypt:
    """Return what encrypts or decrypts the files in the bucket, if there is one."""

    async def recrypt(key: bytes, encrypt: bool) -> int:
        from bridge.app.files.blob_store import bucket_of
        from bridge.runtime.clock import SystemClock

        if store.blobs is None:
            return 0
        files = await bucket_of(store.path, store.blobs, clock=SystemClock(), key=key)
        return await files.recrypt(encrypt=encrypt)

    return lambda key, encrypt: asyncio.run(recrypt(key, encrypt))


def files_text(store: StoreSettings) -> tuple[str, str]:
    """Return the number of the files in the bucket and their bytes, as text."""
    from bridge.app.files.blob_store import read_blob_store
    from bridge.app.printing import bytes_text
    from bridge.runtime.clock import SystemClock

    async def total() -> tuple[str, str]:
        files = await read_blob_store(store.path, store.blobs, clock=SystemClock())
        whole = await files.total()
        return f"{whole.files:,} files in the bucket", bytes_text(whole.size)

    return asyncio.run(total())
