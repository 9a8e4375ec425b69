"""Compares the files that a store names with those in its folder: each is there, and whole."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Mapping
from hashlib import sha256
from pathlib import Path

from bridge.errors import FileDamaged, StoreError
from bridge.model.blob_ids import sha256_of
from bridge.model.check_records import CheckedPart, UnnamedFiles
from bridge.store.blobs import open_stored, stored_files
from bridge.store.file_use import files_named, ids_in
from bridge.store.queries import read_queries

SQL = read_queries("checks")
_PIECE = 1024 * 1024
_MOST_LISTED = 100
_LOST = "copy it from a backup of the folder of files; without one, the message stays without it"
_DAMAGED = "put it back from a backup of the folder of files, or remove it"


def check_files(
    db: sqlite3.Connection,
    part: CheckedPart,
    folder: Path,
    key: bytes | None,
    named: Collection[str],
    named_now: Callable[[], Collection[str]],
) -> UnnamedFiles:
    """Read each file that the store names. Returns the files that it does not name.

    `named` are the names in the snapshot. What was removed since is asked of `named_now`.
    """
    wrong: dict[str, tuple[str, str]] = {}
    for file_id in sorted(named):
        part.examined += 1
        if fault := _fault(folder, key, file_id):
            wrong[file_id] = fault
    if wrong:
        still = set(named_now())
        wrong = {file_id: fault for file_id, fault in wrong.items() if file_id in still}
        messages = _messages_naming(db, wrong)
        for file_id, (what, todo) in wrong.items():
            part.add(f"file {file_id}", what + _named_by(messages.get(file_id, [])), todo)
    return _unnamed(folder, named)


def _fault(folder: Path, key: bytes | None, file_id: str) -> tuple[str, str] | None:
    try:
        file = open_stored(folder, key, file_id)
        if file is None:
            return "it is not in the folder", _LOST
        with file:
            digest = sha256()
            while piece := file.read(_PIECE):
                digest.update(piece)
    except (FileDamaged, StoreError, OSError) as error:
        return f"it cannot be read ({error})", _DAMAGED
    if digest.hexdigest() != sha256_of(file_id):
        return "its bytes are not those that were kept", _DAMAGED
    return None


def _messages_naming(
    db: sqlite3.Connection, files: Mapping[str, tuple[str, str]]
) -> dict[str, list[str]]:
    """The messages that name each of these files, in one reading of all messages."""
    found: dict[str, list[str]] = {}
    if not files:
        return found
    for message, body in db.execute(SQL["bodies"]):
        for file_id in set(ids_in(body)) & files.keys():
            found.setdefault(file_id, []).append(message)
    return found


def _named_by(messages: list[str]) -> str:
    if not messages:
        return ""
    more = f" and {len(messages) - 1} more" if len(messages) > 1 else ""
    return f"; message {messages[0]}{more} has it"


def _unnamed(folder: Path, named: Collection[str]) -> UnnamedFiles:
    sizes = {file_id: size for file_id, size in stored_files(folder) if file_id not in named}
    listed = tuple(sorted(sizes)[:_MOST_LISTED])
    return UnnamedFiles(len(sizes), sum(sizes.values()), listed)


def names_in(db: sqlite3.Connection) -> frozenset[str]:
    """The files that the store names, in the present transaction."""
    return files_named(db)
