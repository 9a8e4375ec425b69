"""Rows of an SQLite store, in pieces, as PostgreSQL's binary COPY takes and gives them (its manual,
"COPY", "Binary Format").

A table with a number in its key is divided by ranges of numbers, so that a store that grows changes
its last pieces only; other tables are one piece each.
"""

from __future__ import annotations

import json
import sqlite3
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from bridge.errors import StoreCorrupt, StoreError
from bridge.store import search, tables
from bridge.store.packing import unpack
from bridge.store.postgresql.connection import PostgresConnection, escaped
from bridge.store.postgresql.copied_pieces import NAME, Piece
from bridge.store.postgresql.schema import OWN_TABLES
from bridge.store.postgresql.search import as_binary

HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
END = b"\xff\xff"
_WIDTH = 4096  # numbers in the range of a piece
_FEW = 16  # the same for conversations, which have many rows each
_WIDTHS = {"timeline": _FEW, "channel": _FEW}
_BY_MESSAGE = ("entries", "chain")  # their keys begin with the conversation
_LAST = ("approval_decisions", "tenant_secrets")  # refer to rows of other tables
_NO_TABLES = (*OWN_TABLES, "words", NAME)
_COLUMNS = """
SELECT c.relname, a.attname, format_type(a.atttypid, NULL),
  array_position(string_to_array(CAST(i.indkey AS text), ' '), CAST(a.attnum AS text))
FROM pg_class AS c
JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN pg_index AS i ON i.indrelid = c.oid AND i.indisprimary
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
ORDER BY c.relname, a.attnum
"""
# Columns that SQLite stores in another way.
_SOURCES = {
    ("message_rows", "id"): "coalesce(id, (SELECT place.key FROM channels AS place "
    "WHERE place.n = channel) || ':' || native_id)",
    ("meta", "number"): "NULL",
}
_PACKED = {("message_rows", "body"), ("message_rows", "reactions"), ("version_rows", "body")}
_MESSAGES = """
SELECT m.n, m.moment, m.body, author.body, m.root, m.audience, m.state
FROM message_rows AS m JOIN authors AS author ON author.n = m.author
WHERE m.n >= ? AND m.n < ? AND m.state <> 'streaming' ORDER BY m.n
"""
_CONVERSATIONS = """
SELECT e.message, t.id FROM entries AS e JOIN timelines AS t ON t.n = e.timeline
WHERE e.message >= ? AND e.message < ? ORDER BY e.message, t.n
"""
_NULL = struct.pack("!i", -1)
_INTEGER, _FLOAT, _LENGTH, _COUNT = map(struct.Struct, ("!iq", "!id", "!i", "!h"))


def tables_of(source: sqlite3.Connection, db: PostgresConnection) -> Sequence[Table | Words]:
    """Return all tables in an order in which each refers to earlier ones only.

    Raises:
        StoreError: the two stores have not the same columns.
    """
    types: dict[str, dict[str, str]] = {}
    keys: dict[str, list[tuple[int, str]]] = {}
    for table, column, kind, place in db.rows(_COLUMNS):
        if table in _NO_TABLES:
            continue
        types.setdefault(table, {})[column] = kind
        if place is not None:
            keys.setdefault(table, []).append((place, column))
    _check_same(tables.columns_by_table(source), types)
    found = [
        Table(name, columns, [column for _, column in sorted(keys[name])])
        for name, columns in types.items()
    ]
    found.sort(key=lambda table: table.name in _LAST)
    return [*found, Words()]


def _check_same(ours: Mapping[str, Sequence[str]], theirs: Mapping[str, Iterable[str]]) -> None:
    for table in ours.keys() | theirs.keys():
        if table != "meta" and set(ours.get(table, ())) != set(theirs.get(table, ())):
            raise StoreError(
                f"The table {table!r} has other columns in SQLite than in PostgreSQL; bring both "
                "stores to this version: uacs-bridge db migrate"
            )


class Table:
    """A table with the same rows in both engines. `target`: with its columns, in the order of the
    rows' values."""

    def __init__(self, name: str, types: Mapping[str, str], key: Sequence[str]) -> None:
        self.name = name
        first = "message" if name in _BY_MESSAGE else key[0]
        self._by = first if types[first] == "bigint" else ""
        self._width = _WIDTHS.get(first, _WIDTH) if self._by else 0
        self._types = types
        self._encode = _encoder(name, types)
        order = [self._by, *(column for column in key if column != self._by)] if self._by else key
        self._order = [column for column in order if column]
        self.target = f"{name} ({', '.join(map(_quoted, types))})"

    def pieces(self, source: sqlite3.Connection) -> Sequence[Piece]:
        """Return all pieces that have rows in the source, and perhaps some without."""
        if not self._by:
            return [Piece(self.name)]
        query = f'SELECT min("{self._by}"), max("{self._by}") FROM "{self.name}"'  # noqa: S608 - names from the schema
        first, last = source.execute(query).fetchone()
        if first is None:
            return []
        begin = first // self._width * self._width
        return [Piece(self.name, at, self._width) for at in range(begin, last + 1, self._width)]

    def rows(self, source: sqlite3.Connection, piece: Piece) -> Iterator[bytes]:
        """Yield the rows of a piece in the order of their keys.

        Raises:
            StoreCorrupt: a row cannot be read.
        """
        columns = ", ".join(
            _SOURCES.get((self.name, column), _quoted(column)) for column in self._types
        )
        order = ", ".join(
            # Byte by byte, as they are written.
            f"escaped({_quoted(column)})" if self._types[column] == "text" else _quoted(column)
            for column in self._order
        )
        query = (
            f'SELECT {columns} FROM "{self.name}" WHERE {piece.condition(self._by)} '  # noqa: S608 - names from the schema
            f"ORDER BY {order}"
        )
        for values in source.execute(query):
            yield self._encode(values)

    def select(self, piece: Piece) -> str:
        """Return PostgreSQL's query for the rows of a piece, in the same order."""
        return (
            f'SELECT {", ".join(map(_quoted, self._types))} FROM "{self.name}" '  # noqa: S608 - names from the schema
            f"WHERE {piece.condition(self._by)} ORDER BY {', '.join(map(_quoted, self._order))}"
        )

    def delete(self, piece: Piece) -> str:
        """Return PostgreSQL's statement that deletes the rows of a piece."""
        return f'DELETE FROM "{self.name}" WHERE {piece.condition(self._by)}'  # noqa: S608 - names from the schema


class Words:
    """The search index, which is made from the messages: each engine has its own kind. Its pieces
    are those of the messages, and the methods those of `Table`."""

    name = "words"
    target = "words (moment, document)"

    def pieces(self, source: sqlite3.Connection) -> Sequence[Piece]:
        messages = Table("message_rows", {"n": "bigint"}, ["n"])
        return [Piece(self.name, of.first, of.width) for of in messages.pieces(source)]

    def rows(self, source: sqlite3.Connection, piece: Piece) -> Iterator[bytes]:
        span = (piece.first, piece.first + piece.width)
        conversations: dict[int, list[str]] = {}
        for number, own_id in source.execute(_CONVERSATIONS, span):
            conversations.setdefault(number, []).append(own_id)
        for number, moment, body, author, root, audience, state in source.execute(_MESSAGES, span):
            with _readable(self.name):
                readers = None if audience is None else json.loads(audience)
                own = conversations.get(number, ())
                found = search.document(unpack(_bytes(body)), author, root, readers, state, own)
                document = as_binary(*found)
                yield b"".join(
                    (_COUNT.pack(2), _integer(moment), _LENGTH.pack(len(document)), document)
                )

    def select(self, piece: Piece) -> str:
        return (
            "SELECT w.moment, w.document FROM message_rows AS m "  # noqa: S608 - our own words
            f"JOIN words AS w ON w.moment = m.moment WHERE {piece.condition('n')} ORDER BY m.n"
        )

    def delete(self, piece: Piece) -> str:
        return (
            "DELETE FROM words WHERE moment IN "  # noqa: S608 - our own words
            f"(SELECT moment FROM message_rows WHERE {piece.condition('n')})"
        )


# --- values -----------------------------------------------------------------------------------


class _readable:  # noqa: N801 - used as a context
    """Raises StoreCorrupt for values that are none of their column."""

    def __init__(self, table: str) -> None:
        self._table = table

    def __enter__(self) -> None: ...

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, (zlib.error, struct.error, ValueError, TypeError, AttributeError)):
            raise StoreCorrupt(
                f"A row of the table {self._table!r} of the source cannot be read ({error}); "
                "restore a backup: uacs-bridge db restore BACKUP"
            ) from error


def _encoder(table: str, types: Mapping[str, str]) -> Callable[[Sequence[Any]], bytes]:
    """What makes a row of the values of its columns."""
    by_type = {
        "bigint": _integer, "double precision": _float, "text": _text, "bytea": _blob,
    }  # fmt: skip
    encoders = [
        _unpacked(by_type[kind]) if (table, column) in _PACKED else by_type[kind]
        for column, kind in types.items()
    ]
    count = _COUNT.pack(len(encoders))
    readable = _readable(table)

    def encode(values: Sequence[Any]) -> bytes:
        pieces = [count]
        with readable:
            pieces += [
                _NULL if value is None else of(value)
                for of, value in zip(encoders, values, strict=True)
            ]
        return b"".join(pieces)

    return encode


def _integer(value: int) -> bytes:
    return _INTEGER.pack(8, value)


def _float(value: float) -> bytes:
    return _FLOAT.pack(8, value)


def _text(value: str | bytes) -> bytes:
    text = value.decode() if isinstance(value, bytes) else value
    data = escaped(text).encode()
    return _LENGTH.pack(len(data)) + data


def _blob(value: str | bytes) -> bytes:
    data = _bytes(value)
    return _LENGTH.pack(len(data)) + data


def _unpacked(of: Callable[[Any], bytes]) -> Callable[[Any], bytes]:
    return lambda value: of(unpack(_bytes(value)))


def _bytes(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else value


def _quoted(column: str) -> str:
    return f'"{column}"'
