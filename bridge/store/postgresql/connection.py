"""A connection to PostgreSQL that takes the statements of the store's units of work."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import psycopg
from psycopg import pq
from psycopg.abc import Buffer
from psycopg.adapt import Dumper, Loader
from psycopg.types.numeric import NumericBinaryLoader
from psycopg.types.string import StrDumperUnknown

from bridge.store.postgresql.dialect import statement_of

_INT8 = 20  # the server's number of the type bigint


_WRITER = "uacs-bridge writer "  # what the server shows of such a connection, before an id
_END = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE application_name = $1 AND datname = current_database()
"""

# The server refuses NUL in texts: it is written as two characters of the private use area.
_ESCAPE = "\ue0f0"
_NUL, _ITSELF = f"{_ESCAPE}\ue0f1", f"{_ESCAPE}\ue0f2"


def escaped(text: str) -> str:
    """Return a text as it is written, without NUL."""
    if _ESCAPE in text or "\0" in text:
        return text.replace(_ESCAPE, _ITSELF).replace("\0", _NUL)
    return text


class _Text(StrDumperUnknown):
    """Texts, whose type the statement tells."""

    def dump(self, obj: str) -> Buffer | None:
        return super().dump(escaped(obj))


class _LoadedText(Loader):
    """Texts, as they were before `escaped`."""

    format = pq.Format.BINARY

    def load(self, data: Buffer) -> str:
        text = str(data, "utf-8")
        return text.replace(_NUL, "\0").replace(_ITSELF, _ESCAPE) if _ESCAPE in text else text


class _Integer(Dumper):
    """Integers and booleans, always as bigint, so that a statement is prepared once."""

    format = pq.Format.BINARY
    oid = _INT8

    def dump(self, obj: int) -> Buffer | None:
        try:
            return struct.pack("!q", obj)
        except struct.error:
            raise OverflowError("Python int too large to convert to SQL bigint") from None


class _Number(Loader):
    """Sums, which the server calculates as numeric."""

    format = pq.Format.BINARY

    def load(self, data: Buffer) -> int | float:
        value = NumericBinaryLoader(0).load(data)
        return int(value) if value == int(value) else float(value)


class _Rows(psycopg.RawCursor[Any]):
    """The result of a statement; asking for it waits for the statements before, too."""

    @property
    def rowcount(self) -> int:
        if super().rowcount < 0:  # in a pipeline, until something is fetched
            try:
                self.fetchone()
            except psycopg.ProgrammingError:  # the statement returns no rows
                if super().rowcount < 0:
                    raise
        return super().rowcount


class PostgresConnection:
    """One connection; the caller controls transactions."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self.native = connection
        connection.autocommit = True
        connection.prepare_threshold = 0
        connection.prepared_max = None
        connection.adapters.register_dumper(str, _Text)
        connection.adapters.register_dumper(int, _Integer)
        connection.adapters.register_dumper(bool, _Integer)
        connection.adapters.register_loader("numeric", _Number)
        connection.adapters.register_loader("text", _LoadedText)

    def execute(self, sql: str, values: Sequence[Any] = (), /) -> _Rows:
        """Execute a statement of SQLite's dialect."""
        statement = statement_of(sql)
        return _Rows(self.native).execute(statement.text, statement.of(values), binary=True)  # pyright: ignore[reportArgumentType]  # our own text

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]], /) -> None:
        statement = statement_of(sql)
        for values in rows:
            psycopg.RawCursor(self.native).execute(statement.text, statement.of(values))  # pyright: ignore[reportArgumentType]

    def control(self, text: str) -> None:
        """Execute a statement of PostgreSQL's own dialect that returns nothing."""
        psycopg.RawCursor(self.native).execute(text, prepare=False)  # pyright: ignore[reportCallIssue, reportArgumentType]

    def sign(self, writer: str) -> None:
        """Show that this connection writes, and for whom: others end it by that name where its
        process is stopped in the middle of a transaction. The server's own timeouts do not: in a
        pipeline it waits for the next statement as if one were running."""
        self.control(f"SET application_name = '{_WRITER}{writer}'")

    def end_writer(self, writer: str) -> bool:
        """End the connection that writes for a process that no longer counts as alive. Returns
        False where there is none."""
        return any(ended for (ended,) in self.rows(_END, (_WRITER + writer,)))

    @property
    def in_transaction(self) -> bool:
        return self.native.info.transaction_status != pq.TransactionStatus.IDLE

    def close(self) -> None:
        self.native.close()

    def rows(self, text: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        """Yield the rows of a statement of PostgreSQL's own dialect."""
        yield from psycopg.RawCursor(self.native).execute(text, values, binary=True)  # pyright: ignore[reportArgumentType]
