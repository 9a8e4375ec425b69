"""Erases messages and removes native payloads whose time is over, in short steps."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from uuid import uuid4

from bridge.model.erasure_records import LegalHold, Pruned, Retention
from bridge.store import erasing, payload_blocks
from bridge.store.erasing import SQL
from bridge.store.moments import moment_at

_STEP = 200  # messages that are erased in one transaction
_LOOK = 2000  # rows that one step looks at
_FIRST = -(1 << 62)


def prune_messages(
    db: sqlite3.Connection, policy: Retention, after: int | None, now: float
) -> Pruned:
    shortest = _shortest([*policy.messages.values(), policy.messages_else])
    if shortest is None:
        return Pruned()
    bounds = (_FIRST if after is None else after, moment_at(now - shortest), _LOOK)
    over: list[int] = []
    last: int | None = None
    rows = db.execute(SQL["older_messages"], bounds).fetchall()
    for number, moment, time, channel, rooms in rows:
        kept = _kept(policy, channel, rooms.split(",") if rooms else ())
        if kept is not None and time < now - kept:
            over.append(number)
        last = moment
        if len(over) == _STEP:
            break
    erased = erasing.erase_old(db, over, f"retention-{uuid4().hex[:12]}", now) if over else 0
    looked_at_all = len(rows) < _LOOK and len(over) < _STEP
    return Pruned(messages=erased, last=None if looked_at_all else last)


def _kept(policy: Retention, channel: str | None, rooms: Sequence[str]) -> float | None:
    """How long a message is kept: the longest time of its channel and its rooms."""
    keys = (*rooms, *([channel] if channel else []))
    times = [policy.messages[key] for key in keys if key in policy.messages]
    if not times:
        return policy.messages_else
    return None if None in times else max(time for time in times if time is not None)


def prune_payloads(
    db: sqlite3.Connection, policy: Retention, after: int | None, imported: bool, now: float
) -> Pruned:
    query = "imported_payloads" if imported else "done_payloads"
    rows = db.execute(SQL[query], (after or 0, _LOOK)).fetchall()
    holds = erasing.holds(db)
    over = [
        row
        for row, channel, at in rows
        if _is_over(policy, channel, at, now, outside=not imported)
        and not _may_be_held(holds, channel, at)
    ]
    if imported:
        removed = payload_blocks.remove(db, over)
    else:
        db.executemany(SQL["erase_payload"], [(row,) for row in over])
        removed = len(over)
    return Pruned(payloads=removed, last=rows[-1][0] if len(rows) == _LOOK else None)


def _is_over(
    policy: Retention, channel: str | None, at: float, now: float, *, outside: bool
) -> bool:
    if outside and channel not in policy.channels:
        kept = policy.payloads_outside
    else:
        kept = policy.payloads.get(channel or "", policy.payloads_else)
    return kept is not None and at <= now - kept


def _may_be_held(holds: Sequence[LegalHold], channel: str | None, at: float) -> bool:
    """Whether a hold may protect the message of a payload, of which the store knows no more here
    than its channel and time."""
    return any(
        (hold.channel is None or hold.channel.key == channel)
        and (hold.since is None or at >= hold.since)
        and (hold.until is None or at < hold.until)
        for hold in holds
    )


def _shortest(times: Sequence[float | None]) -> float | None:
    finite = [time for time in times if time is not None]
    return min(finite) if finite else None
