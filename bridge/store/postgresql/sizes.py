"""Where the bytes of a PostgreSQL store are."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing

from bridge.store.postgresql.address import Address, connect
from bridge.store.postgresql.faults import translated
from bridge.store.sizes import subject_of

_DATABASE = "SELECT pg_database_size(current_database())"
_TABLES = """
SELECT relname, pg_total_relation_size(oid) FROM pg_class
WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
"""


def database_size(address: Address) -> int:
    """Return the bytes of the database. Raises StoreError."""
    with translated(str(address)), closing(connect(address)) as db:
        ((size,),) = db.rows(_DATABASE)
    return size


def sizes_by_subject(address: Address) -> Mapping[str, int]:
    """Return the bytes of each subject of the store, the largest first. Raises StoreError."""
    sizes: dict[str, int] = {}
    with translated(str(address)), closing(connect(address)) as db:
        for table, size in db.rows(_TABLES):
            subject = subject_of(table, table)
            sizes[subject] = sizes.get(subject, 0) + size
    return dict(sorted(sizes.items(), key=lambda item: -item[1]))
