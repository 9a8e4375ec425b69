"""Copies an SQLite store into a PostgreSQL database, also while a bridge uses it, and brings over
later what has changed.

The table `copied` of the target has a SHA-256 digest of each piece that is there. A piece is
committed together with its digest, so that a copy that was killed continues where it was. Pieces
that changed are all removed before others are copied: until then a row of one may have the unique
value that another piece's row has now.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain
from pathlib import Path

from bridge.errors import StoreError
from bridge.store import chain as hash_chain
from bridge.store import faults, search
from bridge.store import schema as sqlite_schema
from bridge.store.lock import StoreLock
from bridge.store.place import must_not_be_gone, standing
from bridge.store.postgresql import copied_pieces, lease, schema
from bridge.store.postgresql.address import Address, connect
from bridge.store.postgresql.connection import PostgresConnection, escaped
from bridge.store.postgresql.copied_pieces import Piece
from bridge.store.postgresql.copied_rows import END, HEADER, tables_of
from bridge.store.postgresql.faults import translated

_BLOCK = 256 * 1024  # bytes that are sent at once
_MOST_NAMED = 5  # pieces that an error names
_SEQUENCES = """
SELECT c.relname, a.attname FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid
WHERE a.attidentity <> '' AND c.relnamespace = current_schema()::regnamespace
"""


@dataclass(frozen=True)
class Progress:
    """How many pieces are copied or verified, of both together."""

    done: int
    total: int


@dataclass(frozen=True)
class CopyReport:
    """`rows` by table, all of them equal in both stores; `copied`: how many pieces were not there
    yet; `in_use`: whether a bridge may go on writing the source."""

    rows: Mapping[str, int]
    pieces: int
    copied: int
    in_use: bool


@dataclass
class _Content:
    """What a piece has in the source."""

    digest: bytes = b""
    rows: int = 0


def copy_store(
    path: Path, address: Address, on_progress: Callable[[Progress], None] = lambda _: None
) -> CopyReport:
    """Make the target equal to the source as it is now, and verify it. A source that nobody uses
    is held until the end.

    Raises:
        SchemaTooNew: one of the stores is of a newer version of the bridge.
        StoreError: the source cannot be read or is of an older version, the target cannot be
            written or was used by a bridge, or the two differ at the end.
        ConfigError: the address cannot be parsed.
    """
    with faults.translated(path), translated(str(address)), ExitStack() as undo:
        source, in_use = _opened(path, undo)
        db = undo.enter_context(closing(connect(address)))
        schema.migrate(db, str(address))
        copied_pieces.begin(db, str(address))
        held = undo.enter_context(closing(lease.Lease(address, db)))
        copy = _Copy(source, db, str(address), held, on_progress)
        copy.run()
        if not in_use:
            copy.end()
        return CopyReport(copy.rows(), copy.pieces, copy.copied, in_use)


def _opened(path: Path, undo: ExitStack) -> tuple[sqlite3.Connection, bool]:
    """Open the source as it is at this moment; tells also whether another process uses it."""
    if standing(path) != "store":
        must_not_be_gone(path)
        raise StoreError(f"There is no store {str(path)!r}; name its file with --store")
    try:
        undo.enter_context(closing(StoreLock(path)))
        in_use = False
    except (StoreError, OSError):  # a disk that is read-only here may be another's
        in_use = True
    source = undo.enter_context(closing(sqlite_schema.open_to_read(path)))
    if not (search.is_current(source) and hash_chain.is_current(source)):
        raise StoreError(f"The store {str(path)!r} is of an older version: uacs-bridge db migrate")
    source.create_function(
        "escaped", 1, lambda text: escaped(text) if isinstance(text, str) else text
    )
    source.execute("BEGIN")
    return source, in_use


class _Copy:
    """One run, for one epoch of the target's lease."""

    def __init__(
        self,
        source: sqlite3.Connection,
        db: PostgresConnection,
        name: str,
        held: lease.Lease,
        on_progress: Callable[[Progress], None],
    ) -> None:
        self._source = source
        self._db = db
        self._name = name
        self._held = held
        self._on_progress = on_progress
        self._number = 0
        self._done = 0
        tables = tables_of(source, db)
        self._tables = {table.name: table for table in tables}
        self._pieces = {table.name: table.pieces(source) for table in tables}
        self._contents: dict[Piece, _Content] = {}
        self._changed: set[str] = set()
        self.pieces = sum(map(len, self._pieces.values()))
        self.copied = 0

    def run(self) -> None:
        """Copy and verify.

        Raises:
            StoreError: the target is not like the source.
        """
        with self._transaction():
            copied_pieces.note_epoch(self._db, self._held.epoch)
        self._remove_changed()
        there = copied_pieces.digests(self._db)
        for piece in chain.from_iterable(self._pieces.values()):
            if piece not in there:
                self._copy(piece)
        self._set_sequences()
        if self._changed:
            self._db.control(f"VACUUM (ANALYZE) {', '.join(sorted(self._changed))}")
        self._verify()

    def end(self) -> None:
        """Leave a store like any other."""
        with self._transaction():
            copied_pieces.drop(self._db)

    def rows(self) -> Mapping[str, int]:
        """The number of rows of each table."""
        rows = dict.fromkeys(self._tables, 0)
        for piece, content in self._contents.items():
            rows[piece.table] += content.rows
        return rows

    # --- copying ------------------------------------------------------------------------------

    def _remove_changed(self) -> None:
        """Remove from the target what is not in the source any more, or is different there."""
        digests = copied_pieces.digests(self._db)
        for name, pieces in reversed(self._pieces.items()):
            there = {piece for piece in digests if piece.table == name}
            same = {piece for piece in pieces if piece in there and self._is_same(piece, digests)}
            for piece in sorted(there - same, key=str):
                self._remove(piece)

    def _is_same(self, piece: Piece, digests: Mapping[Piece, bytes]) -> bool:
        for _ in self._blocks(piece):
            pass
        if self._contents[piece].digest != digests[piece]:
            return False
        self._step()
        return True

    def _remove(self, piece: Piece) -> None:
        with self._transaction():
            for removed in (*self._referring(piece), piece):
                self._db.control(self._tables[removed.table].delete(removed))
                copied_pieces.forget(self._db, removed)
                self._changed.add(removed.table)

    def _referring(self, piece: Piece) -> Iterable[Piece]:
        """What goes with a piece, because it refers to its rows."""
        match piece.table:
            case "message_rows":
                return [Piece("words", piece.first, piece.width)]
            case "approvals":
                there = copied_pieces.digests(self._db)
                return [piece for piece in there if piece.table == "approval_decisions"]
            case _:
                return []

    def _copy(self, piece: Piece) -> None:
        blocks = self._blocks(piece)
        first = next(blocks)
        if self._contents[piece].rows:
            table = self._tables[piece.table]
            statement = f"COPY {table.target} FROM STDIN (FORMAT binary)".encode()
            with self._transaction():
                with self._db.native.cursor() as cursor, cursor.copy(statement) as copy:
                    for block in chain((first,), blocks):
                        copy.write(block)
                copied_pieces.note(self._db, piece, self._contents[piece].digest)
            self._changed.add(piece.table)
            self.copied += 1
        self._step()

    def _blocks(self, piece: Piece) -> Iterator[bytes]:
        """The content of a piece as COPY takes it, of which the digest and the number of rows are
        noted; the first block of a piece with rows has one."""
        content = self._contents[piece] = _Content()
        digest = sha256()
        block = bytearray(HEADER)
        for row in self._tables[piece.table].rows(self._source, piece):
            block += row
            content.rows += 1
            if len(block) >= _BLOCK:
                digest.update(block)
                yield bytes(block)
                block.clear()
        block += END
        digest.update(block)
        content.digest = digest.digest()
        yield bytes(block)

    def _set_sequences(self) -> None:
        """New rows get numbers behind those that were copied."""
        for table, column in list(self._db.rows(_SEQUENCES)):
            query = (
                f"SELECT setval(pg_get_serial_sequence('{table}', '{column}'), "  # noqa: S608 - names from the schema
                f'coalesce(max("{column}"), 1), max("{column}") IS NOT NULL) FROM "{table}"'
            )
            list(self._db.rows(query))

    # --- verification -------------------------------------------------------------------------

    def _verify(self) -> None:
        different = [piece for piece in self._contents if not self._is_equal(piece)]
        for piece in different:
            self._remove(piece)
        if different:
            names = ", ".join(map(str, different[:_MOST_NAMED]))
            raise StoreError(
                f"The store {self._name!r} differs from its source in {len(different)} pieces "
                f"({names}), which were removed from it; run the copy again"
            )
        for table, rows in self.rows().items():
            condition = Piece(table).condition("")
            query = f'SELECT count(*) FROM "{table}" WHERE {condition}'  # noqa: S608 - names from the schema
            ((found,),) = self._db.rows(query)
            if found != rows:
                raise StoreError(
                    f"The store {self._name!r} has {found:,} rows in {table}, its source {rows:,}; "
                    "drop its database, create it anew and copy again"
                )

    def _is_equal(self, piece: Piece) -> bool:
        """Whether the target's rows have the digest of the source's."""
        query = self._tables[piece.table].select(piece)
        digest = sha256()
        statement = f"COPY ({query}) TO STDOUT (FORMAT binary)".encode()
        with self._db.native.cursor() as cursor, cursor.copy(statement) as copy:
            for block in copy:
                digest.update(block)
        self._step()
        return digest.digest() == self._contents[piece].digest

    # --- steps --------------------------------------------------------------------------------

    @contextmanager
    def _transaction(self) -> Generator[None]:
        """It fails when another process has taken over the target."""
        self._number += 1
        with self._db.native.transaction():
            self._held.guard(self._db, self._number)
            yield

    def _step(self) -> None:
        total = 2 * self.pieces
        self._done = min(self._done + 1, total)  # what others refer to may be copied once more
        self._on_progress(Progress(self._done, total))
