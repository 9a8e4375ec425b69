"""What units of work need of a database connection, whichever engine it belongs to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

Values = Sequence[Any] | Mapping[str, Any]


class Rows(Protocol):
    """The result of a statement."""

    @property
    def rowcount(self) -> int:
        """How many rows the statement inserted, changed or deleted."""
        ...

    def fetchone(self) -> Any: ...

    def fetchall(self) -> list[Any]: ...

    def __iter__(self) -> Iterator[Any]: ...


class Connection(Protocol):
    """A connection within a transaction. Statements are in SQLite's dialect, which other engines
    translate."""

    def execute(self, sql: str, values: Any = ..., /) -> Rows: ...

    def executemany(self, sql: str, rows: Iterable[Any], /) -> object: ...
