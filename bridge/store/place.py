"""Examines a store's path and the files beside it before anything is changed."""

from __future__ import annotations

import os
import re
import sqlite3
import stat
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Literal

from bridge.errors import StoreError, StoreGone
from bridge.store.faults import corrupt
from bridge.store.vault import is_encrypted, is_open_here

APPLICATION_ID = 0x55414353  # "UACS": says that an SQLite file is a store of ours
_MAGIC = b"SQLite format 3\0"  # sqlite.org/fileformat2.html, section 1.3
_APPLICATION_ID_AT = 68
_HEADER = 100
_KEY_TEXT = re.compile(rb"[A-Za-z0-9_-]{43}=\n")  # 32 bytes in URL-safe base64
_KEY_FILE = 45  # bytes
Standing = Literal["nothing", "empty", "store"]
Identity = tuple[int, int]


def make_folder(folder: Path) -> None:
    """Create a folder and its missing parents, each accessible to its owner alone."""
    missing: list[Path] = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for directory in reversed(missing):
        directory.mkdir(mode=0o700, exist_ok=True)


def sync_folder(folder: Path) -> None:
    """Wait until the names of the folder's files are on the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def begin(path: Path) -> None:
    """Create the folder and an empty file for a new store.

    Raises:
        StoreError: the path holds something else.
        StoreGone: there was a store at this path.
    """
    if standing(path) == "nothing":
        must_not_be_gone(path)
        make_folder(path.parent)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))


def standing(path: Path, use: Literal["store", "backup"] = "store") -> Standing:
    """Examine the path of a store; reads nothing but the file's first bytes.

    Raises:
        StoreError: the file is no store and cannot become one.
        StoreCorrupt: the first bytes of a store are damaged.
    """
    _check_names(path)
    status = _stat(path)
    if status is None:
        return "nothing"
    if stat.S_ISDIR(status.st_mode):
        example = path / "bridge.sqlite3"
        raise StoreError(f"{str(path)!r} is a folder; name a file in it, such as {str(example)!r}")
    if not stat.S_ISREG(status.st_mode):
        raise StoreError(f"{str(path)!r} is no plain file; name one")
    if status.st_size == 0:
        return "empty"
    if is_open_here(path):
        return "store"
    _check_header(path, use)
    return "store"


def must_not_be_gone(path: Path) -> None:
    """Raise StoreGone when the file is missing but other files of a store are beside it."""
    if left := traces(path):
        names = ", ".join(repr(file.name) for file in left)
        raise StoreGone(
            f"The store {str(path)!r} is gone, but {names} of it are still in its folder. Put the "
            "file back, or restore a backup: uacs-bridge db restore BACKUP. To begin with an empty "
            "store: uacs-bridge db new"
        )


def traces(path: Path) -> Sequence[Path]:
    """Return the files which show that a store exists, or existed, at this path."""
    key = path.with_suffix(".key")
    return [*_left_by_use(path), *([key] if is_key(key) else [])]


def is_key(path: Path) -> bool:
    """Tell whether a file is a key that the bridge wrote; other programs use the same name, as for
    the key of a certificate (server.pem and server.key)."""
    if _size(path) != _KEY_FILE:
        return False
    try:
        return bool(_KEY_TEXT.fullmatch(path.read_bytes()))
    except OSError:
        return True  # nobody can say that it is none


def _left_by_use(path: Path) -> list[Path]:
    """The existing files that a store leaves beside it once it was opened, except its key."""
    lock = path.with_name(f"{path.name}.lock")
    log = path.with_name(f"{path.name}-wal")
    blobs = path.with_suffix(".blobs")
    return [*(file for file in (lock, log) if _size(file)), *([blobs] if blobs.is_dir() else [])]


def identity(path: Path | str) -> Identity | None:
    """Return which file this is: another file at the same path differs. None when there is none."""
    status = _stat(path)
    return None if status is None else (status.st_dev, status.st_ino)


def check_same(path: str, expected: Identity) -> None:
    """Raise StoreGone unless the path still holds this file; called before each COMMIT."""
    if identity(path) != expected:
        change = "removed" if _stat(path) is None else "replaced by another"
        raise StoreGone(
            f"The file of the store {path!r} was {change} while the bridge runs: nothing is "
            "kept any more. Put the file back, or stop the bridge and restore a backup: "
            "uacs-bridge db restore BACKUP"
        )


# --- looks --------------------------------------------------------------------------------------


def _check_names(path: Path) -> None:
    """Raises StoreError for a path that cannot hold a file, in words."""
    for suffix in (".key", ".blobs"):
        if path.suffix == suffix:
            raise StoreError(
                f"store.path {str(path)!r} is the name of what stands beside the store; end it in "
                ".sqlite3"
            )
    for above in reversed(path.parents):
        if (status := _stat(above)) is not None and not stat.S_ISDIR(status.st_mode):
            raise StoreError(
                f"The store {str(path)!r} cannot be there: {str(above)!r} is a file, not a folder; "
                "change store.path"
            )


def _stat(path: Path | str) -> os.stat_result | None:
    try:
        return os.stat(path)  # noqa: PTH116  # Path.stat takes three times as long
    except (FileNotFoundError, NotADirectoryError):
        return None
    except PermissionError as error:
        raise StoreError(
            f"{str(path)!r} cannot be looked at: permission denied; give the bridge's user its "
            "folder, or change store.path"
        ) from error


def _size(path: Path) -> int:
    status = _stat(path)
    return 0 if status is None else status.st_size


def _check_header(path: Path, use: str) -> None:
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER)
    except PermissionError as error:
        raise StoreError(
            f"{str(path)!r} cannot be read: permission denied; start as its owner, or change "
            "store.path"
        ) from error
    tables: int | None = None
    if is_encrypted(path):
        return
    if header.startswith(_MAGIC):
        here = header[_APPLICATION_ID_AT : _APPLICATION_ID_AT + 4]
        if int.from_bytes(here, "big") == APPLICATION_ID:
            return
        tables = _tables(path)
    if tables == 0:
        return  # a store that was not begun: a crash came before its first table
    if tables is None and _left_by_use(path):
        raise corrupt(path, "it does not begin as a store does")
    found = "an SQLite file" if tables else "a file"
    todo = (
        "Name a backup"
        if use == "backup"
        else "Change store.path. If a store stood there, move this file away first"
    )
    raise StoreError(
        f"{str(path)!r} is {found} of another program, and no {use} of the bridge; it was not "
        f"touched. {todo}"
    )


def _tables(path: Path) -> int | None:
    """The number of tables; None if the file is unreadable. Unlike an ordinary read, this creates
    no file beside it."""
    address = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(address, uri=True)) as db:
            return db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    except sqlite3.Error:
        return None
