"""Examines a store part by part, from one snapshot, so that it may be in use."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

from bridge.errors import StoreError
from bridge.model.check_records import CheckedPart, StoreCheck
from bridge.store import chain, engine, schema
from bridge.store.checks.rows import (
    RESTORE,
    check_database,
    check_index,
    check_references,
    check_timelines,
    check_values,
)
from bridge.store.checks.secrets import check_sealed
from bridge.store.checks.stored_files import check_files, names_in
from bridge.store.faults import translated
from bridge.store.file_use import files_named
from bridge.store.place import must_not_be_gone, standing
from bridge.store.seal import Seal
from bridge.store.vault import data_key_of

# What reading a value raises that the bridge has not written.
_UNREADABLE = (ValueError, TypeError, LookupError, zlib.error)


def check_store(
    path: Path,
    *,
    seal: Seal,
    files: Path | None,
    progress: Callable[[str], None] = lambda _: None,
) -> StoreCheck:
    """Examine a store or a backup of one; nothing is changed.

    Args:
        path: the database, which may be in use.
        seal: with the key of its sealed values, if it is known.
        files: the folder of its files; None: they are not examined.
        progress: called with the name of each part before it begins.

    Raises:
        StoreError: there is no store, it cannot be opened, or it has another version's schema.
    """
    with translated(path):
        if standing(path, "backup") == "nothing":
            must_not_be_gone(path)
            raise StoreError(f"There is no store {str(path)!r}; check the path")
        key = data_key_of(path)
        with closing(schema.open_to_read(path)) as db:
            report = StoreCheck(str(path), schema.version_of(db), key is not None)
            examination = _Examination(db, report, progress)
            db.execute("BEGIN")  # one snapshot for all
            examination.rows(seal)
            named = frozenset[str]()
            if files is not None:
                named = examination.names()
            with suppress(*engine.errors()):  # a damaged database has ended the snapshot
                db.execute("COMMIT")
            if files is not None:
                file_key = None if key is None else key.files
                examination.files(files, file_key, named, lambda: _files_in_use(path))
    return report


def _files_in_use(path: Path) -> frozenset[str]:
    """Read behind the list of files: what was stored meanwhile is in neither."""
    with closing(schema.open_to_read(path)) as db:
        return files_named(db)


class _Examination:
    """Examines the parts one after the other; one that cannot be read to its end is a fault."""

    def __init__(
        self, db: sqlite3.Connection, report: StoreCheck, progress: Callable[[str], None]
    ) -> None:
        self._db = db
        self._report = report
        self._progress = progress

    def rows(self, seal: Seal) -> None:
        """Everything in the database."""
        db = self._db
        self._part("database", lambda part: check_database(db, part))
        self._part("references", lambda part: check_references(db, part))
        self._part("values", lambda part: check_values(db, part))
        self._part("conversations", lambda part: check_timelines(db, part))
        self._part("search index", lambda part: check_index(db, part))
        self._part("hash chain", self._chain)
        self._part("sealed values", lambda part: check_sealed(db, part, seal))

    def names(self) -> frozenset[str]:
        """The files that the store names; none where it cannot be read."""
        self._progress("names of files")
        try:
            return names_in(self._db)
        except engine.errors():
            return frozenset()  # the database is damaged, and the report says so

    def files(
        self, folder: Path, key: bytes | None, named: frozenset[str],
        named_now: Callable[[], frozenset[str]],
    ) -> None:  # fmt: skip
        """The files in the folder."""

        def compare(part: CheckedPart) -> None:
            if not named and not folder.is_dir():
                return
            self._report.unnamed = check_files(self._db, part, folder, key, named, named_now)

        self._part("files", compare)

    def _chain(self, part: CheckedPart) -> None:
        found = chain.verify(self._db, {})
        part.examined = found.links
        for fault in found.faults:
            message = f", message {fault.message}" if fault.message else ""
            value = f"conversation {fault.conversation}, link {fault.link}{message}"
            part.add(value, fault.what, "uacs-bridge archive verify has all; restore a backup")
        part.fault_count = found.fault_count

    def _part(self, name: str, check: Callable[[CheckedPart], None]) -> None:
        part = CheckedPart(name)
        self._report.parts.append(part)
        self._progress(name)
        try:
            check(part)
        except (*engine.errors(), *_UNREADABLE, StoreError) as error:
            part.add(name, f"it cannot be read to its end ({error})", RESTORE)
