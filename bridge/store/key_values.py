"""Values of connectors, plain or sealed, and credentials, always sealed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bridge.model import AccountId
from bridge.store.connection import Connection
from bridge.store.queries import read_queries
from bridge.store.seal import Seal

SQL = read_queries("key_values")


def get(db: Connection, account: AccountId, key: str, seal: Seal) -> str | None:
    row = db.execute(SQL["get"], (account, key)).fetchone()
    if row is None:
        return None
    value, sealed = row
    return value if sealed is None else seal.open(sealed, value_name(account, key))


def put(db: Connection, account: AccountId, key: str, value: str, sealed: bool, seal: Seal) -> None:
    secret = seal.close(value, value_name(account, key)) if sealed else None
    db.execute(SQL["put"], (account, key, None if sealed else value, secret))


def put_first(db: Connection, account: AccountId, key: str, value: str) -> str:
    db.execute(SQL["put_first"], (account, key, value))
    return db.execute(SQL["get"], (account, key)).fetchone()[0]


def keys(db: Connection, account: AccountId, prefix: str) -> list[str]:
    rows = db.execute(SQL["keys"], (account, prefix)).fetchall()
    return [key for (key,) in rows]


def values(db: Connection, account: AccountId, prefix: str) -> Mapping[str, str]:
    return dict(db.execute(SQL["values"], (account, prefix)).fetchall())


def put_all(db: Connection, account: AccountId, values: Mapping[str, str]) -> None:
    db.executemany(SQL["put"], [(account, key, value, None) for key, value in values.items()])


def remove(db: Connection, account: AccountId, key: str) -> None:
    db.execute(SQL["remove"], (account, key))


def credential(db: Connection, name: str, seal: Seal) -> str | None:
    row = db.execute(SQL["credential"], (name,)).fetchone()
    return None if row is None else seal.open(row[0], credential_name(name))


def put_credential(db: Connection, name: str, value: str, seal: Seal) -> None:
    db.execute(SQL["put_credential"], (name, seal.close(value, credential_name(name))))


def value_name(account: AccountId, key: str) -> str:
    return f"The value {key!r} of account {account!r}"


def credential_name(name: str) -> str:
    return f"The credential {name!r}"


def credential_names(db: Connection) -> Sequence[str]:
    """Return the names of the sealed credentials."""
    return [name for (name,) in db.execute(SQL["credential_names"]).fetchall()]
