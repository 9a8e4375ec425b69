"""Looks into all tables of a PostgreSQL store by their names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from bridge.store import tables
from bridge.store.packing import pack, unpack
from bridge.store.postgresql.connection import PostgresConnection
from bridge.store.postgresql.schema import OWN_TABLES

_PACKED = (("operations", "body"),)  # columns with text that is compressed, by the primary key
_KEYS = {"operations": "seq"}
_COLUMNS = """
SELECT c.relname, a.attname
FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
  AND a.attnum > 0 AND NOT a.attisdropped AND c.relname <> 'words'
ORDER BY c.relname, a.attnum
"""
_TYPE = """
SELECT format_type(atttypid, NULL) FROM pg_attribute
WHERE attrelid = CAST($1 AS regclass) AND attname = $2
"""
_PAGE = 1000  # rows that are read at once


@tables.columns_by_table.register
def columns_by_table(db: PostgresConnection) -> Mapping[str, Sequence[str]]:
    """Return the names of the columns of each table, without the search index."""
    found: dict[str, list[str]] = {}
    for table, column in db.rows(_COLUMNS):
        if table not in OWN_TABLES:
            found.setdefault(table, []).append(column)
    return found


@tables.values_with.register
def values_with(
    db: PostgresConnection, table: str, column: str, part: bytes, condition: str
) -> Iterator[bytes]:
    """Yield the values of a column, unpacked, that contain some bytes."""
    if (table, column) in _PACKED:
        yield from (value for _, value in _packed(db, table, column, condition) if part in value)
        return
    kind = _type_of(db, table, column)
    if kind not in ("text", "bytea"):
        return
    value = f'"{column}"' if kind == "bytea" else f"convert_to(\"{column}\", 'UTF8')"
    query = f'SELECT {value} FROM "{table}" WHERE has_part({value}, $1) AND {condition}'  # noqa: S608 - names from the schema
    for (text,) in db.rows(query, (part,)):
        yield text


@tables.replace_text.register
def replace_text(db: PostgresConnection, table: str, column: str, old: str, new: str) -> int:
    """Replace a text wherever it is part of a value; where two rows become one, the older goes."""
    if (table, column) in _PACKED:
        return _replace_packed(db, table, column, old.encode(), new.encode())
    kind = _type_of(db, table, column)
    if kind not in ("text", "bytea"):
        return 0
    changed, affected = f'replace("{column}", $1, $2)', f'has_part("{column}", $1)'
    if kind == "bytea":  # only what has the text is surely a text
        changed = f"convert_to(replace(convert_from(\"{column}\", 'UTF8'), $1, $2), 'UTF8')"
        affected = f"has_part(\"{column}\", convert_to($1, 'UTF8'))"
    if kind == "text":
        _drop_what_stands_in_the_way(db, table, column, old, new)
    query = f'UPDATE "{table}" SET "{column}" = {changed} WHERE {affected} RETURNING 1'  # noqa: S608 - names from the schema
    return sum(1 for _ in db.rows(query, (old, new)))


def _drop_what_stands_in_the_way(
    db: PostgresConnection, table: str, column: str, old: str, new: str
) -> None:
    """Delete the rows that are, but for the text, the key of a row in which it is replaced."""
    for keys in _unique_keys(db, table):
        if column not in keys:
            continue
        same = " AND ".join(
            f'other."{key}" = replace(own."{key}", $1, $2)'
            if key == column
            else f'other."{key}" = own."{key}"'
            for key in keys
        )
        query = (
            f'DELETE FROM "{table}" AS other USING "{table}" AS own '  # noqa: S608 - names from the schema
            f'WHERE has_part(own."{column}", $1) AND {same} AND other.ctid <> own.ctid RETURNING 1'
        )
        list(db.rows(query, (old, new)))


def _unique_keys(db: PostgresConnection, table: str) -> list[list[str]]:
    """The columns of each unique index that has no expression."""
    query = """
        SELECT array_to_string(array_agg(a.attname ORDER BY k.place), ' ')
        FROM pg_index AS i
        CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS k(column_number, place)
        JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.column_number
        WHERE i.indrelid = CAST($1 AS regclass) AND i.indisunique AND i.indexprs IS NULL
        GROUP BY i.indexrelid
    """
    return [names.split() for (names,) in db.rows(query, (table,))]


def _type_of(db: PostgresConnection, table: str, column: str) -> str:
    ((kind,),) = db.rows(_TYPE, (table, column))
    return kind


def _packed(
    db: PostgresConnection, table: str, column: str, condition: str = "true"
) -> Iterator[tuple[int, bytes]]:
    """The keys and the unpacked values of a column, read page by page."""
    key = _KEYS[table]
    last = -1
    query = f"""
        SELECT "{key}", "{column}" FROM "{table}" WHERE "{key}" > $1 AND {condition}
        ORDER BY "{key}" LIMIT {_PAGE}
    """  # noqa: S608 - names from the schema
    while page := list(db.rows(query, (last,))):
        yield from ((number, unpack(value)) for number, value in page)
        last = page[-1][0]


def _replace_packed(db: PostgresConnection, table: str, column: str, old: bytes, new: bytes) -> int:
    query = f'UPDATE "{table}" SET "{column}" = $1 WHERE "{_KEYS[table]}" = $2 RETURNING 1'  # noqa: S608 - names from the schema
    changed = [(n, value) for n, value in _packed(db, table, column) if old in value]
    for number, value in changed:
        list(db.rows(query, (pack(value.replace(old, new)), number)))
    return len(changed)
