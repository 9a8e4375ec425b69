"""Numbers that stand for values of which rows repeat many: channels and authors."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from bridge.store.connection import Connection


def asked(db: Connection, queries: Mapping[str, str], value: str | bytes) -> Callable[[], int]:
    """Ask for the number of a value, with the statements `find` and `add`. What is returned reads
    the answer, or gives the value a number; statements in between need not wait for the server."""
    found = db.execute(queries["find"], (value,))

    def number() -> int:
        row = found.fetchone()
        if row is None:
            (row,) = db.execute(queries["add"], (value,)).fetchall()
        return row[0]

    return number
