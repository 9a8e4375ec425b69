"""Looks into all tables of a store by their names, so that no new one is forgotten.

An engine registers its own way; SQLite's is the one below.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import singledispatch

from bridge.store.connection import Connection

_PACKED = (("operations", "body"),)  # columns with text that is compressed


@singledispatch
def columns_by_table(db: Connection) -> Mapping[str, Sequence[str]]:
    """Return the names of the columns of each table that holds rows, without the search index."""
    names = db.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'words%'"
        " AND name NOT LIKE 'sqlite_%'"
    ).fetchall()
    columns = "SELECT name FROM pragma_table_info(?)"
    return {
        name: [column for (column,) in db.execute(columns, (name,)).fetchall()] for (name,) in names
    }


@singledispatch
def values_with(
    db: Connection, table: str, column: str, part: bytes, condition: str
) -> Iterator[bytes]:
    """Yield the values of a column, unpacked, that contain some bytes, of rows that fulfil a
    condition in SQL."""
    value = f'unpacked(CAST("{column}" AS BLOB))'
    query = f'SELECT {value} FROM "{table}" WHERE instr({value}, ?) AND {condition}'  # noqa: S608 - names from the schema
    for (text,) in db.execute(query, (part,)):
        yield text


@singledispatch
def replace_text(db: Connection, table: str, column: str, old: str, new: str) -> int:
    """Replace a text wherever it is part of a value of a column; where two rows become one, the
    older goes. Returns how many rows changed."""
    is_packed = (table, column) in _PACKED
    as_text = f'CAST(unpacked("{column}") AS TEXT)' if is_packed else f'CAST("{column}" AS TEXT)'
    as_blob = f"CAST(replace({as_text}, :old, :new) AS BLOB)"
    update = f"""
        UPDATE OR REPLACE "{table}" SET "{column}" = CASE typeof("{column}")
          WHEN 'blob' THEN {f"packed({as_blob})" if is_packed else as_blob}
          ELSE replace({as_text}, :old, :new) END
        WHERE typeof("{column}") IN ('text', 'blob') AND instr({as_text}, :old)
    """  # noqa: S608 - names from the schema
    return db.execute(update, {"old": old, "new": new}).rowcount
