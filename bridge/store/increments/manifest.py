"""What one backup in a folder consists of: which block of which pack stands where.

`000007.pack` holds the blocks that backup 7 was the first to need, `000007.manifest` names all of
its blocks, also those in earlier packs, and its files, which are in `files/`. A backup is there
once its manifest is.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bridge.errors import StoreError
from bridge.store.place import sync_folder

BLOCK = 16_384  # bytes
FILES = "files"
_VERSION = 1
_NAME = re.compile(r"(\d{6})\.manifest")


@dataclass(frozen=True)
class Stream:
    """One file of the store.

    - `sha256`: of all its bytes.
    - `digests`: of its blocks, the last of which may be shorter; `packs` and `places`: the number
      of the pack in which each is, and its first byte there.
    """

    size: int
    sha256: str
    digests: Sequence[str]
    packs: Sequence[int]
    places: Sequence[int]


@dataclass(frozen=True)
class Manifest:
    """One backup.

    - `number`: from 1, in the order of time; `time`: of its beginning, in seconds since 1970.
    - `database`, `log`: the store's file and its write-ahead log.
    - `files`: the digests of its stored files; `damaged`: of those that were not backed up, since
      their bytes are not those that were kept.
    - `vault`: of an encrypted store, in hexadecimal digits.
    - `written`: bytes that it added to the folder.
    """

    number: int
    time: float
    database: Stream
    log: Stream
    files: Sequence[str]
    damaged: Sequence[str]
    vault: str
    written: int


def pack_of(folder: Path, number: int) -> Path:
    """The path of the pack of this number."""
    return folder / f"{number:06}.pack"


def numbers_in(folder: Path) -> list[int]:
    """The numbers of the backups in the folder, in order."""
    if not folder.is_dir():
        return []
    found = (_NAME.fullmatch(file.name) for file in folder.iterdir())
    return sorted(int(match[1]) for match in found if match)


def manifests_in(folder: Path) -> list[Manifest]:
    """The backups in the folder, the oldest first. Raises StoreError."""
    return [read_manifest(folder, number) for number in numbers_in(folder)]


def read_manifest(folder: Path, number: int) -> Manifest:
    """Raises StoreError for a damaged one."""
    path = folder / f"{number:06}.manifest"
    try:
        fields: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
        version = fields.pop("version")
        if version == _VERSION:
            database, log = (Stream(**fields.pop(name)) for name in ("database", "log"))
            return Manifest(**fields, database=database, log=log)
    except (OSError, EOFError, ValueError, KeyError, TypeError, zlib.error) as error:
        raise StoreError(
            f"The manifest {str(path)!r} cannot be read ({error}); choose another backup with --at"
        ) from None
    raise StoreError(f"{str(path)!r} is of version {version!r}, which is not known here")


def write_manifest(folder: Path, manifest: Manifest) -> int:
    """Write a manifest in one step; from then on the backup is there. Returns its bytes."""
    contents = gzip.compress(json.dumps({"version": _VERSION, **asdict(manifest)}).encode(), 6)
    path = folder / f"{manifest.number:06}.manifest"
    part = path.with_name(f"{path.name}.part")
    part.unlink(missing_ok=True)
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(contents)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
    sync_folder(folder)
    return len(contents)
