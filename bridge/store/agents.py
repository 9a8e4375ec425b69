"""Agents in rooms as rows: hand-overs, spending, pairings and tools."""

from __future__ import annotations

import hmac
import json
from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from bridge.model import ActorId, RoomId
from bridge.model.turn_records import (
    BUCKET,
    PAIRING_TRIES,
    PAIRING_WINDOW,
    HandOver,
    Pairing,
    PairingCode,
    PairingUse,
    Spending,
)
from bridge.store.connection import Connection
from bridge.store.conversations import ToolDescription
from bridge.store.queries import read_queries

SQL = read_queries("agents")

_SPENDING_AGE = 35 * 86_400  # seconds for which spending is remembered


def hold(db: Connection, handover: HandOver) -> None:
    columns = (handover.room, handover.spot, handover.agent or "", handover.by, handover.at)
    db.execute(SQL["hold"], (*columns, json.dumps(handover.earlier)))


def release(db: Connection, room: RoomId, spot: str) -> bool:
    return db.execute(SQL["release"], (room, spot)).rowcount > 0


def holdings(db: Connection) -> Sequence[HandOver]:
    return [
        HandOver(
            room,
            spot,
            agent or None,
            by,
            at,
            tuple((former, decider) for former, decider in json.loads(earlier)),
        )
        for room, spot, agent, by, at, earlier in db.execute(SQL["holdings"]).fetchall()
    ]


def called_by_others(db: Connection, room: RoomId, since: float) -> int:
    return db.execute(SQL["called_by_others"], (room, since)).fetchone()[0]


def spend(db: Connection, quotas: Collection[str], new: Spending) -> None:
    at = bucket_of(new.at)
    for quota in quotas:
        db.execute(SQL["forget_old_spending"], (quota, at - _SPENDING_AGE))
        db.execute(SQL["spend"], (quota, at, new.messages, new.tokens, new.micros))


def spent(db: Connection, quota: str, since: float) -> Sequence[Spending]:
    rows = db.execute(SQL["spent"], (quota, bucket_of(since))).fetchall()
    return [Spending(*columns) for columns in rows]


def spending(db: Connection, since: float) -> Sequence[tuple[str, Spending]]:
    rows = db.execute(SQL["spending"], (bucket_of(since),)).fetchall()
    return [(quota, Spending(*columns)) for quota, *columns in rows]


def forget_spending(db: Connection, quota: str) -> None:
    db.execute(SQL["forget_spending"], (quota,))


def bucket_of(at: float) -> int:
    """Return the start of the BUCKET that a time belongs to."""
    return int(at // BUCKET) * BUCKET


def put_pairing_code(db: Connection, code: PairingCode, now: float) -> None:
    db.execute(SQL["forget_codes"], (now,))
    db.execute(SQL["put_code"], (code.digest, code.agent, code.by, code.expires))


def pairing_codes(db: Connection, now: float) -> Sequence[PairingCode]:
    return [PairingCode(*columns) for columns in db.execute(SQL["codes"], (now,)).fetchall()]


def use_pairing_code(db: Connection, digest: str, actor: ActorId, now: float) -> PairingUse:
    failures, since = db.execute(SQL["attempts"], (actor,)).fetchone() or (0, now)
    if now - since >= PAIRING_WINDOW:
        failures, since = 0, now
    if failures >= PAIRING_TRIES:
        return "too_many"
    code = same_code(pairing_codes(db, now), digest)
    if code is None:
        db.execute(SQL["note_attempt"], (actor, failures + 1, since))
        return "wrong"
    db.execute(SQL["use_code"], (code.digest,))
    db.execute(SQL["forget_attempts"], (actor,))
    db.execute(SQL["pair"], (actor, code.agent, code.by, now))
    return "paired"


def same_code(codes: Sequence[PairingCode], digest: str) -> PairingCode | None:
    """Return the code with this digest. The comparison takes constant time, so it reveals
    nothing."""
    matches = [code for code in codes if hmac.compare_digest(code.digest, digest)]
    return matches[0] if matches else None


def pairings(db: Connection) -> Sequence[Pairing]:
    return [Pairing(*columns) for columns in db.execute(SQL["pairings"]).fetchall()]


def unpair(db: Connection, actor: ActorId, agent: str | None) -> bool:
    return db.execute(SQL["unpair"], (actor, agent)).rowcount > 0


def put_tools(
    db: Connection, conversation: UUID, agent: str, tools: Sequence[ToolDescription]
) -> None:
    if tools:
        db.execute(SQL["put_tools"], (str(conversation), agent, json.dumps([*tools])))
    else:
        db.execute(SQL["drop_tools"], (str(conversation), agent))


def keep_tools(db: Connection, agents: Mapping[UUID, Collection[str]]) -> None:
    for conversation, agent in db.execute(SQL["described"]).fetchall():
        if agent not in agents.get(UUID(conversation), (agent,)):
            db.execute(SQL["drop_tools"], (conversation, agent))


def tools(db: Connection, conversation: UUID) -> Mapping[str, Sequence[ToolDescription]]:
    """Return the tools that a Conversation describes, by agent."""
    rows = db.execute(SQL["tools"], (str(conversation),)).fetchall()
    return {agent: json.loads(described) for agent, described in rows}
