"""Ids of messages -> short keys by which the store finds them, and ids as they are stored. Pure."""

from __future__ import annotations

import sqlite3
from hashlib import blake2b

_SIZE = 12  # bytes: no two of 10^12 messages have the same key


def key_of(own_id: str) -> bytes:
    """Return the key of a message id."""
    return blake2b(own_id.encode(errors="surrogatepass"), digest_size=_SIZE).digest()


def stored_id(own_id: str, channel: str | None, native_id: str | None) -> str | None:
    """Return the id as it is stored: None where channel and native id tell it."""
    return None if own_id == f"{channel}:{native_id}" else own_id


def add_functions(db: sqlite3.Connection) -> None:
    """Give the SQL of a connection `message_key(id)`."""
    db.create_function("message_key", 1, _key, deterministic=True)


def _key(own_id: str | None) -> bytes | None:
    return None if own_id is None else key_of(str(own_id))
