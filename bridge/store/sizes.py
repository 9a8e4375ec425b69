"""Where the bytes of a store are: the file's own counts, and on request each table's."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from bridge.errors import StoreError
from bridge.store import engine
from bridge.store.faults import translated
from bridge.store.schema import open_to_read

_SUBJECTS = {
    "message_rows": "messages", "messages_by_moment": "messages", "messages_by_key": "messages",
    "authors": "messages", "entries": "messages", "timelines": "messages",
    "version_rows": "messages",
    "changes": "messages", "reaction_rows": "messages", "pins": "messages",
    "translations": "messages",
    "words": "search index", "chain": "hash chain",
    "payloads": "native payloads", "payload_blocks": "native payloads", "inbox": "native payloads",
    "operations": "deliveries", "links": "deliveries", "lanes": "deliveries",
    "turns": "agents", "approvals": "agents", "approval_decisions": "agents",
    "people": "people", "descriptions": "people", "display_names": "people",
    "person_names": "people",
}  # fmt: skip
_OTHER = "everything else"


@dataclass(frozen=True)
class DatabaseSize:
    """Bytes of the database, its free pages among them, of its write-ahead log, and what is left
    on its disk for this user."""

    database: int
    free: int
    log: int
    disk_left: int


@dataclass(frozen=True)
class StoreSize:
    """Bytes of the database, its free pages among them, of its write-ahead log, and of the stored
    files with their number."""

    database: int
    free: int
    log: int
    files: int
    file_count: int


def size_of(path: Path) -> StoreSize:
    """Return the sizes of a store, which may be in use. Reads no table. Raises StoreError."""
    own = database_size(path)
    return StoreSize(own.database, own.free, own.log, *files_size(path))


def database_size(path: Path) -> DatabaseSize:
    """Return the sizes of a store's database, which may be in use. Reads no table. Raises
    StoreError."""
    with translated(path), closing(open_to_read(path)) as db:
        page, pages, free = (
            int(db.execute(f"PRAGMA {name}").fetchone()[0])  # SQLCipher returns text
            for name in ("page_size", "page_count", "freelist_count")
        )
        log, disk = path.with_name(f"{path.name}-wal"), os.statvfs(path)
        return DatabaseSize(
            page * pages, page * free, log.stat().st_size if log.exists() else 0,
            disk.f_bavail * disk.f_frsize,
        )  # fmt: skip


def files_size(path: Path) -> tuple[int, int]:
    """Return the bytes of the stored files beside a store, and their number."""
    sizes = [file.stat().st_size for file in path.with_suffix(".blobs").glob("*/*")]
    return sum(sizes), len(sizes)


def sizes_by_subject(path: Path) -> Mapping[str, int]:
    """Return the bytes of each subject of a store, the largest first. Reads the whole file, which
    takes about 2 s per GB.

    Raises:
        StoreError: this build of SQLite cannot tell.
    """
    with translated(path), closing(open_to_read(path)) as db:
        try:
            pages = db.execute(
                "SELECT s.name, coalesce(m.tbl_name, s.name), s.pgsize FROM dbstat AS s"
                " LEFT JOIN sqlite_master AS m ON m.name = s.name WHERE s.aggregate = TRUE"
            ).fetchall()
        except engine.errors() as error:
            if "no such table" not in str(error):
                raise
            raise StoreError(
                "This build of SQLite has no table `dbstat`, which knows the sizes"
            ) from None
    sizes: dict[str, int] = {}
    for name, table, size in pages:
        subject = subject_of(name, table)
        sizes[subject] = sizes.get(subject, 0) + size
    return dict(sorted(sizes.items(), key=lambda item: -item[1]))


def subject_of(name: str, table: str) -> str:
    """Return the subject of a table or an index."""
    if name.startswith("words"):
        return _SUBJECTS["words"]
    return _SUBJECTS.get(name) or _SUBJECTS.get(table) or _OTHER
