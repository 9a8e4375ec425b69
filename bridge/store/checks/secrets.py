"""Opens each sealed value of a store with its key; nothing of what is in them is shown."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from bridge.errors import StoreError
from bridge.model.check_records import CheckedPart
from bridge.store.inbox import credentials_name
from bridge.store.key_values import credential_name, value_name
from bridge.store.queries import read_queries
from bridge.store.seal import KEY_CHECK, Seal

SQL = read_queries("checks")
_KEY = "start with the key that sealed it (the `.key` file, or UACS_BRIDGE_KEY); or set it anew"


def check_sealed(db: sqlite3.Connection, part: CheckedPart, seal: Seal) -> None:
    """Each sealed value opens with the key."""
    sealed = list(_sealed(db))
    if not seal.has_key:
        if sealed:
            part.note = f"{len(sealed)} sealed values were not opened: there is no key here"
        return
    for name, value in sealed:
        part.examined += 1
        try:
            seal.open(value, name)
        except StoreError as error:
            part.add(name, str(error).removeprefix(name).lstrip(), _KEY)


def _sealed(db: sqlite3.Connection) -> Iterator[tuple[str, bytes]]:
    for (value,) in db.execute(SQL["key_check"]):
        yield KEY_CHECK, value
    for name, value in db.execute(SQL["credentials"]):
        yield credential_name(name), value
    for account, key, value in db.execute(SQL["sealed_values"]):
        yield value_name(account, key), value
    for row, value in db.execute(SQL["payload_credentials"]):
        yield credentials_name(row), value
