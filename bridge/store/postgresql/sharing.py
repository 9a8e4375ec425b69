"""What the processes that share a store know of one another, as rows."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from bridge.model import Raw
from bridge.model.assignments import (
    Assigned,
    Assignment,
    ClusterState,
    Process,
    ProcessId,
    SentSignal,
)
from bridge.model.inbox_records import InboxRow
from bridge.store import catch_up, inbox
from bridge.store.connection import Connection
from bridge.store.postgresql.connection import PostgresConnection
from bridge.store.postgresql.membership import NOW, STARTING
from bridge.store.seal import Seal

_KEPT = 120.0  # seconds for which signals are kept

_DEAD = f"DELETE FROM processes WHERE until < {NOW} RETURNING id"  # noqa: S608 - our own words
_FREE = f"""
UPDATE assignments SET process = NULL, since = {NOW}
WHERE process IS NOT NULL AND process NOT IN (SELECT id FROM processes) RETURNING 1
"""  # noqa: S608 - our own words
_FORGET = "DELETE FROM commits WHERE process NOT IN (SELECT id FROM processes) RETURNING 1"
_FORGET_SIGNALS = f"DELETE FROM signals WHERE at < {NOW} - $1 RETURNING 1"  # noqa: S608 - our own words
_SIGNALS = """
SELECT seq, sender, kind, body FROM signals WHERE seq > $1 AND sender <> $2 ORDER BY seq
"""
_STATE = f"""
SELECT CAST(json_build_object(
  'now', {NOW},
  'any_expired', EXISTS (SELECT 1 FROM processes WHERE until < {NOW}),
  'processes', (
    SELECT json_agg(json_build_array(id, name, version, started, stopping) ORDER BY id)
    FROM processes
  ),
  'assignments', (
    SELECT json_agg(json_build_array(name, process, epoch, since, load)) FROM assignments
  ),
  'revisions', (SELECT json_agg(json_build_array(name, number)) FROM revisions),
  'signals', (
    SELECT json_agg(json_build_array(seq, sender, kind, body) ORDER BY seq)
    FROM signals WHERE seq > $1 AND sender <> $2
  )
) AS text)
"""  # noqa: S608 - our own words
_TAKE = f"""
INSERT INTO assignments (name, process, epoch, since)
SELECT one.value, $2, 1, {NOW} FROM unnest(CAST($1 AS text[])) AS one (value)
ON CONFLICT (name) DO UPDATE SET
  process = excluded.process, epoch = assignments.epoch + 1, since = excluded.since
WHERE assignments.process IS NULL
RETURNING name
"""  # noqa: S608 - our own words
_GIVE_UP = f"""
UPDATE assignments SET process = NULL, since = {NOW}
WHERE name = ANY(CAST($1 AS text[])) AND process = $2 RETURNING 1
"""  # noqa: S608 - our own words
_LOAD = "UPDATE assignments SET load = $3 WHERE name = $1 AND process = $2 RETURNING 1"
_OUTCOME = "SELECT state, outcome, error FROM inbox WHERE id = $1"
_STARTED = "UPDATE processes SET stopping = 0 WHERE id = $1 RETURNING 1"
_STOPPING = "UPDATE processes SET stopping = 1 WHERE id = $1 RETURNING 1"
_SEND = f"INSERT INTO signals (at, sender, kind, body) VALUES ({NOW}, $1, $2, $3) RETURNING 1"  # noqa: S608 - our own words


def bury(db: Connection) -> None:
    """Free what dead processes worked for."""
    _rows(db, _DEAD)
    for statement in (_FREE, _FORGET):
        _rows(db, statement)


def state(db: Connection, after: int, own: ProcessId) -> ClusterState:
    """Return what there is, with the signals of others behind this number; in one round trip."""
    ((text,),) = _rows(db, _STATE, (after, own))
    found = json.loads(text)
    return ClusterState(
        processes=[_process(*columns) for columns in found["processes"] or ()],
        assigned={
            Assignment(name): Assigned(*columns) for name, *columns in found["assignments"] or ()
        },
        revisions=dict(found["revisions"] or ()),
        signals=[SentSignal(*columns) for columns in found["signals"] or ()],
        now=found["now"],
        any_expired=found["any_expired"],
    )


def signals(db: Connection, after: int, own: ProcessId) -> Sequence[SentSignal]:
    """Return the signals of others behind this number."""
    return [SentSignal(*columns) for columns in _rows(db, _SIGNALS, (after, own))]


def everything(db: Connection) -> ClusterState:
    """Return the processes and the assignments, without signals."""
    return state(db, newest_signal(db), ProcessId(""))


def newest_signal(db: Connection) -> int:
    """Return the number of the last signal."""
    ((number,),) = _rows(db, "SELECT coalesce(max(seq), 0) FROM signals")
    return number


def take(
    db: Connection, own: ProcessId, assignments: Collection[Assignment]
) -> Collection[Assignment]:
    """Return those that were free, which are this process' now."""
    return [Assignment(name) for (name,) in _rows(db, _TAKE, (list(assignments), own))]


def give_up(db: Connection, own: ProcessId, assignments: Collection[Assignment]) -> None:
    _rows(db, _GIVE_UP, (list(assignments), own))


def hand_on(db: Connection, raw: Raw, seal: Seal, now: float) -> InboxRow | None:
    """Keep a payload for the process that works for its account, which may be this one; None for a
    repeat."""
    row = inbox.keep(db, raw, False, seal, now)
    if row is not None:
        facts = {"row": str(row.id), "account": raw.account}
        _rows(db, _SEND, ("", "row", json.dumps(facts)))
    return row


def waiting_row(db: Connection, row: int) -> InboxRow | None:
    """Return a row that waits; None for any other."""
    found = _rows(db, _OUTCOME, (row,))
    return catch_up.inbox_row(db, row) if found and found[0][0] == "waiting" else None


def outcome_of(db: Connection, row: int) -> str | None:
    """Return the outcome of a row; None while it waits."""
    found = _rows(db, _OUTCOME, (row,))
    if not found or found[0][0] == "waiting":
        return None
    state, outcome, error = found[0]
    return outcome if state == "done" else f"failed: {error}"


def note_loads(db: Connection, own: ProcessId, loads: Mapping[Assignment, float]) -> None:
    for name, load in loads.items():
        _rows(db, _LOAD, (name, own, load))
    _rows(db, _FORGET_SIGNALS, (_KEPT,))


def note_started(db: Connection, own: ProcessId) -> None:
    _rows(db, _STARTED, (own,))


def note_stopping(db: Connection, own: ProcessId) -> None:
    _rows(db, _STOPPING, (own,))


def send(db: Connection, own: ProcessId, kind: str, body: str) -> None:
    _rows(db, _SEND, (own, kind, body))


def _process(own_id: str, name: str, version: str, started: float, stopping: int) -> Process:
    return Process(
        ProcessId(own_id), name, version, float(started), stopping=stopping == 1,
        starting=stopping == STARTING,
    )  # fmt: skip


def _rows(db: Connection, text: str, values: Sequence[Any] = ()) -> list[Any]:
    """The rows of a statement of this engine's own dialect: its stores have no other connection."""
    if not isinstance(db, PostgresConnection):
        raise TypeError(f"{type(db).__name__} is no connection to PostgreSQL")
    return list(db.rows(text, values))
