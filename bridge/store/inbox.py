"""Received payloads as rows; each function is one unit of a transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import structlog
from pydantic import TypeAdapter

from bridge.errors import StoreError
from bridge.model import AccountId, ChannelRef, Raw, channel_of_key
from bridge.model.inbox_records import InboxRow
from bridge.store.connection import Connection
from bridge.store.packing import pack, unpack
from bridge.store.queries import read_queries
from bridge.store.seal import Seal

log = structlog.get_logger()
SQL = read_queries("inbox")
_CREDENTIALS: TypeAdapter[dict[str, str]] = TypeAdapter(dict[str, str])


def keep(
    db: Connection, raw: Raw, advance: bool, seal: Seal, now: float, outcome: str | None = None
) -> InboxRow | None:
    """Insert a payload and return its row; None for a repeat, whose cursor still moves. The row
    waits to be worked on, unless an outcome is given: then it is done."""
    channel = None if raw.channel is None else raw.channel.key
    if advance and channel is not None:
        move_cursor(db, raw.account, channel, raw.order_key)
    columns = (raw.account, raw.dedupe_key, raw.kind, raw.order_key, channel, now)
    if outcome is None:
        inserted = db.execute(SQL["keep_row"], columns)
    else:
        inserted = db.execute(SQL["keep_done_row"], (*columns, outcome, now))
    row: int | None = next((own_id for (own_id,) in inserted.fetchall()), None)
    if row is None:
        return None
    db.execute(SQL["keep_payload"], (row, pack(raw.payload)))
    if raw.credentials:
        _keep_credentials(db, row, raw, seal, now)
    return InboxRow(row, without_credentials(raw))


def without_credentials(raw: Raw) -> Raw:
    """Return the payload as the store returns it: without the values that were sealed apart."""
    plain = Raw.model_fields["credentials_ttl"].default
    if not raw.credentials and raw.credentials_ttl == plain:
        return raw
    return raw.model_copy(update={"credentials": {}, "credentials_ttl": plain})


def _keep_credentials(db: Connection, row: int, raw: Raw, seal: Seal, now: float) -> None:
    if not seal.has_key:
        log.warning(
            "credentials_write_failed", account=raw.account, row=row, why="the store has no key"
        )
        return
    text = _CREDENTIALS.dump_json(raw.credentials).decode()
    sealed = seal.close(text, credentials_name(row))
    db.execute(SQL["keep_credentials"], (row, sealed, now + raw.credentials_ttl))


def credentials(db: Connection, row: int, seal: Seal, now: float) -> Mapping[str, str]:
    columns = db.execute(SQL["credentials_of_row"], (row, now)).fetchone()
    if columns is None:
        return {}
    return _CREDENTIALS.validate_json(seal.open(columns[0], credentials_name(row)))


def credentials_name(row: int) -> str:
    return f"The credentials of inbox row {row}"


def forget_expired(db: Connection, now: float) -> int:
    return db.execute(SQL["forget_credentials"], (now,)).rowcount


def move_cursor(db: Connection, account: AccountId, channel: str, value: str) -> None:
    db.execute(SQL["move_cursor"], (account, channel, value))


def cursor(db: Connection, account: AccountId, channel: ChannelRef) -> str | None:
    row = db.execute(SQL["cursor"], (account, channel.key)).fetchone()
    return None if row is None else row[0]


def waiting_rows(db: Connection) -> Sequence[InboxRow]:
    return [row_of(columns) for columns in db.execute(SQL["waiting_rows"]).fetchall()]


def waiting_by_account(db: Connection) -> Mapping[AccountId, int]:
    return dict(db.execute(SQL["waiting_by_account"]).fetchall())


def failed_rows(db: Connection, limit: int) -> Sequence[tuple[InboxRow, str]]:
    rows = db.execute(SQL["failed_rows"], (limit,)).fetchall()
    return [(row_of(columns[:-1]), columns[-1]) for columns in rows]


def row_of(columns: Sequence[Any]) -> InboxRow:
    row, account, kind, dedupe_key, order_key, channel, payload = columns
    return InboxRow(
        row,
        Raw(
            account=account,
            kind=kind,
            dedupe_key=dedupe_key,
            order_key=order_key,
            channel=None if channel is None else channel_of_key(channel),
            payload=unpack(payload),
        ),
    )


def raw_of_row(db: Connection, row: int | None) -> tuple[Raw, float, str] | None:
    """Return a stored payload, the time when it was received, and its outcome."""
    values = db.execute(SQL["row"], (row,)).fetchone()
    if values is None:
        return None
    *columns, received_at, outcome = values
    return row_of(columns).raw, received_at, outcome


def retry_failed_rows(db: Connection) -> int:
    return db.execute(SQL["retry_failed_rows"]).rowcount


def fail_row(db: Connection, row: int, error: str, now: float) -> None:
    if db.execute(SQL["fail_row"], (error, now, row)).rowcount == 0:
        raise StoreError(f"There is no inbox row {row!r}")


def finish_row(db: Connection, row: int, outcome: str, now: float) -> None:
    if db.execute(SQL["finish_row"], (outcome, now, row)).rowcount == 0:
        raise StoreError(f"There is no inbox row {row!r}")
