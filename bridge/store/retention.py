"""Erases messages, removes native payloads and finds files whose time is over, in short steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import uuid4

from bridge.model.erasure_records import LegalHold, Pruned, Retention
from bridge.store import erasing, payload_blocks
from bridge.store.connection import Connection
from bridge.store.erasing import SQL
from bridge.store.file_use import MARK, files_named, ids_in
from bridge.store.moments import moment_at

_STEP = 200  # messages that are erased in one transaction
_LOOK = 2000  # rows that one step looks at
_FIRST = -(1 << 62)


def prune_messages(
    db: Connection, policy: Retention, after: int | None, dry_run: bool, now: float
) -> Pruned:
    shortest = _shortest([*policy.messages.values(), policy.messages_else])
    if shortest is None:
        return Pruned()
    bounds = (_FIRST if after is None else after, moment_at(now - shortest), _LOOK)
    over: list[int] = []
    last: int | None = None
    rows = db.execute(SQL["older_messages"], bounds).fetchall()
    for number, moment, time, channel, rooms in rows:
        kept = _kept(policy.messages, policy.messages_else, channel, rooms)
        if kept is not None and time < now - kept:
            over.append(number)
        last = moment
        if len(over) == _STEP:
            break
    own_id = f"retention-{uuid4().hex[:12]}"
    erased = erasing.erase_old(db, over, own_id, now, dry_run=dry_run) if over else 0
    looked_at_all = len(rows) < _LOOK and len(over) < _STEP
    return Pruned(messages=erased, last=None if looked_at_all else last)


def _kept(
    by_key: Mapping[str, float | None], usual: float | None, channel: str | None, rooms: str | None
) -> float | None:
    """How long a thing is kept: the longest time of its channel and its rooms ("id,id")."""
    keys = (*(rooms.split(",") if rooms else ()), *([channel] if channel else ()))
    times = [by_key[key] for key in keys if key in by_key]
    if not times:
        return usual
    return None if None in times else max(time for time in times if time is not None)


def prune_payloads(
    db: Connection,
    policy: Retention,
    after: int | None,
    imported: bool,
    dry_run: bool,
    now: float,
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
    if dry_run:
        removed = len(over)
    elif imported:
        removed = payload_blocks.remove(db, over)
    else:
        db.executemany(SQL["erase_payload"], [(row,) for row in over])
        removed = len(over)
    return Pruned(payloads=removed, last=rows[-1][0] if len(rows) == _LOOK else None)


def files_over(db: Connection, policy: Retention, now: float) -> frozenset[str]:
    """Return the ids of the stored files whose time is over in every message that names them, and
    that nothing else uses."""
    shortest = _shortest([*policy.files.values(), policy.files_else])
    if shortest is None:
        return frozenset()
    over: set[str] = set()
    holds = erasing.holds(db)
    used = set(files_named(db, without=("message_rows", "version_rows")))
    for channel, time, rooms, body in db.execute(SQL["naming_files"], (MARK,)):
        kept = _kept(policy.files, policy.files_else, channel, rooms)
        is_over = kept is not None and time < now - kept
        names = over if is_over and not _may_be_held(holds, channel, time) else used
        names.update(ids_in(bytes(body)))
    return frozenset(over - used)


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
