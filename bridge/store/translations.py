"""Texts of messages in other languages, as rows."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from bridge.model import MessageId
from bridge.store.connection import Connection
from bridge.store.queries import read_queries

SQL = read_queries("translations")


def find(db: Connection, message: MessageId, language: str, digest: str) -> Sequence[str] | None:
    row = db.execute(SQL["find"], (message, language, digest)).fetchone()
    return None if row is None else tuple(orjson.loads(row[0]))


def put(
    db: Connection, message: MessageId, language: str, digest: str, texts: Sequence[str]
) -> None:
    db.execute(SQL["put"], (message, language, digest, orjson.dumps(list(texts)).decode()))
